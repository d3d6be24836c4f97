#include "apps/penstock/testing/run_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace penstock::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

TestFolder::TestFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "penstock-command-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::write(const std::string& name, const std::string& contents) const {
  std::ofstream file(path_ / name, std::ios::binary);
  file << contents;
  return path(name);
}

std::string contentsOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

RunningCommand::RunningCommand(const std::vector<std::string>& arguments, const std::string& input,
                               const std::map<std::string, std::string>& environment,
                               const std::string& directory, const std::string& program) {
  std::vector<std::string> argv = {program.empty() ? PENSTOCK_BINARY : program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"HOME=" + folder_.path("home"),
                                        "XDG_DATA_HOME=" + folder_.path("data"),
                                        "GCE_METADATA_HOST=127.0.0.1:1"};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name))
      variables.push_back(fmt::format("{}={}", name, value));
  }
  const std::string in = folder_.write("in", input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  const int create = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, folder_.path("out").c_str(), create,
                                   0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, folder_.path("error").c_str(), create,
                                   0600);
  const int failed = posix_spawn(&process_, argv.front().c_str(), &actions, nullptr,
                                 pointers(argv).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + argv.front());
}

RunningCommand::~RunningCommand() {
  if (ended_) return;
  kill(process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
}

void RunningCommand::signal(int number) const { kill(process_, number); }

int64_t RunningCommand::procNumber(const std::string& file, const std::string& key) const {
  std::ifstream in(fmt::format("/proc/{}/{}", process_, file));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size()));
  }
  return 0;
}

bool RunningCommand::ended() {
  if (ended_) return true;
  // Not what wait4() says: there a process starts with the peak of the one that spawned it, which
  // is that of all tests before.
  const int64_t peak = procNumber("status", "VmHWM:");
  const int64_t ofFiles = procNumber("status", "RssFile:");
  constexpr int64_t kKibibyte = 1024;
  if (ofFiles > 0) peakMemoryBytes_ = std::max(peakMemoryBytes_, (peak - ofFiles) * kKibibyte);
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return false;
  ended_ = true;
  exitCode_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return true;
}

bool RunningCommand::waitFor(const std::function<bool()>& condition) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (Clock::now() < deadline) {
    const bool over = ended();
    if (condition()) return true;
    if (over) return false;
    poll(nullptr, 0, 5);
  }
  return false;
}

bool RunningCommand::waitForText(const std::string& text) {
  return waitFor([&] {
    return contentsOf(folder_.path("error")).find(text) != std::string::npos ||
           contentsOf(folder_.path("out")).find(text) != std::string::npos;
  });
}

bool RunningCommand::waitForFile(const std::string& path) {
  return waitFor([&] { return std::filesystem::exists(path); });
}

std::string RunningCommand::text() const { return contentsOf(folder_.path("out")); }
std::string RunningCommand::errorText() const { return contentsOf(folder_.path("error")); }

CommandResult RunningCommand::wait() {
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (!ended() && Clock::now() < deadline) poll(nullptr, 0, 5);
  return {.exitCode = ended_ ? exitCode_ : -1,
          .out = contentsOf(folder_.path("out")),
          .error = contentsOf(folder_.path("error")),
          .peakMemoryBytes = peakMemoryBytes_};
}

CommandResult runCommand(const std::vector<std::string>& arguments, const std::string& input,
                         const std::map<std::string, std::string>& environment,
                         const std::string& directory) {
  return RunningCommand(arguments, input, environment, directory).wait();
}

}  // namespace penstock::command
