// What the tests of child processes share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/child.h"
#include "common/process/process_tree.h"
#include "common/timing/clock.h"

namespace krepro {

inline constexpr std::int64_t second_ns = 1'000'000'000;
/// Long enough for a slow machine, short enough for a test that hangs.
inline constexpr std::int64_t patience_ns = 20 * second_ns;

inline SpawnRequest shell(const std::string& script) {
  SpawnRequest request;
  request.argv = {"/bin/sh", "-c", script};
  return request;
}

inline std::string read_line(int fd) {
  std::string line;
  char letter = 0;
  while (read(fd, &letter, 1) == 1 && letter != '\n') {
    line += letter;
  }
  return line;
}

template <typename Condition>
bool eventually(Condition condition) {
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  while (!condition()) {
    if (now_ns() > deadline_ns) {
      return false;
    }
    usleep(2000);
  }
  return true;
}

/// Neither running nor a zombie.
inline bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

inline std::vector<pid_t> own_children() { return children_of(getpid(), HostFiles("/")); }

/// Runs `spawn` and gives the error that it throws.
inline Error error_of(const SpawnRequest& request) {
  try {
    const Child child = Child::spawn(request);
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::ok, "no error");
}

/// A folder of its own, and a check that no keeper and no zombie is left.
class ChildTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/krepro-child-test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    EXPECT_THAT(own_children(), testing::IsEmpty()) << "a keeper or a zombie is left";
  }

  std::filesystem::path folder_;
};

}  // namespace krepro
