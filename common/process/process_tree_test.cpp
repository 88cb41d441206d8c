// Children as the kernel lists them, and on kernels that list none.
#include "common/process/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/base/made_up_root.h"

namespace krepro {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChildrenOf, AreThoseOfThisProcess) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  EXPECT_THAT(children_of(getpid(), HostFiles("/")), testing::Contains(child));
  EXPECT_THAT(children_of(child, HostFiles("/")), IsEmpty());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(children_of(child, HostFiles("/")), IsEmpty()) << "no such process";
}

TEST(ChildrenOf, AreThoseOfAllThreads) {
  const test::MadeUpRoot root;
  root.put("/proc/7/task/7/children", "9 ");
  root.put("/proc/7/task/8/children", "12 11 ");
  EXPECT_THAT(children_of(7, root.host()), ElementsAre(9, 12, 11));
}

TEST(ChildrenOf, AreFoundByTheirParentsWhereTheKernelListsNone) {
  const test::MadeUpRoot root;
  root.put("/proc/7/task/7/stat", "7 (nginx) S 1 7 7 0");
  root.put("/proc/7/stat", "7 (nginx) S 1 7 7 0");
  root.put("/proc/10/stat", "10 (a) S 5) S 7 7 7 0");
  root.put("/proc/9/stat", "9 (nginx) Z 7 7 7 0");
  root.put("/proc/8/stat", "8 (other) S 1 7 7 0");
  root.put("/proc/self/stat", "9 (nginx) S 7 7 7 0");
  EXPECT_THAT(children_of(7, root.host()), ElementsAre(9, 10));
  EXPECT_THAT(children_of(9, root.host()), IsEmpty());
}

}  // namespace
}  // namespace krepro
