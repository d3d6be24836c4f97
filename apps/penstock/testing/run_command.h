#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace penstock::command {

/// A fresh directory with files, removed with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& contents) const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string contentsOf(const std::string& path);

struct CommandResult {
  int exitCode = -1;  ///< -1: ended by a signal, or not within a minute
  std::string out;
  std::string error;
  /// The most that was resident, without the pages of the program and its libraries; seen every
  /// 5 ms while it was waited for.
  int64_t peakMemoryBytes = 0;
};

/// The command as another process, with a home of its own and no credentials in its environment.
class RunningCommand {
 public:
  /// `input` becomes standard input; its environment is `environment` and nothing else of ours; it
  /// works in `directory`. `program`: another one than the command.
  explicit RunningCommand(const std::vector<std::string>& arguments, const std::string& input = "",
                          const std::map<std::string, std::string>& environment = {},
                          const std::string& directory = ".", const std::string& program = "");
  ~RunningCommand();
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  void signal(int number) const;
  /// A number of /proc/PID/FILE, behind `key`; 0 if it is not there.
  [[nodiscard]] int64_t procNumber(const std::string& file, const std::string& key) const;
  /// Waits until standard error (or output) holds `text`; false if the command ends or a minute
  /// passes first.
  [[nodiscard]] bool waitForText(const std::string& text);
  /// The same for any condition.
  [[nodiscard]] bool waitFor(const std::function<bool()>& condition);
  /// The same for a file or folder to exist.
  [[nodiscard]] bool waitForFile(const std::string& path);
  /// Standard output so far.
  [[nodiscard]] std::string text() const;
  /// Standard error so far.
  [[nodiscard]] std::string errorText() const;
  /// Waits for its end.
  [[nodiscard]] CommandResult wait();
  [[nodiscard]] bool ended();

 private:
  TestFolder folder_;
  pid_t process_ = -1;
  bool ended_ = false;
  int exitCode_ = -1;
  int64_t peakMemoryBytes_ = 0;
};

/// Runs the command to its end.
[[nodiscard]] CommandResult runCommand(const std::vector<std::string>& arguments,
                                       const std::string& input = "",
                                       const std::map<std::string, std::string>& environment = {},
                                       const std::string& directory = ".");

}  // namespace penstock::command
