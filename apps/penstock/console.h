#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"

namespace penstock::command {

/// Where the command writes. Results go to standard output and nothing else does, so that they can
/// be piped; everything about the work goes to standard error. A transient line (progress) is
/// redrawn below what is printed meanwhile. Thread-safe.
class Console {
 public:
  /// `transient`: standard error is a terminal that can redraw a line.
  Console(std::FILE* out, std::FILE* error, bool transient)
      : out_(out), error_(error), transient_(transient) {}

  /// One line (or several) of result.
  void result(std::string_view text);
  /// One line about the work; control characters in it are shown as `\n`, `\t`, `\x1b`.
  void note(std::string_view line);
  /// "penstock: error: ..."
  void error(std::string_view message);
  /// Shows `line` in place of the transient line before; an empty one takes it away. Does nothing
  /// where the terminal cannot.
  void transient(std::string_view line);
  [[nodiscard]] bool showsTransient() const { return transient_; }

 private:
  void writeLine(std::FILE* file, std::string_view line) PENSTOCK_REQUIRES(mutex_);

  base::Mutex mutex_;
  std::FILE* const out_;
  std::FILE* const error_;
  const bool transient_;
  std::string shown_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::command
