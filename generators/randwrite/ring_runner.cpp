// The io_uring engine. Requests go out one by one (iodepth_batch) and completions are taken one by
// one (iodepth_batch_complete) as fio does it. An fsync is submitted when all writes before it have
// completed, and once per boundary: what it covers is written, whatever order the kernel chooses.
#include <liburing.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/base/host_files.h"
#include "common/timing/clock.h"
#include "generators/randwrite/job_runner.h"
#include "generators/randwrite/ring.h"

namespace krepro::randwrite {

namespace {

/// One request of the queue.
struct Request {
  Operation operation;
  std::byte* block = nullptr;
  iovec part{};
  std::uint64_t done_bytes = 0;  ///< Of a request that came back short.
  std::int64_t from_ns = 0;      ///< Where its latency begins.
  std::int64_t issued_ns = 0;
  unsigned attempts = 0;
  int result = 0;
};

class RingRunner : public JobRunner {
 public:
  RingRunner(const JobPlan& plan, JobResult& result)
      : JobRunner(plan, result, plan.job->ring.depth),
        settings_(plan.job->ring),
        ring_(plan.job->ring, HostFiles::system()),
        requests_(plan.job->ring.depth) {
    plain_requests_ =
        settings_.non_vectored >= 0 ? settings_.non_vectored == 1 : ring_.has_plain_requests();
    if (settings_.fixed_buffers) {
      ring_.register_buffers(buffers_.at(0), block_bytes_, requests_.size(), HostFiles::system());
    }
    if (settings_.registered_file) ring_.register_file(access_.fd());
    finished_.reserve(requests_.size());
    free_.reserve(requests_.size());
    for (std::size_t i = requests_.size(); i-- > 0;) {
      requests_[i].block = buffers_.at(i);
      free_.push_back(static_cast<unsigned>(i));
    }
  }

  void run(const WorkerContext& context) override {
    JobClock job_clock(job_, result_, context.stop);
    clock_ = &job_clock;
    now_ns_ = job_clock.begin(context.start_ns);
    pace_.start(now_ns_);
    running_ = true;
    while (running_ && !job_clock.stopped()) step();
    drain();
    if (job_.end_fsync && job_.writes && !failed()) synchronise(Step::sync);
    drain();
    result_.completion_ring_overflowed = ring_.overflowed();
    job_clock.finish(now_ns_);
  }

 private:
  /// Of one request, before it is given up: some kernels answer EAGAIN again and again.
  static constexpr unsigned attempts_max = 1000;

  void step() {
    std::int64_t planned_ns = 0;
    Direction direction = Direction::write;
    const bool paced = job_.paced() && !script_.sync_due();
    if (paced && !wait_for_turn(direction, planned_ns)) return;
    const Operation operation = script_.next(paced ? &direction : nullptr);
    switch (operation.step) {
      case Step::read:
      case Step::write:
        if (paced) pace_.advance(direction);
        start(operation, paced ? planned_ns : now_ns_);
        break;
      case Step::sync:
      case Step::data_sync:
        drain();
        if (running_) synchronise(operation.step);
        break;
      case Step::wrap:
        ++result_.passes;
        if (!job_.direct) access_.invalidate();
        now_ns_ = now_ns();
        return;
      case Step::reopen:
        between_loops();
        return;
      case Step::end:
        running_ = false;
        return;
    }
    if (free_.empty() || settings_.complete_min == 0) wait_for_completions();
    if (job_.think_ns > 0 && ++since_thought_ >= job_.think_every) think();
  }

  void between_loops() {
    drain();
    if (job_.end_fsync && job_.writes && running_) {
      synchronise(Step::sync);
      drain();
    }
    if (!running_ || !reopen()) {
      running_ = false;
      return;
    }
    if (settings_.registered_file) {
      const int fd = access_.fd();
      if (io_uring_register_files_update(ring_.get(), 0, &fd, 1) < 0) give_up(Call::open, EIO, 0);
    }
    now_ns_ = now_ns();
  }

  bool wait_for_turn(Direction& direction, std::int64_t& planned_ns) {
    direction = script_.choose();
    planned_ns = pace_.due(direction, now_ns_);
    if (planned_ns <= now_ns_) return true;
    // As fio: what is in flight is completed before it sleeps.
    drain();
    if (running_ && !clock_->sleep_until(planned_ns)) running_ = false;
    now_ns_ = now_ns();
    return running_;
  }

  void think() {
    since_thought_ = 0;
    drain();
    const std::int64_t until_ns = now_ns_ + job_.think_ns;
    const std::int64_t spin_until_ns = now_ns_ + job_.think_spin_ns;
    while (now_ns() < spin_until_ns) {
    }
    if (running_ && !clock_->sleep_until(until_ns)) running_ = false;
    now_ns_ = now_ns();
  }

  /// Puts an operation into a free slot and submits when enough have gathered.
  void start(const Operation& operation, std::int64_t from_ns) {
    const unsigned slot = free_.back();
    free_.pop_back();
    Request& request = requests_[slot];
    request.operation = operation;
    request.done_bytes = 0;
    request.attempts = 0;
    request.from_ns = from_ns;
    request.issued_ns = now_ns_;
    if (operation.step == Step::write) {
      buffers_.prepare_write(request.block, operation.offset, now_ns_);
    }
    queue(slot);
    ++in_flight_;
    if (queued_ >= settings_.batch) submit();
  }

  /// A sync, when nothing is in flight.
  void synchronise(Step step) {
    start({step, 0}, now_ns_);
    if (queued_ > 0) submit();
  }

  void queue(unsigned slot) {
    Request& request = requests_[slot];
    io_uring_sqe* entry = nullptr;
    // There are as many entries as requests; only a polling thread may lag in giving them back.
    while ((entry = io_uring_get_sqe(ring_.get())) == nullptr) io_uring_sqring_wait(ring_.get());
    const int fd = settings_.registered_file ? 0 : access_.fd();
    if (request.operation.step == Step::sync || request.operation.step == Step::data_sync) {
      io_uring_prep_fsync(entry, fd,
                          request.operation.step == Step::data_sync ? IORING_FSYNC_DATASYNC : 0);
    } else {
      prepare_transfer(entry, fd, slot, request);
    }
    if (settings_.registered_file) entry->flags |= IOSQE_FIXED_FILE;
    if (settings_.force_async != 0 && ++since_async_ >= settings_.force_async) {
      since_async_ = 0;
      entry->flags |= IOSQE_ASYNC;
    }
    io_uring_sqe_set_data64(entry, slot);
    ++queued_;
  }

  void prepare_transfer(io_uring_sqe* entry, int fd, unsigned slot, Request& request) {
    std::byte* at = request.block + request.done_bytes;
    const auto bytes = static_cast<unsigned>(block_bytes_ - request.done_bytes);
    const std::uint64_t offset = request.operation.offset + request.done_bytes;
    const bool writes = request.operation.step == Step::write;
    if (settings_.fixed_buffers) {
      const auto index = static_cast<int>(slot);
      writes ? io_uring_prep_write_fixed(entry, fd, at, bytes, offset, index)
             : io_uring_prep_read_fixed(entry, fd, at, bytes, offset, index);
    } else if (plain_requests_) {
      writes ? io_uring_prep_write(entry, fd, at, bytes, offset)
             : io_uring_prep_read(entry, fd, at, bytes, offset);
    } else {
      request.part = {at, bytes};
      writes ? io_uring_prep_writev(entry, fd, &request.part, 1, offset)
             : io_uring_prep_readv(entry, fd, &request.part, 1, offset);
    }
  }

  /// Hands what is queued to the kernel: the call that fio makes, which also runs completions.
  void submit() {
    while (queued_ > 0) {
      const int result = settings_.polling_thread ? io_uring_submit(ring_.get())
                                                  : io_uring_submit_and_get_events(ring_.get());
      if (result >= 0) {
        // With a polling thread the count is of what it has been shown.
        queued_ -= std::min(queued_, static_cast<unsigned>(result));
        if (settings_.polling_thread) queued_ = 0;
        continue;
      }
      if (result == -EAGAIN || result == -EBUSY || result == -EINTR) {
        // No room in the kernel: completions must be taken first, but those are looked at later.
        static_cast<void>(io_uring_get_events(ring_.get()));
        continue;
      }
      give_up(Call::submit, -result, 0);
      in_flight_ -= queued_;
      queued_ = 0;
    }
  }

  /// Takes completions as the settings have it: one, or some, or until the queue is low enough.
  void wait_for_completions() {
    const bool full = free_.empty();
    do {
      const unsigned least = std::min(std::max(settings_.complete_min, full ? 1U : 0U), in_flight_);
      const unsigned most = std::max(settings_.complete_max, least);
      take(least, most);
      // A request that had to be issued again keeps its slot: then there is still none to go on
      // with.
    } while ((full && in_flight_ > settings_.low) || (free_.empty() && in_flight_ > 0));
  }

  void drain() {
    while (in_flight_ > 0) take(1, in_flight_);
  }

  /// Takes at least `least` and at most `most` completions, reads the clock once, and counts them.
  void take(unsigned least, unsigned most) {
    if (queued_ > 0) submit();
    while (finished_.size() < most) {
      unsigned head = 0;
      unsigned seen = 0;
      io_uring_cqe* completion = nullptr;
      io_uring_for_each_cqe(ring_.get(), head, completion) {
        if (finished_.size() == most) break;
        const auto slot = static_cast<unsigned>(io_uring_cqe_get_data64(completion));
        requests_[slot].result = completion->res;
        finished_.push_back(slot);
        ++seen;
      }
      if (seen > 0) io_uring_cq_advance(ring_.get(), seen);
      if (finished_.size() >= least) break;
      if (!settings_.polling_thread && !wait_in_kernel(least)) return;
    }
    if (finished_.empty()) return;
    now_ns_ = now_ns();
    if (!clock_->passes(now_ns_)) running_ = false;
    for (const unsigned slot : finished_) complete(slot);
    finished_.clear();
  }

  /// Sleeps until the completions that are still missing are there; false where that is not
  /// possible.
  bool wait_in_kernel(unsigned least) {
    const int result = io_uring_enter(static_cast<unsigned>(ring_.get()->ring_fd), 0,
                                      least - static_cast<unsigned>(finished_.size()),
                                      IORING_ENTER_GETEVENTS, nullptr);
    if (result >= 0 || result == -EINTR || result == -EAGAIN || result == -EBUSY) return true;
    give_up(Call::submit, -result, 0);
    in_flight_ = 0;
    finished_.clear();
    return false;
  }

  void complete(unsigned slot) {
    Request& request = requests_[slot];
    const bool transfers =
        request.operation.step == Step::read || request.operation.step == Step::write;
    const std::uint64_t wanted = transfers ? block_bytes_ - request.done_bytes : 0;
    if (request.result >= 0 && static_cast<std::uint64_t>(request.result) == wanted) [[likely]] {
      count(request, transfers);
    } else if (issue_again(slot, request, transfers)) {
      return;
    }
    --in_flight_;
    free_.push_back(slot);
  }

  void count(const Request& request, bool transfers) {
    if (!transfers) {
      count_sync(request.from_ns, now_ns_);
      return;
    }
    count_data(request.operation.step == Step::read ? Direction::read : Direction::write,
               request.from_ns, now_ns_);
    if (job_.paced()) result_.service.record(now_ns_ - request.issued_ns);
    clock_->count();
  }

  /// EAGAIN, cancelled, or short: the same request, or the rest of it, goes out again, and counts
  /// once. Anything else ends the job.
  bool issue_again(unsigned slot, Request& request, bool transfers) {
    const int result = request.result;
    const bool again = result == -EAGAIN || result == -EINTR || result == -ECANCELED;
    const bool rest = transfers && result > 0;
    if ((again || rest) && ++request.attempts < attempts_max && !failed()) {
      ++result_.retries;
      if (rest) {
        ++result_.short_transfers;
        request.done_bytes += static_cast<std::uint64_t>(result);
      }
      queue(slot);
      submit();
      return true;
    }
    const Step step = request.operation.step;
    give_up(step == Step::read    ? Call::read
            : step == Step::write ? Call::write
            : step == Step::sync  ? Call::fsync
                                  : Call::fdatasync,
            result < 0 ? -result : 0, request.operation.offset);
    return false;
  }

  void give_up(Call call, int error_number, std::uint64_t offset) {
    fail(call, error_number, offset);
    running_ = false;
  }

  const RingSettings& settings_;
  Ring ring_;
  std::vector<Request> requests_;
  std::vector<unsigned> free_;
  std::vector<unsigned> finished_;
  bool plain_requests_ = false;
  bool running_ = false;
  unsigned queued_ = 0;     ///< Prepared, not yet handed over.
  unsigned in_flight_ = 0;  ///< Queued or handed over, not yet counted.
  unsigned since_async_ = 0;
  std::uint64_t since_thought_ = 0;
  std::int64_t now_ns_ = 0;
  JobClock* clock_ = nullptr;
};

}  // namespace

std::unique_ptr<JobRunner> make_ring_runner(const JobPlan& plan, JobResult& result) {
  return std::make_unique<RingRunner>(plan, result);
}

}  // namespace krepro::randwrite
