#include "suite/bundle/like.h"

#include <fmt/core.h>

#include <cstdio>
#include <fstream>

#include "common/base/error.h"
#include "suite/bundle/bundle.h"

namespace krepro {
namespace {

using nlohmann::json;

std::vector<std::string> texts_of(const json& settings, const char* key) {
  std::vector<std::string> texts;
  const auto list = settings.find(key);
  if (list == settings.end() || !list->is_array()) return texts;
  for (const json& text : *list) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

/// Label, kernel and boots differ between the runs of a bundle; what was run must not.
void check_one_plan(const Bundle& bundle, const std::filesystem::path& path) {
  const RunFile& first = bundle.runs.front();
  for (const RunFile& run : bundle.runs) {
    const auto same = [&](const char* key) {
      return run.run.value(key, json()) == first.run.value(key, json());
    };
    if (same("profile") && same("settings")) continue;
    throw usage_error(
        fmt::format("{}: its runs differ in profile or settings: {} and {}", path.string(),
                    first.path.filename().string(), run.path.filename().string()),
        "unpack it (tar --zstd -xf) and run its profiles one by one");
  }
}

std::filesystem::path write_profile(const json& profile, const std::filesystem::path& bundle) {
  std::string name = bundle.filename().string();
  name = name.substr(0, name.find('.'));
  const std::filesystem::path directory = default_results_directory;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const std::filesystem::path path = directory / ("like-" + name + ".toml");
  const std::string text = profile.value("text", std::string());
  if (text.empty()) throw usage_error(fmt::format("{}: holds no profile", bundle.string()));
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) throw system_error(fmt::format("cannot write {}", path.string()), errno);
  return path;
}

bool has_settings(const RunArguments& arguments) {
  const PlanSettings& settings = arguments.settings;
  return !arguments.profile.empty() || !settings.only.empty() || settings.repetitions ||
         settings.warmups || settings.seed || settings.fit || !arguments.runtime.empty();
}

}  // namespace

RunArguments like_bundle(const std::filesystem::path& path, RunArguments arguments) {
  if (has_settings(arguments)) {
    throw usage_error(
        "run: --like repeats the bundle's plan exactly; only --set, --label, --out, "
        "--quiet and the timeouts go with it");
  }
  const Bundle bundle = read_bundle(path);
  check_one_plan(bundle, path);
  const RunFile& run = bundle.runs.front();
  const json settings = run.run.value("settings", json::object());
  arguments.profile = write_profile(run.run.value("profile", json::object()), path).string();
  // A device of this machine replaces the reporter's.
  std::vector<std::string> parameters = texts_of(settings, "set");
  parameters.insert(parameters.end(), arguments.settings.parameters.begin(),
                    arguments.settings.parameters.end());
  arguments.settings.parameters = parameters;
  arguments.settings.only = texts_of(settings, "only");
  arguments.settings.fit = settings.value("fit", false);
  arguments.settings.order = parse_order(settings.value("order", std::string("interleaved")));
  arguments.settings.seed = run.plan.seed;
  const auto count = [&](const char* key) -> std::optional<std::int64_t> {
    const auto value = settings.find(key);
    if (value == settings.end() || !value->is_number_integer()) return std::nullopt;
    return value->get<std::int64_t>();
  };
  arguments.settings.repetitions = count("repetitions");
  arguments.settings.warmups = count("warmups");
  arguments.runtime = settings.value("runtime", std::string());
  if (!arguments.quiet) {
    fmt::print(stderr, "like {}: {} on {}\n", path.filename().string(),
               run.plan.profile_name.empty() ? "a profile" : run.plan.profile_name,
               run.run.value("machine", std::string("an unknown machine")));
  }
  return arguments;
}

}  // namespace krepro
