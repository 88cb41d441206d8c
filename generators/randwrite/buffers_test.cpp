// What is written: contents that differ from write to write as the settings have it.
#include "generators/randwrite/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/error.h"

namespace krepro::randwrite {
namespace {

std::string contents(Buffers& buffers, std::size_t index = 0) {
  return {reinterpret_cast<const char*>(buffers.at(index)), buffers.block_bytes()};
}

std::size_t differing_bytes(const std::string& a, const std::string& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1U : 0U;
  return count;
}

TEST(BuffersTest, AreRandomAndDifferFromEachOther) {
  Buffers buffers({}, 4096, 2, 1, 0);
  EXPECT_GT(differing_bytes(contents(buffers, 0), contents(buffers, 1)), 4000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers.at(1)) % 4096, 0U) << "O_DIRECT needs it";
}

TEST(BuffersTest, ScramblingChangesAFewWordsOfEachChunk) {
  Buffers buffers({}, 4096, 1, 1, 0);
  const std::string before = contents(buffers);
  buffers.prepare_write(buffers.at(0), 8192, 123'456'789);
  const std::string after = contents(buffers);
  const std::size_t changed = differing_bytes(before, after);
  EXPECT_GT(changed, 8U * 8);
  EXPECT_LE(changed, 8U * 16);
  for (std::size_t chunk = 0; chunk < 4096; chunk += 512) {
    EXPECT_NE(before.substr(chunk, 512), after.substr(chunk, 512));
  }
}

TEST(BuffersTest, BlocksWithAnOddEndAreNotOverrun) {
  Buffers buffers({}, 1000, 2, 1, 0);
  const std::string neighbour = contents(buffers, 1);
  buffers.prepare_write(buffers.at(0), 1000, 7);
  EXPECT_EQ(contents(buffers, 1), neighbour);
}

TEST(BuffersTest, RefillingChangesAllOfIt) {
  Buffers buffers({.refill = true}, 4096, 1, 1, 0);
  const std::string before = contents(buffers);
  buffers.prepare_write(buffers.at(0), 0, 1);
  EXPECT_GT(differing_bytes(before, contents(buffers)), 4000U);
}

TEST(BuffersTest, ZerosAndPatternsAreAsTheyWereAskedFor) {
  Buffers zeros({.zero = true, .scramble = false}, 4096, 1, 1, 0);
  zeros.prepare_write(zeros.at(0), 4096, 1);
  EXPECT_EQ(contents(zeros), std::string(4096, '\0'));
  Buffers pattern({.scramble = false, .pattern = parse_pattern("0xabcd01")}, 512, 1, 1, 0);
  EXPECT_EQ(contents(pattern).substr(0, 4), "\xab\xcd\x01\xab");
}

TEST(PatternTest, IsReadAsFioReadsIt) {
  EXPECT_EQ(parse_pattern(""), "");
  EXPECT_EQ(parse_pattern("\"abc\""), "abc");
  EXPECT_EQ(parse_pattern("0xDEad"), "\xde\xad");
  EXPECT_EQ(parse_pattern("258"), std::string("\x02\x01", 2));
  for (const char* wrong : {"0x", "0xabc", "0xzz", "abc", "\"\"", "\"a", "-1"}) {
    EXPECT_THROW(static_cast<void>(parse_pattern(wrong)), Error) << wrong;
  }
}

}  // namespace
}  // namespace krepro::randwrite
