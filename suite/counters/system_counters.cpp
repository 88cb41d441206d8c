// Reading of the kernel's text files of sums.
#include "suite/counters/system_counters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "common/base/kernel_text.h"

namespace krepro {
namespace {

using NamePair = std::pair<std::string_view, const char*>;

/// Lines "NAME: n n n ... TEXT" of /proc/interrupts and /proc/softirqs.
struct PerCpuLine {
  std::string_view name;
  std::int64_t sum = 0;
  std::string_view last_word;  ///< Behind the numbers; empty where nothing is.
};

PerCpuLine per_cpu_line(std::string_view line) {
  PerCpuLine result;
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty() || !words[0].ends_with(':')) return result;
  result.name = words[0].substr(0, words[0].size() - 1);
  std::size_t i = 1;
  for (; i < words.size(); ++i) {
    const auto value = number_in(words[i]);
    if (!value) break;
    result.sum += static_cast<std::int64_t>(*value);
  }
  if (i < words.size()) result.last_word = words.back();
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

/// "nvme0q12" -> "nvme0q", "virtio1-req.0" -> "virtio1-req", "eth0-TxRx-3" -> "eth0-TxRx".
std::string without_queue(std::string_view device) {
  const std::size_t end = device.find_last_not_of("0123456789");
  if (end == std::string_view::npos) return std::string(device);
  const std::string_view stem = device.substr(0, end + 1);
  // "eth0": its number names the device, and not a queue.
  const bool numbered = std::any_of(stem.begin(), stem.end(), [](char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
  });
  if (!numbered) return std::string(device);
  return std::string(stem.substr(0, stem.find_last_not_of("-._") + 1));
}

/// The architectures' own interrupts, x86 and Arm, as far as schedulers are concerned.
constexpr std::array<NamePair, 12> kernel_interrupts = {{{"LOC", "local_timer"},
                                                         {"RES", "reschedule"},
                                                         {"CAL", "function_call"},
                                                         {"TLB", "tlb_shootdown"},
                                                         {"NMI", "nmi"},
                                                         {"PMI", "performance_monitoring"},
                                                         {"IWI", "irq_work"},
                                                         {"TRM", "thermal"},
                                                         {"IPI0", "reschedule"},
                                                         {"IPI1", "function_call"},
                                                         {"IPI4", "broadcast_timer"},
                                                         {"IPI5", "irq_work"}}};

std::string interrupt_name(const PerCpuLine& line) {
  for (const auto& [name, ours] : kernel_interrupts) {
    if (line.name == name) return ours;
  }
  if (number_in(line.name)) {
    return line.last_word.empty() ? "irq" + std::string(line.name) : without_queue(line.last_word);
  }
  return lower_case(line.name);
}

bool is_event(std::string_view name) {
  if (name == "nr_dirtied" || name == "nr_written") return true;
  return !name.starts_with("nr_") && name != "workingset_nodes";
}

constexpr std::array<NamePair, 12> tcp_names = {{{"ActiveOpens", "tcp_active_opens"},
                                                 {"PassiveOpens", "tcp_passive_opens"},
                                                 {"AttemptFails", "tcp_failed_opens"},
                                                 {"EstabResets", "tcp_resets"},
                                                 {"InSegs", "tcp_segments_in"},
                                                 {"OutSegs", "tcp_segments_out"},
                                                 {"RetransSegs", "tcp_retransmits"},
                                                 {"ListenOverflows", "tcp_listen_overflows"},
                                                 {"ListenDrops", "tcp_listen_drops"},
                                                 {"TCPTimeouts", "tcp_timeouts"},
                                                 {"DelayedACKs", "tcp_delayed_acks"},
                                                 {"TCPBacklogDrop", "tcp_backlog_drops"}}};
constexpr std::array<NamePair, 4> udp_names = {{{"InDatagrams", "udp_datagrams_in"},
                                                {"OutDatagrams", "udp_datagrams_out"},
                                                {"RcvbufErrors", "udp_receive_drops"},
                                                {"SndbufErrors", "udp_send_drops"}}};

template <std::size_t Size>
void take_names(const std::vector<std::string_view>& names,
                const std::vector<std::string_view>& values,
                const std::array<NamePair, Size>& wanted, CounterGroup& group) {
  for (std::size_t i = 1; i < names.size() && i < values.size(); ++i) {
    for (const auto& [name, ours] : wanted) {
      const auto value = names[i] == name ? number_in(values[i]) : std::nullopt;
      if (value) group.values[ours] = static_cast<std::int64_t>(*value);
    }
  }
}

/// Pairs of lines: "Tcp: NAMES", "Tcp: VALUES".
void take_line_pairs(std::string_view text, CounterGroup& group) {
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    const std::vector<std::string_view> names = words_of(lines[i]);
    const std::vector<std::string_view> values = words_of(lines[i + 1]);
    if (names.empty() || values.empty() || names[0] != values[0]) continue;
    if (names[0] == "Tcp:" || names[0] == "TcpExt:") take_names(names, values, tcp_names, group);
    if (names[0] == "Udp:") take_names(names, values, udp_names, group);
  }
}

/// Columns of /proc/diskstats behind the name, the unit's factor, and our name.
struct DiskColumn {
  std::size_t column;
  std::int64_t factor;
  const char* name;
};
constexpr std::int64_t sector_bytes = 512;
constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::array<DiskColumn, 10> disk_columns = {{{0, 1, "reads"},
                                                      {2, sector_bytes, "read_bytes"},
                                                      {3, ns_per_ms, "read_time_ns"},
                                                      {4, 1, "writes"},
                                                      {6, sector_bytes, "written_bytes"},
                                                      {7, ns_per_ms, "write_time_ns"},
                                                      {9, ns_per_ms, "busy_ns"},
                                                      {11, 1, "discards"},
                                                      {15, 1, "flushes"},
                                                      {16, ns_per_ms, "flush_time_ns"}}};

}  // namespace

CounterGroup read_vmstat(const HostFiles& host) {
  CounterGroup group;
  int error_number = 0;
  const std::string text = host.read("/proc/vmstat", &error_number).value_or("");
  if (error_number != 0) group.problem = "/proc/vmstat: " + reason_text(error_number);
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 2 || !is_event(words[0])) continue;
    const auto value = number_in(words[1]);
    if (value) group.values[std::string(words[0])] = static_cast<std::int64_t>(*value);
  }
  return group;
}

CounterGroup read_softirqs(const HostFiles& host) {
  CounterGroup group;
  int error_number = 0;
  const std::string text = host.read("/proc/softirqs", &error_number).value_or("");
  if (error_number != 0) group.problem = "/proc/softirqs: " + reason_text(error_number);
  for (const std::string_view line : lines_of(text)) {
    const PerCpuLine found = per_cpu_line(line);
    if (!found.name.empty()) group.values[lower_case(found.name)] = found.sum;
  }
  return group;
}

CounterGroup read_interrupts(const HostFiles& host) {
  CounterGroup group;
  int error_number = 0;
  const std::string text = host.read("/proc/interrupts", &error_number).value_or("");
  if (error_number != 0) group.problem = "/proc/interrupts: " + reason_text(error_number);
  for (const std::string_view line : lines_of(text)) {
    const PerCpuLine found = per_cpu_line(line);
    if (!found.name.empty()) group.values[interrupt_name(found)] += found.sum;
  }
  return group;
}

CounterGroup read_network(const HostFiles& host) {
  CounterGroup group;
  int error_number = 0;
  for (const char* file : {"/proc/net/snmp", "/proc/net/netstat"}) {
    const auto text = host.read(file, &error_number);
    if (!text) group.problem = std::string(file) + ": " + reason_text(error_number);
    take_line_pairs(text.value_or(""), group);
  }
  return group;
}

std::vector<std::string> whole_disks(const HostFiles& host) { return host.list("/sys/block"); }

std::map<std::string, CounterGroup> read_disks(const HostFiles& host,
                                               const std::vector<std::string>& devices) {
  std::map<std::string, CounterGroup> disks;
  const std::string text = host.read("/proc/diskstats").value_or("");
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 4) continue;
    const std::string name(words[2]);
    if (!std::binary_search(devices.begin(), devices.end(), name)) continue;
    CounterGroup& disk = disks[name];
    for (const DiskColumn& column : disk_columns) {
      if (column.column + 3 >= words.size()) continue;
      const auto value = number_in(words[column.column + 3]);
      if (value) disk.values[column.name] = static_cast<std::int64_t>(*value) * column.factor;
    }
  }
  return disks;
}

}  // namespace krepro
