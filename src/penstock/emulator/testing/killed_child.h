#pragma once

#include <cstdint>
#include <functional>

namespace penstock::emulator {

/// Reports how far a child has come: everything up to this number is done.
using ReportProgress = std::function<void(uint64_t done)>;

/// Runs `work` in a child process and kills it, wherever it is, once it has reported `goal` or
/// more. Returns the last number that it reported; a test failure if the child ended by itself,
/// which it does when `work` returns. Both processes must have one thread.
[[nodiscard]] uint64_t killAfter(uint64_t goal,
                                 const std::function<void(const ReportProgress& report)>& work);

}  // namespace penstock::emulator
