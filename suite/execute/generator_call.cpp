// Finding and executing a generator's program; nothing here asks it to describe itself.
#include "suite/execute/generator_call.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "common/base/error.h"
#include "suite/catalog/catalog.h"

namespace krepro {
namespace {

constexpr std::string_view program_prefix = "krepro-";

/// By their file names alone: a misspelt word must not start every generator.
std::vector<std::string> generator_names(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(program_prefix)) names.push_back(name.substr(program_prefix.size()));
  }
  return names;
}

}  // namespace

void hand_over(const GeneratorCall& call, const std::vector<std::string>& commands) {
  const std::filesystem::path directory = find_generators_directory();
  const std::filesystem::path program = directory / (std::string(program_prefix) + call.name);
  std::error_code error;
  const bool plain = call.name.find('/') == std::string::npos;
  if (!plain || !std::filesystem::is_regular_file(program, error)) {
    std::vector<std::string> known = commands;
    for (std::string& name : generator_names(directory)) known.push_back(std::move(name));
    const std::string near = nearest(call.name, known);
    if (!near.empty()) {
      throw usage_error(fmt::format("unknown command or generator \"{}\"", call.name),
                        fmt::format("did you mean \"{}\"?", near));
    }
    // Knows which generators exist but are not built here.
    static_cast<void>(find_generator_program(call.name));
    throw usage_error(fmt::format("unknown command or generator \"{}\"", call.name),
                      "krepro help, krepro list");
  }
  std::fflush(nullptr);
  std::string path = program.string();
  std::vector<std::string> words = call.arguments;
  std::vector<char*> argv = {path.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  throw system_error(fmt::format("cannot run {}", path), errno);
}

}  // namespace krepro
