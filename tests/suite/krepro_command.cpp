// Helpers of the suite tests.
#include "tests/suite/krepro_command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "common/base/host_files.h"
#include "common/timing/clock.h"

namespace krepro::test {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr const char* mark = "KREPRO_TEST_WORKPLACE=";

void pause_briefly() { sleep_until_ns(now_ns() + 20'000'000); }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

int open_for_writing(const std::filesystem::path& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

/// In the child: no terminal on any descriptor, as under nohup or in CI.
[[noreturn]] void become_krepro(const std::filesystem::path& directory,
                                std::vector<std::string> words, bool closed_stdout) {
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int errors = open_for_writing(directory / "stderr");
  std::array<int, 2> ends{};
  int output = -1;
  if (closed_stdout) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) _exit(126);
    close(ends[0]);
    output = ends[1];
  } else {
    output = open_for_writing(directory / "stdout");
  }
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (chdir(directory.c_str()) != 0) _exit(126);
  setenv("KREPRO_TEST_WORKPLACE", directory.c_str(), 1);
  unsetenv("TERM");
  words.insert(words.begin(), KREPRO_COMMAND);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(KREPRO_COMMAND, argv.data());
  _exit(127);
}

}  // namespace

RunningCommand::RunningCommand(const std::filesystem::path& directory,
                               const std::vector<std::string>& words, bool closed_stdout)
    : directory_(directory) {
  pid_ = fork();
  if (pid_ == 0) become_krepro(directory, words, closed_stdout);
}

RunningCommand::~RunningCommand() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void RunningCommand::signal(int number) const { kill(pid_, number); }

Outcome RunningCommand::wait() {
  int status = 0;
  const std::int64_t deadline_ns = now_ns() + 60 * second_ns;
  pid_t done = 0;
  while ((done = waitpid(pid_, &status, WNOHANG)) == 0 && now_ns() < deadline_ns) pause_briefly();
  if (done == 0) {
    ADD_FAILURE() << "krepro did not end within a minute";
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = read_file(directory_ / "stdout");
  outcome.err = read_file(directory_ / "stderr");
  return outcome;
}

Workplace::Workplace() {
  char pattern[] = "/tmp/krepro-suite-XXXXXX";
  directory_ = mkdtemp(pattern);
}

Workplace::~Workplace() {
  for (const pid_t pid : processes()) {
    ADD_FAILURE() << "process " << pid << " was left behind";
    kill(pid, SIGKILL);
  }
  std::filesystem::remove_all(directory_);
}

void Workplace::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories(path(name).parent_path());
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string Workplace::read(const std::string& name) const { return read_file(path(name)); }

Outcome Workplace::krepro(const std::vector<std::string>& words) const {
  return RunningCommand(directory_, words, false).wait();
}

std::vector<std::filesystem::path> Workplace::results() const {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(path(default_results_directory), error)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

RunFile Workplace::only_result() const {
  const auto files = results();
  EXPECT_EQ(files.size(), 1U);
  return files.empty() ? RunFile() : read_run_file(files.front());
}

bool Workplace::wait_for_samples(const std::string& file, std::size_t count) const {
  const std::int64_t deadline_ns = now_ns() + 10 * second_ns;
  while (now_ns() < deadline_ns) {
    std::istringstream lines(read(file));
    std::size_t found = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(R"("type":"sample")") != std::string::npos) ++found;
    }
    if (found >= count) return true;
    pause_briefly();
  }
  return false;
}

std::vector<pid_t> Workplace::processes() const {
  const HostFiles host("/");
  std::vector<pid_t> found;
  for (const std::string& name : host.list("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = host.read("/proc/" + name + "/environ").value_or("");
    if (environment.find(mark + directory_.string()) == std::string::npos) continue;
    const std::string stat = host.read("/proc/" + name + "/stat").value_or("");
    // A zombie is only waiting for its parent.
    if (stat.find(") Z ") == std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

bool Workplace::all_gone() const {
  const std::int64_t deadline_ns = now_ns() + 10 * second_ns;
  while (!processes().empty()) {
    if (now_ns() > deadline_ns) return false;
    pause_briefly();
  }
  return true;
}

std::string instant_profile(int benchmarks, int repetitions) {
  std::string text =
      fmt::format("title = \"instant\"\n[defaults]\nrepetitions = {}\nseed = 7\nruntime = \"1s\"\n",
                  repetitions);
  for (int i = 0; i < benchmarks; ++i) {
    text += fmt::format(
        "[[benchmark]]\nname = \"row {}\"\ngenerator = \"null\"\n"
        "options = {{ time = \"virtual\", latency = \"{}ms\", noise = \"2%\" }}\n",
        i + 1, i + 1);
  }
  return text;
}

std::string faulty_profile(const std::string& fault) {
  return fmt::format(
      "title = \"faulty\"\n[defaults]\nrepetitions = 2\nseed = 7\nruntime = \"1s\"\n"
      "[[benchmark]]\nname = \"bad\"\ngenerator = \"null\"\n"
      "options = {{ time = \"virtual\", latency = \"1ms\", fault = [\"{}\"] }}\n"
      "[[benchmark]]\nname = \"good\"\ngenerator = \"null\"\n"
      "options = {{ time = \"virtual\", latency = \"1ms\" }}\n",
      fault);
}

}  // namespace krepro::test
