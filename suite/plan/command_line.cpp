// A benchmark as one would type it in a shell.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/check.h"
#include "common/generator/options.h"
#include "suite/original/original.h"
#include "suite/plan/plan_command.h"

namespace krepro {

namespace {

/// Our generator's arguments: every option by its long name.
std::vector<std::string> own_arguments(const nlohmann::json& options,
                                       const GeneratorInfo* generator) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : options.items()) {
    const Option* option = generator == nullptr ? nullptr : generator->options.find(name);
    const bool carries_value = option != nullptr && option->optional_value;
    if (value.is_boolean() && !carries_value) {
      if (value.get<bool>()) arguments.push_back(fmt::format("--{}", name));
    } else if (value.is_boolean()) {
      arguments.push_back(fmt::format("--{}={}", name, value.get<bool>() ? 1 : 0));
    } else if (value.is_array()) {
      for (const nlohmann::json& element : value) {
        arguments.push_back(fmt::format("--{}={}", name, value_text(element)));
      }
    } else {
      arguments.push_back(fmt::format("--{}={}", name, value_text(value)));
    }
  }
  return arguments;
}

/// A memory policy as numactl(8) has it: "bind:0" -> numactl --membind=0.
std::vector<std::string> numactl_words(const std::string& policy) {
  const std::size_t colon = policy.find(':');
  const std::string mode = policy.substr(0, colon);
  const std::string nodes = colon == std::string::npos ? "" : policy.substr(colon + 1);
  if (mode == "bind") return {"numactl", "--membind=" + nodes};
  if (mode == "interleave") return {"numactl", "--interleave=" + nodes};
  if (mode == "preferred") return {"numactl", "--preferred=" + nodes};
  if (mode == "local") return {"numactl", "--localalloc"};
  return {};
}

std::vector<std::string> words_of(const Benchmark& benchmark, const GeneratorInfo* generator) {
  if (benchmark.upstream) {
    KREPRO_CHECK(generator != nullptr);
    const OriginalProgram original = OriginalProgram::from_description(generator->described);
    return original.command(original.arguments_from_json(benchmark.options));
  }
  std::vector<std::string> words = {"krepro", benchmark.generator};
  for (std::string& word : own_arguments(benchmark.options, generator)) {
    words.push_back(std::move(word));
  }
  if (benchmark.cpus.contains("serve")) {
    words.push_back(fmt::format("--server-cpus={}", benchmark.cpus.at("serve").get<std::string>()));
  }
  for (const auto& [role, option] :
       {std::pair{"load", "--worker-cpus"}, {"serve", "--server-worker-cpus"}}) {
    const std::string order = benchmark.worker_cpus.value(role, "");
    if (!order.empty()) words.push_back(fmt::format("{}={}", option, order));
  }
  return words;
}

}  // namespace

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result(1, '\'');
  for (const char character : word) {
    if (character == '\'') {
      result += "'\\''";
    } else {
      result += character;
    }
  }
  result += '\'';
  return result;
}

std::vector<std::string> command_words(const Benchmark& benchmark, const Catalog& catalog) {
  std::vector<std::string> words;
  if (benchmark.cpus.contains("load")) {
    words = {"taskset", "-c", benchmark.cpus.at("load").get<std::string>()};
  }
  const std::vector<std::string> memory = numactl_words(benchmark.memory_policy.value("load", ""));
  words.insert(words.end(), memory.begin(), memory.end());
  for (const std::string& word : words_of(benchmark, catalog.find(benchmark.generator))) {
    words.push_back(shell_quoted(word));
  }
  return words;
}

std::string command_line(const Benchmark& benchmark, const Catalog& catalog) {
  return fmt::format("{}", fmt::join(command_words(benchmark, catalog), " "));
}

}  // namespace krepro
