// The sequence of a job's operations: data operations, the syncs between them, and what happens at
// the end of a pass. It decides what comes next and knows neither files nor clocks.
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "generators/randwrite/offsets.h"
#include "generators/randwrite/settings.h"

namespace krepro::randwrite {

enum class Step : std::uint8_t {
  read,
  write,
  sync,       ///< fsync
  data_sync,  ///< fdatasync
  wrap,       ///< A time-based job begins another pass: cached pages are dropped.
  reopen,     ///< A loop is over, another follows: all in flight ends, the file is opened anew.
  end,        ///< The size is done.
};

struct Operation {
  Step step = Step::end;
  std::uint64_t offset = 0;
};

class Script {
 public:
  /// `operations`: data operations of the whole job; 0 for a time-based one, which has no end of
  /// its own.
  Script(const JobSettings& job, const OffsetPlan& plan, std::uint64_t operations,
         std::uint64_t seed, std::uint64_t stream)
      : offsets_(plan, seed, stream),
        mix_(seed, stream + 1),
        pass_operations_(plan.blocks),
        operations_(operations),
        fsync_every_(job.writes ? job.fsync_every : 0),
        fdatasync_every_(job.writes ? job.fdatasync_every : 0),
        read_percent_(job.read_percent),
        mixed_(job.mixed()),
        reads_(job.reads),
        time_based_(job.time_based),
        repeat_(job.repeat) {}

  /// What comes next. `forced`: the direction of a mixed job's next data operation, where a rate
  /// has decided it; nullptr otherwise.
  Operation next(const Direction* forced = nullptr) {
    if (!time_based_ && at_end_of_pass()) [[unlikely]]
      return finish_pass();
    // A sync comes just before the write that would follow, so that none trails the last one, and
    // once per boundary also where reads lie between the writes.
    if (sync_due_) [[unlikely]]
      return take_sync();
    const Direction direction = forced != nullptr ? *forced : choose();
    Operation operation;
    if (!offsets_.next(direction, operation.offset)) [[unlikely]]
      return finish_pass();
    ++issued_;
    ++issued_in_pass_;
    if (direction == Direction::read) {
      operation.step = Step::read;
      return operation;
    }
    operation.step = Step::write;
    ++since_fsync_;
    ++since_fdatasync_;
    sync_due_ = since_fsync_ == fsync_every_ || since_fdatasync_ == fdatasync_every_;
    return operation;
  }
  /// The direction of the next data operation of a mixed job.
  [[nodiscard]] Direction choose() {
    if (!mixed_) return reads_ ? Direction::read : Direction::write;
    return mix_.below(100) < read_percent_ ? Direction::read : Direction::write;
  }
  /// The next step is a sync, whatever the direction.
  [[nodiscard]] bool sync_due() const { return sync_due_; }

 private:
  [[nodiscard]] bool at_end_of_pass() const {
    return issued_ == operations_ || issued_in_pass_ == pass_operations_;
  }
  Operation take_sync();
  Operation finish_pass();

  Offsets offsets_;
  RandomStream mix_;
  std::uint64_t pass_operations_;
  std::uint64_t operations_;
  std::uint64_t fsync_every_;
  std::uint64_t fdatasync_every_;
  unsigned read_percent_;
  bool mixed_;
  bool reads_;
  bool time_based_;
  bool repeat_;
  bool sync_due_ = false;
  std::uint64_t since_fsync_ = 0;
  std::uint64_t since_fdatasync_ = 0;
  std::uint64_t issued_ = 0;
  std::uint64_t issued_in_pass_ = 0;
};

}  // namespace krepro::randwrite
