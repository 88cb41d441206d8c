// The conversation of a test with one generator, with a limit on every wait.
#include "tests/conformance/generator_run.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "common/timing/clock.h"

namespace krepro::conformance {

namespace {

constexpr std::int64_t patience_ns = 60'000'000'000;

SpawnRequest control_request(const Program& program, const std::string& role) {
  SpawnRequest request;
  request.argv = {program.path(), "--role", role, "--control"};
  request.pipe_stderr = false;
  return request;
}

}  // namespace

std::string Program::path() const {
  return std::string(KREPRO_GENERATOR_DIRECTORY) + "/krepro-" + name;
}

nlohmann::json Program::describe() const {
  return nlohmann::json::parse(run(*this, {"--describe"}).out);
}

std::vector<std::string> Program::example_arguments(bool lasting) const {
  std::vector<std::string> arguments;
  const nlohmann::json options = example_options(lasting);
  for (const auto& [option, value] : options.items()) {
    std::string argument = (option.size() == 1 ? "-" : "--") + option;
    const std::string text = value.get<std::string>();
    if (!text.empty()) argument += "=" + text;
    arguments.push_back(argument);
  }
  return arguments;
}

nlohmann::json Program::example_options(bool lasting) const {
  const nlohmann::json description = describe();
  nlohmann::json options = nlohmann::json::object();
  for (const auto& pair : description.at("example"))
    options[pair.at(0).get<std::string>()] = pair.at(1);
  if (lasting) {
    for (const auto& pair : description.at("long_example")) {
      options[pair.at(0).get<std::string>()] = pair.at(1);
    }
  }
  return options;
}

std::vector<Program> programs() {
  std::vector<Program> all;
  std::istringstream names(KREPRO_GENERATOR_NAMES);
  for (std::string name; std::getline(names, name, ',');) all.push_back({name});
  return all;
}

CommandOutput run(const Program& program, const std::vector<std::string>& arguments) {
  SpawnRequest request;
  request.argv = {program.path()};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.pipe_stdin = false;
  return run_command(request, patience_ns);
}

Conversation::Conversation(const Program& program, const std::string& role)
    : program_(program),
      needs_server_(role == "load" && program.describe().at("roles").size() > 1),
      child_(Child::spawn(control_request(program, role))) {}

void Conversation::say(nlohmann::json command) {
  if (needs_server_ && command.value("cmd", "") == "configure") start_server(command);
  say_text(command.dump() + "\n");
}

void Conversation::start_server(nlohmann::json& configure) {
  server_ = std::make_unique<Conversation>(program_, "serve");
  server_->say(configure);
  const nlohmann::json ready = server_->hear("ready");
  // Options that the server refuses the load refuses too.
  if (ready.is_null()) return;
  configure["options"]["server"] = ready.at("endpoint");
  server_->say({{"cmd", "go"}, {"delay_ns", 0}});
}

void Conversation::say_text(const std::string& text) {
  [[maybe_unused]] const ssize_t written = write(child_.stdin_fd(), text.data(), text.size());
}

nlohmann::json Conversation::hear(const std::string& event) {
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  while (now_ns() < deadline_ns) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      nlohmann::json heard = nlohmann::json::parse(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      if (heard.value("event", "") == event) return heard;
      continue;
    }
    pollfd entry{child_.stdout_fd(), POLLIN, 0};
    if (poll(&entry, 1, 1000) == 0) continue;
    std::array<char, 65536> chunk{};
    const ssize_t got = read(child_.stdout_fd(), chunk.data(), chunk.size());
    if (got <= 0) return {};
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace krepro::conformance
