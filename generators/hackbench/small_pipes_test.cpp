// An unprivileged user whose pipes are past fs.pipe-user-pages-soft gets small ones: the load ends
// nevertheless, and says that it is another benchmark.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/host_files.h"
#include "generators/hackbench/test_support/running_hackbench.h"

namespace krepro::hackbench {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr uid_t nobody = 65534;
constexpr int pages_of_a_pipe = 16;

/// A process that holds so many pipes, as another user where we are root.
class PipeHolder {
 public:
  explicit PipeHolder(int pipes) {
    int told[2];
    if (pipe(told) != 0) {
      return;
    }
    process_ = fork();
    if (process_ == 0) {
      hold(pipes, told[1]);
    }
    close(told[1]);
    char answer = 'n';
    holds_ = read(told[0], &answer, 1) == 1 && answer == 'y';
    close(told[0]);
  }
  ~PipeHolder() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  PipeHolder(const PipeHolder&) = delete;
  PipeHolder& operator=(const PipeHolder&) = delete;
  [[nodiscard]] bool holds() const { return holds_; }

 private:
  [[noreturn]] static void hold(int pipes, int tell) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    bool all = geteuid() != 0 || (setgroups(0, nullptr) == 0 && setuid(nobody) == 0);
    int ends[2];
    for (int i = 0; all && i < pipes; ++i) {
      all = pipe(ends) == 0;
    }
    const char answer = all ? 'y' : 'n';
    [[maybe_unused]] const ssize_t written = write(tell, &answer, 1);
    for (;;) {
      pause();
    }
  }
  pid_t process_ = -1;
  bool holds_ = false;
};

TEST(SmallPipes, EndAndAreTold) {
  const std::int64_t pages =
      HostFiles().read_number("/proc/sys/fs/pipe-user-pages-soft").value_or(0);
  if (pages <= 0 || pages > 100'000) {
    GTEST_SKIP() << "pipes of users are not limited here";
  }
  const PipeHolder holder(static_cast<int>(pages / pages_of_a_pipe) + 1);
  if (!holder.holds()) {
    GTEST_SKIP() << "too few file descriptors to use up the user's pages";
  }
  std::vector<std::string> prefix;
  if (geteuid() == 0) {
    prefix = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  const CommandOutput output =
      run_hackbench({"-p", "-g", "2", "-f", "5", "-l", "200", "-s", "100", "--json", "-"}, prefix);
  if (!output.end.exited() || output.end.exit_code() == 126 || output.end.exit_code() == 127) {
    GTEST_SKIP() << "the other user may not run what was built here: " << output.err;
  }
  ASSERT_EQ(output.end.exit_code(), 0) << output.err;
  const nlohmann::json sample = nlohmann::json::parse(output.out);
  if (sample.at("extra").at("channel_capacity_bytes").at("min") == 65536) {
    GTEST_SKIP() << "this user's pipes are not shrunk here";
  }
  EXPECT_EQ(sample.at("operations"), 2 * 5 * 5 * 200);
  EXPECT_THAT(sample.at("notes").get<std::vector<std::string>>(),
              Contains(HasSubstr("fs.pipe-user-pages-soft")));
}

}  // namespace
}  // namespace krepro::hackbench
