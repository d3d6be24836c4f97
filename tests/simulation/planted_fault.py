#!/usr/bin/env python3
"""Writes a copy of a sink source with one fault planted, for the test of the simulation itself.

usage: planted_fault.py NAME SOURCE_FOLDER OUTPUT
"""
import pathlib
import sys

# name: (file, text that occurs exactly once, what replaces it); of a header, the file that instantiates its templates,
# a colon, and the header, which then stands in place of its #include
FAULTS = {
    "answer_to_the_wrong_request": (
        "append_connection.cc",
        "Entry entry = std::move(sent_.front());\n  sent_.pop_front();",
        "Entry entry = std::move(sent_.back());\n  sent_.pop_back();",
    ),
    "batch_forgotten_at_reconnect": (
        "append_connection.cc",
        "if (!entry.forgotten) {",
        "if (!entry.forgotten && sent_.empty()) {",
    ),
    "reconnect_keeps_the_schema": (
        "append_connection.cc",
        "writing_ = false;\n  lastTarget_ = nullptr;",
        "writing_ = false;",
    ),
    "permits_leak": (
        "append_connection.cc",
        "--inflightRequests_;\n  inflightBytes_",
        "if (!entry.forgotten || entry.resends > 0) --inflightRequests_;\n  inflightBytes_",
    ),
    "survivors_dropped": (
        "refused_rows.cc",
        "batch->copyRowsTo(*survivors, refused);",
        "batch->copyRowsTo(*survivors, refused);\n  if (survivors->rowCount() == 1) return batch = {}, true;",
    ),
    "wrong_row_routed": (
        "refused_rows.cc",
        "const auto index = static_cast<size_t>(error->index);",
        "const auto index = static_cast<size_t>(error->index) / 2;",
    ),
    "flush_does_not_wait": (
        "default_stream_destination.cc",
        "!rows_.empty() || !appender_.empty() || openQuestions_ > 0",
        "!rows_.empty() || openQuestions_ > 0",
    ),
    "growth_past_the_ceiling": (
        "append_pool.cc",
        "if (region.mayHave < static_cast<size_t>(limits_.maxConnections)) {",
        "if (region.mayHave <= static_cast<size_t>(limits_.maxConnections)) {",
    ),
    "dead_connection_stays": (
        "append_pool.cc",
        "tellOfRoom(*connection.region, deferred);\n    drop(found);\n    return;",
        "tellOfRoom(*connection.region, deferred);\n    return;",
    ),
    "unused_connection_stays": (
        "append_pool.cc",
        "--connection->second.appenders;\n    closeIfUnused(connection, deferred);",
        "closeIfUnused(connection, deferred);",
    ),
    "bound_ignored": (
        "buffer_account.cc",
        "waiting_ = sealed_ > 0 && bounds_->buffered() >= full;",
        "waiting_ = sealed_ > 0 && bounds_->buffered() >= 3 * full;",
    ),
    "buffers_not_given_back": (
        "buffer_account.cc",
        "drawn_ = wanted;",
        "drawn_ = wanted + 1;",
    ),
    "answer_forgotten": (
        "default_stream_writer.cc:stream_writer_definitions.h",
        "at(question.destination).onAnswer();",
        "if (question.failures.size() < 2) at(question.destination).onAnswer();",
    ),
    # Of the exactly-once sink:
    "offset_check_skipped": (
        "stream_recovery.cc",
        "return head.transmissions > 1 ? Remedy::kLanded : Remedy::kFail;",
        "return Remedy::kLanded;",
    ),
    "rows_beyond_the_end_taken_for_landed": (
        "stream_recovery.cc",
        "if (verdict == Verdict::kOffsetBeyond) return Remedy::kAgain;",
        "if (verdict == Verdict::kOffsetBeyond) return Remedy::kLanded;",
    ),
    "probed_stream_reused": (
        "stream_recovery.cc",
        "if (mode_ == Mode::kProbe) return Remedy::kAbandon;\n  if (mode_ == Mode::kReplay &&",
        "if (mode_ == Mode::kProbe) return Remedy::kLanded;\n  if (mode_ == Mode::kReplay &&",
    ),
    "refusal_ends_the_probe": (
        "stream_recovery.cc",
        "if (mode_ != Mode::kProbe) mode_ = Mode::kReplay;",
        "mode_ = Mode::kReplay;",
    ),
    "shift_dropped_behind_refused_rows": (
        "stream_recovery.cc",
        "    append.offset = offset;\n    append.outcome.reset();",
        "    append.outcome.reset();",
    ),
    "unlanded_rows_dropped_with_their_stream": (
        "buffered_stream_destination.cc",
        "unlanded_ = std::move(recovery_->queue());",
        "unlanded_.clear();",
    ),
    "abandoned_rows_not_committed": (
        "buffered_stream_destination.cc",
        "if (prepared_ < snapshot_) {",
        "if (prepared_ < 0) {",
    ),
    "unlanded_rows_covered": (
        "buffered_stream_destination.cc",
        "if (recovery_ && !recovery_->queue().empty()) return recovery_->queue().front().offset;",
        "",
    ),
    "committable_one_row_too_far": (
        "buffered_stream_destination.cc",
        "return StreamCommittable{stream_, rows - 1, subtask};",
        "return StreamCommittable{stream_, rows, subtask};",
    ),
    "snapshot_forgets_what_is_due": (
        "buffered_stream_destination.cc",
        "covered_ = prepared_;\n  return BufferedStreamState",
        "covered_ = prepared_ = snapshot_;\n  return BufferedStreamState",
    ),
    "owed_rows_forgotten": (
        "buffered_stream_writer.cc",
        "if (state.preparedOffset < state.nextOffset) owed_.push_back({state});",
        "if (state.preparedOffset < 0) owed_.push_back({state});",
    ),
    "commit_of_the_older_offset": (
        "stream_committer.cc",
        "flush.offset = std::max(flush.offset, committable.flushOffset);",
        "flush.offset = std::min(flush.offset, committable.flushOffset);",
    ),
    "failed_commit_taken_for_done": (
        "stream_committer.cc",
        "if (error.status.ok() || flushedBefore) {",
        "if (error.status.ok() || flushedBefore || isTransient(exactCode(error.status))) {",
    ),
    # Of the host, which is the simulation's own:
    "commit_before_persisting": (
        "../../../../tests/simulation/exactly_once/job.cc",
        "  world_.after(world_.between(milliseconds(0), milliseconds(100)),\n",
        "  std::swap(stored_, content);\n  commit();\n  std::swap(stored_, content);\n"
        "  world_.after(world_.between(milliseconds(0), milliseconds(100)),\n",
    ),
    "aborted_checkpoints_committables_dropped": (
        "../../../../tests/simulation/exactly_once/job.cc",
        "    unconfirmed_.push_back(std::move(committable));",
        "    if (!checkpoint.givenUp) unconfirmed_.push_back(std::move(committable));",
    ),
}


def main():
    name, folder, output = sys.argv[1:]
    file, old, new = FAULTS[name]
    file, _, header = file.partition(":")
    text = (pathlib.Path(folder) / file).read_text(encoding="utf-8")
    if header:
        content = (pathlib.Path(folder) / header).read_text(encoding="utf-8").replace("#pragma once\n", "")
        text = text.replace(f'#include "penstock/bigquery/sink/{header}"\n', content)
    if text.count(old) != 1:
        sys.exit(f"{file}: the text of fault {name} occurs {text.count(old)} times, not once: adapt FAULTS")
    pathlib.Path(output).write_text(text.replace(old, new), encoding="utf-8")


if __name__ == "__main__":
    main()
