#pragma once

#include <string_view>
#include <vector>

/// Named steps of a load at which its process can be made to kill itself, as if the machine had
/// failed at that moment.
namespace penstock::crash {

/// Every step that a load passes, in the order in which a checkpoint does.
inline const std::vector<std::string_view> kSteps = {
    "before CreateWriteStream",
    "after CreateWriteStream",  // its answer has come, nobody knows yet
    "before append",
    "after append",  // handed to the transport
    "before answer",
    "after answer",  // of an append, to the writer
    "before flush",
    "after flush",  // of the writer
    "before prepare",
    "after prepare",  // of the commit
    "before snapshot",
    "after snapshot",  // of the writer's state
    "before sync",
    "after sync",  // of the checkpoint's file or folder
    "before rename",
    "after rename",  // the checkpoint is there, or one is gone
    "before commit",
    "after commit",  // of a whole checkpoint
    "before FlushRows",
    "after FlushRows",  // of one stream
};

/// Passes a step. With PENSTOCK_CRASH="STEP:N" in the environment, the N-th time that STEP is
/// passed ends the process with SIGKILL. Any thread.
void pass(std::string_view step);

}  // namespace penstock::crash
