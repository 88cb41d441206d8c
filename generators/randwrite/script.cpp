// Syncs and the ends of passes.
#include "generators/randwrite/script.h"

namespace krepro::randwrite {

Operation Script::take_sync() {
  sync_due_ = false;
  const bool full = fsync_every_ != 0 && since_fsync_ == fsync_every_;
  // An fsync covers what an fdatasync due at the same write would.
  if (full) since_fsync_ = 0;
  if (since_fdatasync_ == fdatasync_every_) since_fdatasync_ = 0;
  return {full ? Step::sync : Step::data_sync, 0};
}

Operation Script::finish_pass() {
  issued_in_pass_ = 0;
  if (time_based_) {
    offsets_.restart();
    return {Step::wrap, 0};
  }
  if (issued_ >= operations_) return {Step::end, 0};
  if (repeat_) {
    offsets_.rewind();
  } else {
    offsets_.restart();
  }
  return {Step::reopen, 0};
}

}  // namespace krepro::randwrite
