// The tables of hackbench: what a fidelity run and a bug report rely on.
#include "generators/hackbench/description.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/hackbench/setup.h"

namespace krepro::hackbench {
namespace {

TEST(Description, ComparesFourModesAtThreeNumbersOfGroups) {
  ASSERT_TRUE(description().original);
  std::set<std::string> names;
  std::set<std::vector<std::string>> modes;
  for (const FidelityRow& row : description().original->rows) {
    names.insert(row.name);
    Options options(description().options);
    for (const auto& [name, value] : row.options) {
      options.set(name, value);
    }
    const LoadSetup setup = setup_from(options);
    EXPECT_EQ(row.operations, static_cast<double>(setup.messages())) << row.name;
    const std::vector<std::string> arguments = load_arguments(setup);
    modes.insert({arguments[0], arguments[1]});
  }
  EXPECT_EQ(names.size(), 12U);
  EXPECT_EQ(modes.size(), 4U);
}

TEST(Description, SpellsTheOriginalsOptionsAsItsHelpDoes) {
  for (const char* name : {"fds", "fifo", "groups", "loops", "pipe", "inet", "datasize", "threads",
                           "process", "f", "F", "g", "l", "p", "i", "s", "T", "P"}) {
    const Option* option = description().options.find(name);
    ASSERT_NE(option, nullptr) << name;
    EXPECT_EQ(option->origin, Origin::original) << name;
  }
}

}  // namespace
}  // namespace krepro::hackbench
