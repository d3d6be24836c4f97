#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/bigquery/encoding/wire.h"
#include "penstock/bigquery/serializers/protobuf_json_writer.h"
#include "penstock/bigquery/serializers/protobuf_plan.h"
#include "penstock/bigquery/serializers/protobuf_wire_reader.h"
#include "penstock/connector/row_batch.h"

namespace penstock::bigquery {

/// Runs a plan over the bytes of one message and writes the row as it goes. What has the row's form
/// already is checked and copied in runs as long as possible: a message that has it throughout is
/// copied once. Allocates nothing once its buffers have grown, except for a message of failure.
class ProtobufRowWriter {
 public:
  enum class Outcome {
    kWritten,
    /// The fields do not stand in the order of their numbers, or one stands twice: what such a
    /// message means is for protobuf to say. Nothing is written.
    kNotCanonical,
    kFailed,  ///< `failure()` says why; the row holds part of the message
  };

  /// `plan` outlives the writer.
  ProtobufRowWriter(const ProtobufPlan& plan, bool rejectUnknownFields);

  /// Writes the message to the end of `row`. `isCanonical`: it is protobuf's own serialization.
  [[nodiscard]] Outcome write(std::string_view message, bool isCanonical,
                              connector::RowEncoder& row);

  /// INVALID_ARGUMENT: "a.b[2] (INT64): ...; found 18446744073709551615".
  [[nodiscard]] absl::Status failure() const;

 private:
  // A tag is copied as eight bytes, whatever it takes.
  static constexpr size_t kTagRoom = 8;

  /// A message around the one that is written.
  struct OpenMessage {
    const ProtobufField* field;
    const char* tagBegin;
    const char* contentBegin;
    const char* contentEnd;
    size_t lengthAt;  // in the row, once its tag is written
    size_t lengthBytes;
  };
  struct Span {
    uint32_t begin;
    uint32_t end;
  };

  /// Where a message stands in the input: its tag, its content, and what comes behind it. At one
  /// place all: a message that is not there and is written as an empty one.
  struct Content {
    const char* fieldBegin;
    const char* begin;
    const char* end;
    const char* after;
  };

  // The walk. What takes input returns one past it; null or false: failed.
  bool writeLevel(const ProtobufLevel& level, const char* at, const char* end);
  bool writeShuffledLevel(const ProtobufLevel& level, const char* at, const char* end);
  bool putInOrder(const ProtobufLevel& level, size_t rowBegin, Span* spans, const char* at);
  bool fillGap(const ProtobufLevel& level, uint32_t from, uint32_t to, const char* at);
  bool fill(const ProtobufField& field, const char* at);
  const char* dropField(const ProtobufLevel& level, const ProtobufField& field, uint32_t tag,
                        const char* fieldBegin, const char* at, const char* end);
  const char* takeShortcut(const ProtobufField& field, const char* fieldBegin, const char* at,
                           const char* end);
  const char* writeTimestamp(const ProtobufField& field, const char* fieldBegin, const char* at,
                             const char* end);
  const char* writeField(const ProtobufField& field, uint32_t tag, const char* fieldBegin,
                         const char* at, const char* end);
  const char* writePacked(const ProtobufField& field, const char* fieldBegin, const char* at,
                          const char* end);
  const char* takeMessage(const ProtobufField& field, const char* fieldBegin, const char* at,
                          const char* end);
  bool writeNested(const ProtobufField& field, const Content& content);
  void noteKey(const ProtobufField& field, const Content& content);
  bool checkKeys(size_t from);

  // One value. Those that take input return one past it; null or false: failed.
  const char* writeValue(const ProtobufField& field, bool mayPass, const char* fieldBegin,
                         const char* at, const char* end);
  const char* writeInteger(const ProtobufField& field, const char* fieldBegin, uint64_t value,
                           const char* after);
  const char* writeOtherNumber(const ProtobufField& field, const char* fieldBegin, const char* at,
                               const char* end);
  const char* writeText(const ProtobufField& field, const char* fieldBegin, const char* at,
                        const char* end);
  bool putText(const ProtobufField& field, const char* fieldBegin, std::string_view text,
               const char* after);
  const char* writeLooseBytes(const ProtobufField& field, const char* fieldBegin,
                              std::string_view bytes);
  const char* writeEnum(const ProtobufField& field, const char* fieldBegin, const char* at,
                        const char* end);
  bool writeContent(const ProtobufField& field, const Content& content);
  bool writeInstant(const ProtobufField& field, const Content& content);
  bool writeFieldMask(const ProtobufField& field, const Content& content);
  bool writeWrapper(const ProtobufField& field, const Content& content);
  bool writeJson(const ProtobufField& field, const Content& content);

  // What is written. `copyRun` first writes what stands before the field.
  void copyRun(const char* upTo) {
    if (numOpened_ != depth_) [[unlikely]]
      openMessages();
    const auto size = static_cast<size_t>(upTo - runBegin_);
    if (size == 0) return;
    ensure(size);
    copyBytes(to_, runBegin_, size);
    to_ += size;
  }
  void openMessages();
  void putVarint(const ProtobufField& field, const char* fieldBegin, uint64_t value,
                 const char* after) {
    copyRun(fieldBegin);
    ensure(kTagRoom + kMaxVarintBytes);
    putTag(field);
    to_ = writeLongVarint(to_, value);
    runBegin_ = after;
  }
  void putDouble(const ProtobufField& field, const char* fieldBegin, uint64_t bits,
                 const char* after);
  void putBytes(const ProtobufField& field, const char* fieldBegin, std::string_view bytes,
                const char* after);
  void ensure(size_t bytes) {
    if (static_cast<size_t>(limit_ - to_) < bytes) [[unlikely]]
      grow(bytes);
  }
  void grow(size_t bytes);
  [[nodiscard]] size_t offset() const { return static_cast<size_t>(to_ - row_->rowData()); }
  void putTag(const ProtobufField& field) {
    std::memcpy(to_, field.tag.data(), field.tag.size());
    to_ += field.tagSize;
  }
  void setLength(size_t lengthAt, size_t laidOut);

  // Failures. All answer null or false.
  const char* failValue(const ProtobufField& field, std::string reason);
  const char* failTooLarge(const ProtobufField& field, uint64_t value);
  const char* failUtf8(const ProtobufField& field, std::string_view text);
  const char* failTruncated(const ProtobufField& field, const char* fieldBegin);
  const char* failWireType(const ProtobufField& field, uint32_t tag, const char* fieldBegin);
  const char* failWire(const char* at, std::string_view reason);
  const char* failUnknown(const ProtobufLevel& level, uint32_t tag, const char* fieldBegin);
  bool failMissing(const ProtobufField& field);
  bool failInstant(const ProtobufField& field, int64_t seconds, int32_t nanos);
  bool failText(const ProtobufField& field, std::string_view reason, std::string_view text);
  /// Adds the field to the path; which of its values, is counted from the begin of its level.
  bool blame(const ProtobufField& field, const char* levelBegin, const char* fieldBegin);
  bool notCanonical() {
    isNotCanonical_ = true;
    return false;
  }

  const ProtobufPlan& plan_;
  const bool rejectUnknownFields_;
  ProtobufJsonWriter json_;

  const char* message_ = nullptr;
  bool isCanonical_ = false;
  bool isNotCanonical_ = false;
  bool isDropped_ = false;  // the last enum value has no name and counts as an unknown field

  connector::RowEncoder* row_ = nullptr;
  char* to_ = nullptr;
  char* limit_ = nullptr;
  // What has been checked, is to be copied, and is not yet: up to where the walk is.
  const char* runBegin_ = nullptr;
  // Messages around: as long as all in them can be copied, tag and length are part of the run.
  std::vector<OpenMessage> messages_;
  size_t depth_ = 0;      // of `messages_`
  size_t numOpened_ = 0;  // of them: their tag is written

  std::vector<Span> spans_;  // of shuffled levels, by column
  size_t numSpans_ = 0;
  std::string rowCopy_;  // a level whose fields are put in order
  std::string text_;     // a value as text

  std::vector<uint64_t> keys_;  // hashes of the keys of the maps that are being written

  size_t packedIndex_ = 0;
  bool isInPacked_ = false;
  std::string failureReason_;
  std::string failureType_;
  std::vector<std::string> failurePath_;  // innermost first: "a", "b[2]"
};

}  // namespace penstock::bigquery
