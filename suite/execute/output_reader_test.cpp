// What children print, however much and in whatever pieces.
#include "suite/execute/output_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace krepro {
namespace {

class Pipe {
 public:
  Pipe() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    set_nonblocking(ends_[0]);
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  void put(std::string_view text) const {
    EXPECT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] int reader() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

TEST(LineReaderTest, LinesComeWholeHoweverTheyWereWritten) {
  Pipe pipe;
  LineReader reader;
  EXPECT_TRUE(reader.read_from(pipe.reader()));
  EXPECT_FALSE(reader.take());
  pipe.put("one\ntw");
  reader.read_from(pipe.reader());
  EXPECT_EQ(reader.take(), "one");
  EXPECT_FALSE(reader.take());
  pipe.put("o\n\nlast");
  pipe.close_writer();
  reader.read_from(pipe.reader());
  EXPECT_FALSE(reader.read_from(pipe.reader()));
  EXPECT_EQ(reader.take(), "two");
  EXPECT_EQ(reader.take(), "");
  EXPECT_EQ(reader.take(), "last");
  EXPECT_FALSE(reader.take());
}

TEST(LineReaderTest, ALineWithoutEndIsCut) {
  Pipe pipe;
  LineReader reader(10);
  pipe.put("0123456789abcdef\nnext\n");
  reader.read_from(pipe.reader());
  EXPECT_EQ(reader.take(), "0123456789");
  EXPECT_TRUE(reader.overlong());
  EXPECT_EQ(reader.take(), "next");
}

TEST(TailReaderTest, OnlyTheEndIsKept) {
  Pipe pipe;
  TailReader reader(8);
  pipe.put("a long message\nthe end\n\n");
  reader.read_from(pipe.reader());
  EXPECT_EQ(reader.text(), "he end\n\n");
  EXPECT_EQ(reader.last_line(), "he end");
}

TEST(TailReaderTest, WithoutTextThereIsNoLastLine) { EXPECT_EQ(TailReader().last_line(), ""); }

}  // namespace
}  // namespace krepro
