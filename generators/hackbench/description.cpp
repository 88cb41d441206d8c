// The tables behind --describe; see description.h.
#include "generators/hackbench/description.h"

#include <fmt/format.h>

#include <array>

#include "generators/hackbench/details.h"

namespace krepro::hackbench {

namespace {

Option flag(std::string name, std::vector<std::string> aliases, std::string help) {
  Option option;
  option.name = std::move(name);
  option.aliases = std::move(aliases);
  option.type = OptionType::flag;
  option.help = std::move(help);
  return option;
}

Option count(std::string name, std::vector<std::string> aliases, std::string default_text,
             double max, std::string help) {
  Option option = flag(std::move(name), std::move(aliases), std::move(help));
  option.type = OptionType::integer;
  option.default_text = std::move(default_text);
  option.min = 1;
  option.max = max;
  return option;
}

/// Names and defaults of rt-tests 2.4; among the aliases those of `perf bench sched messaging`.
std::vector<Option> options() {
  Option datasize =
      count("datasize", {"s"}, "100", 1U << 30U, "size of a message (perf bench: always 100)");
  datasize.type = OptionType::bytes;
  datasize.unit = "bytes";
  return {
      count("groups", {"g", "group"}, "10", 1e7, "groups of senders and receivers"),
      count("fds", {"f"}, "20", 1e6, "senders, and as many receivers, in a group"),
      count("loops", {"l", "nr-loops"}, "100", 4294967295.0,
            "messages of each sender to each receiver"),
      datasize,
      flag("pipe", {"p"}, "send over pipes (default: AF_UNIX stream sockets)"),
      flag("inet", {"i"}, "send over TCP connections on 127.0.0.1"),
      flag("threads", {"T", "thread", "t"}, "workers are threads of one process"),
      flag("process", {"P", "processes"}, "workers are processes (default)"),
      flag("fifo", {"F"}, "SCHED_FIFO for the main task, once it has made the workers"),
  };
}

std::vector<MetricDescription> metrics() {
  return {
      {"seconds", "s", false, true, "from the start signal until the last worker is reaped"},
      {"messages/s", "1/s", true, false, "messages passed, over that time"},
      {"switches/message", "1", false, false,
       "context switches of the workers (threads: of the process), voluntary and involuntary"},
      {"user_time/message", "ns", false, false, "CPU time of the same in user mode"},
      {"system_time/message", "ns", false, false, "CPU time of the same in the kernel"},
  };
}

/// One mode at one number of groups. Loops are such that a run takes about half a second on one
/// CPU of 2020, so that the original's clock of 1 ms is a fifth of a percent.
struct Mode {
  const char* name;
  bool threads;
  bool pipe;
  std::uint64_t loops_of_one_group;
};

FidelityRow row(const Mode& mode, std::uint64_t groups) {
  constexpr std::uint64_t fds = 20;
  const std::uint64_t loops = mode.loops_of_one_group / groups;
  FidelityRow result;
  result.name = fmt::format("{} g={}", mode.name, groups);
  result.options = {{"groups", std::to_string(groups)}, {"loops", std::to_string(loops)}};
  if (mode.threads) {
    result.options.emplace_back("threads", "");
  }
  if (mode.pipe) {
    result.options.emplace_back("pipe", "");
  }
  result.operations = static_cast<double>(groups * fds * fds * loops);
  return result;
}

Original original() {
  constexpr std::array<Mode, 4> modes{{{"process pipe", false, true, 4000},
                                       {"process socket", false, false, 1600},
                                       {"thread pipe", true, true, 4000},
                                       {"thread socket", true, false, 1600}}};
  Original result;
  result.program = "hackbench";
  result.package = "rt-tests";
  result.version_arguments = {"--help"};
  result.figures = {{"seconds", "Time: ([0-9]+[.][0-9]+)", 1}};
  for (const Mode& mode : modes) {
    for (const std::uint64_t groups : {1U, 4U, 8U}) {
      result.rows.push_back(row(mode, groups));
    }
  }
  result.scaling_option = "loops";
  result.operation = "message";
  return result;
}

Description describe() {
  return {
      .name = "hackbench",
      .summary = "Groups of senders and receivers that pass messages: the scheduler's wake-ups.",
      .details = details,
      .metrics = metrics(),
      .options = OptionTable(options()),
      .roles = {"load"},
      .example = {{"groups", "2"}, {"loops", "50"}, {"pipe", ""}},
      .long_example = {{"loops", "10000000"}},
      .original = original(),
      .positional = "",
  };
}

}  // namespace

const Description& description() {
  static const Description result = describe();
  return result;
}

}  // namespace krepro::hackbench
