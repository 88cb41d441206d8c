// main() of every generator: by hand (command line, human result) or under the control protocol.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/version.h"
#include "common/generator/command_line.h"
#include "common/generator/control_channel.h"
#include "common/generator/generator.h"
#include "common/generator/json_file.h"
#include "common/generator/served_load.h"
#include "common/generator/session.h"
#include "common/generator/signals.h"

namespace krepro {

namespace {

void print_progress(const Progress& progress) {
  std::fprintf(stderr, "\r\033[K%s", progress.text.c_str());
  std::fflush(stderr);
}

const char* kind_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
      return "usage";
    case ExitCode::not_possible:
      return "not_possible";
    case ExitCode::interrupted:
      return "interrupted";
    default:
      return "failed";
  }
}

/// The whole trial after configuring, for a user at a terminal.
ExitCode run_by_hand(Generator& generator, const CommandLine& line, std::string_view source_hash) {
  Session session(generator, nullptr, source_hash);
  if (line.seed) session.set_seed(*line.seed);
  session.set_role(line.role == RoleChoice::serve ? Role::serve : Role::load);
  session.set_server(line.server);
  session.set_worker_cpus(line.worker_cpus);
  session.set_all_threads(line.all_threads);
  JsonFile json(line.json);
  session.configure(line.options);
  std::unique_ptr<ServedLoad> served;
  Sample sample;
  try {
    if (needs_own_server(generator.description(), line)) {
      served = std::make_unique<ServedLoad>(line, session);
      session.set_server(served->endpoint());
    }
    session.prepare();
    if (served) served->go();
    session.start(0);
    const bool show = !line.quiet && isatty(STDERR_FILENO) == 1;
    const Ending ending = session.wait_for_end(show ? print_progress : nullptr);
    if (show) std::fprintf(stderr, "\r\033[K");
    sample = session.finish(ending);
    if (served) sample.extra["server"] = served->stop();
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) throw;
    sample = session.never_started();
  }
  json.write(to_json(sample));
  if (!json.is_stdout()) std::fputs(generator.human_result(sample).c_str(), stdout);
  if (!sample.error.empty()) {
    std::fprintf(stderr, "krepro: %s: %s\n", sample.generator.c_str(), sample.error.c_str());
  }
  std::fflush(stdout);
  return session.exit_code(sample);
}

/// Reads commands until one of `wanted` comes; pings are answered. Throws interrupted on stop and
/// end of file.
ControlCommand expect(ControlChannel& channel, ControlCommand::Kind wanted) {
  for (;;) {
    if (!channel.buffered()) {
      std::array<pollfd, 2> entries{{{end_signal_fd(), POLLIN, 0}, {channel.in_fd(), POLLIN, 0}}};
      poll(entries.data(), entries.size(), -1);
      if (end_signal() != 0) throw Error(ExitCode::interrupted, "interrupted");
    }
    const std::optional<ControlCommand> command = channel.read_command();
    if (!command) continue;
    if (command->kind == wanted) return *command;
    if (command->kind == ControlCommand::Kind::ping) {
      channel.send("pong");
    } else if (command->kind == ControlCommand::Kind::stop ||
               command->kind == ControlCommand::Kind::end_of_file) {
      throw Error(ExitCode::interrupted, "stopped before the load started");
    } else {
      throw usage_error("control: configure or go at the wrong time");
    }
  }
}

Options options_of(const Description& description, const nlohmann::json& body, Session& session) {
  Options options(description.options);
  const nlohmann::json given = body.value("options", nlohmann::json::object());
  for (const auto& [name, value] : given.items()) {
    if (name == "seed" && description.options.find("seed") == nullptr) {
      if (!value.is_number_integer()) throw usage_error("seed: a whole number is expected");
      session.set_seed(value.get<std::uint64_t>());
    } else if (name == "server" && description.options.find("server") == nullptr) {
      session.set_server(value.get<std::string>());
    } else if (name == "worker-cpus") {
      session.set_worker_cpus(value.get<std::string>());
    } else {
      options.set_json(name, value);
    }
  }
  return options;
}

ExitCode control_trial(Generator& generator, Session& session, ControlChannel& channel) {
  using Kind = ControlCommand::Kind;
  const ControlCommand configure = expect(channel, Kind::configure);
  session.set_all_threads(configure.body.value("all_threads", false));
  session.configure(options_of(generator.description(), configure.body, session));
  session.prepare();
  channel.send("ready", generator.ready_details());
  const ControlCommand go = expect(channel, Kind::go);
  session.start(go.body.value("delay_ns", std::int64_t{0}));
  std::function<void(const Progress&)> on_tick;
  if (configure.body.value("progress", false)) {
    on_tick = [&channel](const Progress& progress) {
      channel.send("progress", {{"operations", progress.operations}, {"text", progress.text}});
    };
  }
  const Sample sample = session.finish(session.wait_for_end(on_tick));
  channel.send("sample", {{"sample", to_json(sample)}});
  return session.exit_code(sample);
}

/// Standard output belongs to the protocol: whatever a library prints must not break a line of it.
int take_over_stdout() {
  const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (protocol < 0) throw system_error("duplicate standard output", errno);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

ExitCode run_by_control(Generator& generator, const CommandLine& line, std::string_view source_hash,
                        int protocol) {
  ControlChannel channel(STDIN_FILENO, protocol);
  Session session(generator, &channel, source_hash);
  session.set_role(line.role == RoleChoice::serve ? Role::serve : Role::load);
  try {
    return control_trial(generator, session, channel);
  } catch (const Error& error) {
    channel.send(
        "error",
        {{"kind", kind_of(error.code())}, {"message", error.what()}, {"remedy", error.remedy()}});
    if (error.code() == ExitCode::interrupted) {
      channel.send("sample", {{"sample", to_json(session.never_started())}});
    }
    return error.code();
  } catch (const nlohmann::json::exception& error) {
    channel.send("error",
                 {{"kind", "usage"}, {"message", fmt::format("control: {}", error.what())}});
    return ExitCode::usage;
  }
}

void print_description(const Description& description, std::string_view source_hash) {
  nlohmann::json json = to_json(description);
  json["version"] = version;
  json["source_hash"] = source_hash;
  json["binary_hash"] = binary_hash();
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int generator_main(Generator& generator, int argc, char** argv, std::string_view source_hash) {
  const Description& description = generator.description();
  try {
    const CommandLine line = parse_command_line(description, argc, argv);
    if (line.help) {
      fmt::print("{}", help_text(description));
      return 0;
    }
    if (line.version) {
      fmt::print("krepro-{} {}\n", description.name, version);
      return 0;
    }
    if (line.describe) {
      print_description(description, source_hash);
      return 0;
    }
    // First of all descriptors: the null generator's garbage must find it (faults.cpp).
    const int protocol = line.control ? take_over_stdout() : -1;
    catch_end_signals();
    if (line.control) {
      return static_cast<int>(run_by_control(generator, line, source_hash, protocol));
    }
    return static_cast<int>(run_by_hand(generator, line, source_hash));
  } catch (const Error& error) {
    print_error("krepro: " + description.name, error);
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "krepro: %s: %s\n", description.name.c_str(), error.what());
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace krepro
