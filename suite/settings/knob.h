// The kernel's files behind settings: which ones a setting means on this machine, how a value is
// written and how it is read back. Nothing here remembers what was before: settings_keeper.h does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/host_files.h"
#include "suite/settings/setting.h"

namespace krepro {

/// One file that a setting writes, or one word of it.
struct Knob {
  std::string path;
  std::string feature;  ///< Of sched/features: "NEXT_BUDDY"; empty: the whole file.
};

/// Reading and writing of knobs below one root. A test may put a kernel of its own behind write().
class KnobAccess {
 public:
  explicit KnobAccess(HostFiles host = HostFiles::system()) : host_(std::move(host)) {}
  KnobAccess(const KnobAccess&) = default;
  KnobAccess& operator=(const KnobAccess&) = default;
  virtual ~KnobAccess() = default;

  [[nodiscard]] const HostFiles& host() const { return host_; }
  /// In one write, as the kernel wants it; 0 or errno.
  [[nodiscard]] virtual int write(const std::string& path, const std::string& text) const;
  /// The value as it would be written: of "none [mq-deadline]" and "none (full)" the word that is
  /// marked, of sched/features "NEXT_BUDDY" or "NO_NEXT_BUDDY", else the text with single spaces.
  /// Nothing where it cannot be read (`error_number`, if given, says why: 0 where the feature is
  /// not there).
  [[nodiscard]] std::optional<std::string> read(const Knob& knob,
                                                int* error_number = nullptr) const;

 private:
  HostFiles host_;
};

/// What is to be written where.
struct KnobWrite {
  Knob knob;
  std::string value;
};

/// Everything that a setting of kind `host` writes here; settings such as `governor` have a file
/// per CPU. Throws not_possible where this machine has nothing of the kind, with what to do.
[[nodiscard]] std::vector<KnobWrite> knob_writes(const Setting& setting, const KnobAccess& access);

/// "3" and "3", "4096 131072" and "4096\t131072", "1" and "01".
[[nodiscard]] bool same_value(const std::string& left, const std::string& right);

}  // namespace krepro
