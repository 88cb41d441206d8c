// What a trial of hackbench consists of, from its options; what it needs of the machine, checked
// before anything is started. Starts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/host_files.h"
#include "common/generator/options.h"
#include "common/process/resource_limits.h"

namespace krepro::hackbench {

enum class Channel : std::uint8_t { pipe, unix_socket, inet };

struct LoadSetup {
  bool threads = false;
  Channel channel = Channel::unix_socket;
  std::uint64_t groups = 0;
  std::uint64_t fds = 0;  ///< Senders, receivers and channels of a group: as many each.
  std::uint64_t loops = 0;
  std::uint64_t datasize_bytes = 0;
  bool fifo = false;

  [[nodiscard]] std::uint64_t channels() const { return groups * fds; }
  [[nodiscard]] std::uint64_t tasks() const { return 2 * groups * fds; }
  /// Every sender of a group writes to every receiver of it, `loops` times.
  [[nodiscard]] std::uint64_t messages() const { return groups * fds * fds * loops; }
};

/// Throws usage_error where options contradict each other or the product of the counts is beyond
/// what can be counted.
[[nodiscard]] LoadSetup setup_from(const Options& options);

/// Tasks, descriptors and mappings at the peak, which is when all workers exist.
[[nodiscard]] ResourceNeeds needs_of(const LoadSetup& setup);

/// Throws not_possible that names the limit, its value and the value needed.
void require_machine(const LoadSetup& setup, const HostFiles& host = HostFiles::system());

/// The arguments of hackbench-load.
[[nodiscard]] std::vector<std::string> load_arguments(const LoadSetup& setup);

/// What is written and read, and in which order, follows from the options alone: equal digests mean
/// equal sequences of operations.
[[nodiscard]] std::uint64_t sequence_digest(const LoadSetup& setup);

/// "pipe", "socket", "inet".
[[nodiscard]] std::string channel_name(Channel channel);

}  // namespace krepro::hackbench
