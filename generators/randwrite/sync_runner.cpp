// The engines with one request at a time: pread/pwrite (psync), read/write after lseek (sync),
// preadv/pwritev (pvsync). One clock reading per operation: the end of one is the start of the
// next.
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "common/timing/clock.h"
#include "generators/randwrite/job_runner.h"

namespace krepro::randwrite {

namespace {

class SyncRunner : public JobRunner {
 public:
  SyncRunner(const JobPlan& plan, JobResult& result) : JobRunner(plan, result, 1) {}

  void run(const WorkerContext& context) override {
    JobClock job_clock(job_, result_, context.stop);
    now_ns_ = job_clock.begin(context.start_ns);
    pace_.start(now_ns_);
    while (!job_clock.stopped()) {
      if (!step(job_clock)) break;
    }
    finish(job_clock);
  }

 private:
  /// One step of the script; false where the job is over.
  bool step(JobClock& clock) {
    std::int64_t planned_ns = 0;
    Direction direction = Direction::write;
    const bool paced = job_.paced() && !script_.sync_due();
    if (paced && !wait_for_turn(clock, direction, planned_ns)) return false;
    const Operation operation = script_.next(paced ? &direction : nullptr);
    switch (operation.step) {
      case Step::read:
      case Step::write:
        return paced ? transfer_paced(clock, operation, planned_ns) : transfer(clock, operation);
      case Step::sync:
      case Step::data_sync:
        return synchronise(clock, operation.step == Step::data_sync);
      case Step::wrap:
        ++result_.passes;
        if (!job_.direct) access_.invalidate();
        now_ns_ = now_ns();
        return true;
      case Step::reopen:
        // As fio: each loop ends with its end_fsync, and the file is closed and opened again.
        if (job_.end_fsync && job_.writes && !synchronise(clock, false)) return false;
        position_ = no_position;
        if (!reopen()) return false;
        now_ns_ = now_ns();
        return true;
      case Step::end:
        break;
    }
    return false;
  }

  bool transfer(JobClock& clock, const Operation& operation) {
    const std::int64_t from_ns = now_ns_;
    if (!move_block(operation)) return false;
    now_ns_ = now_ns();
    const bool goes_on = clock.passes(now_ns_);
    count_data(direction_of(operation), from_ns, now_ns_);
    clock.count();
    if (job_.think_ns > 0) [[unlikely]]
      return goes_on && think(clock);
    return goes_on;
  }

  /// With a rate, latency counts from the planned start; the time from the issue is kept as well.
  bool transfer_paced(JobClock& clock, const Operation& operation, std::int64_t planned_ns) {
    const std::int64_t issued_ns = now_ns_;
    pace_.advance(direction_of(operation));
    if (!move_block(operation)) return false;
    now_ns_ = now_ns();
    const bool goes_on = clock.passes(now_ns_);
    count_data(direction_of(operation), planned_ns, now_ns_);
    result_.service.record(now_ns_ - issued_ns);
    clock.count();
    if (job_.think_ns > 0) return goes_on && think(clock);
    return goes_on;
  }

  bool wait_for_turn(JobClock& clock, Direction& direction, std::int64_t& planned_ns) {
    direction = script_.choose();
    planned_ns = pace_.due(direction, now_ns_);
    if (planned_ns <= now_ns_) return true;
    const bool goes_on = clock.sleep_until(planned_ns);
    now_ns_ = now_ns();
    return goes_on;
  }

  [[nodiscard]] static Direction direction_of(const Operation& operation) {
    return operation.step == Step::read ? Direction::read : Direction::write;
  }

  bool move_block(const Operation& operation) {
    std::byte* block = buffers_.at(0);
    const bool writes = operation.step == Step::write;
    if (writes) buffers_.prepare_write(block, operation.offset, now_ns_);
    const ssize_t moved = call(writes, block, block_bytes_, operation.offset);
    if (moved == static_cast<ssize_t>(block_bytes_)) [[likely]]
      return true;
    return finish_partial(operation, moved);
  }

  ssize_t call(bool writes, std::byte* block, std::size_t bytes, std::uint64_t at) {
    const auto offset = static_cast<off_t>(at);
    if (job_.engine == Engine::psync) {
      return writes ? pwrite(access_.fd(), block, bytes, offset)
                    : pread(access_.fd(), block, bytes, offset);
    }
    if (job_.engine == Engine::pvsync) {
      const iovec part{block, bytes};
      return writes ? pwritev(access_.fd(), &part, 1, offset)
                    : preadv(access_.fd(), &part, 1, offset);
    }
    if (position_ != at && lseek(access_.fd(), offset, SEEK_SET) < 0) return -1;
    const ssize_t moved =
        writes ? write(access_.fd(), block, bytes) : read(access_.fd(), block, bytes);
    position_ = moved < 0 ? no_position : at + static_cast<std::uint64_t>(moved);
    return moved;
  }

  /// An error, or fewer bytes than asked for: the rest is tried, which tells why, and the job ends.
  bool finish_partial(const Operation& operation, ssize_t moved) {
    const bool writes = operation.step == Step::write;
    const Call failing = writes ? Call::write : Call::read;
    int error = errno;
    if (moved >= 0) {
      ++result_.short_transfers;
      const auto done = static_cast<std::uint64_t>(moved);
      const ssize_t rest =
          call(writes, buffers_.at(0) + done, block_bytes_ - done, operation.offset + done);
      error = rest < 0 ? errno : 0;
    }
    fail(failing, error, operation.offset);
    now_ns_ = now_ns();
    return false;
  }

  bool synchronise(JobClock& clock, bool data_only) {
    const std::int64_t from_ns = now_ns_;
    if ((data_only ? fdatasync(access_.fd()) : fsync(access_.fd())) != 0) {
      fail(data_only ? Call::fdatasync : Call::fsync, errno, 0);
      now_ns_ = now_ns();
      return false;
    }
    now_ns_ = now_ns();
    const bool goes_on = clock.passes(now_ns_);
    count_sync(from_ns, now_ns_);
    return goes_on;
  }

  bool think(JobClock& clock) {
    if (++since_thought_ < job_.think_every) return true;
    since_thought_ = 0;
    const std::int64_t until_ns = now_ns_ + job_.think_ns;
    const std::int64_t spin_until_ns = now_ns_ + job_.think_spin_ns;
    while (now_ns() < spin_until_ns) {
    }
    const bool goes_on = clock.sleep_until(until_ns);
    now_ns_ = now_ns();
    return goes_on;
  }

  void finish(JobClock& clock) {
    if (job_.end_fsync && job_.writes && !failed()) {
      static_cast<void>(synchronise(clock, false));
    }
    clock.finish(now_ns_);
  }

  static constexpr std::uint64_t no_position = ~0ULL;
  std::int64_t now_ns_ = 0;  ///< The last reading: the end of the last operation.
  std::uint64_t position_ = no_position;
  std::uint64_t since_thought_ = 0;
};

}  // namespace

std::unique_ptr<JobRunner> make_sync_runner(const JobPlan& plan, JobResult& result) {
  return std::make_unique<SyncRunner>(plan, result);
}

}  // namespace krepro::randwrite
