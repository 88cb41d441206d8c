// Where generators and profiles are, and what the generators say of themselves.
#include "suite/catalog/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/child.h"

namespace krepro {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t describe_timeout_ns = 5'000'000'000;
constexpr std::size_t describe_bytes_max = 4U << 20U;
constexpr std::string_view program_prefix = "krepro-";

/// Programs of the suite itself that carry the prefix.
constexpr std::string_view not_generators[] = {"krepro-agent"};

/// The names of generators/*/ in the source tree, as the build saw them.
std::vector<std::string> names_of_the_source_tree() {
  std::vector<std::string> names;
  const std::string_view all = KREPRO_KNOWN_GENERATORS;
  std::size_t begin = 0;
  while (begin < all.size()) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    names.emplace_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

bool is_program(const fs::directory_entry& entry) {
  std::error_code problem;
  const std::string name = entry.path().filename().string();
  return name.starts_with(program_prefix) && name.find('.') == std::string::npos &&
         std::find(std::begin(not_generators), std::end(not_generators), name) ==
             std::end(not_generators) &&
         entry.is_regular_file(problem) && access(entry.path().c_str(), X_OK) == 0;
}

std::vector<fs::path> programs_in(const fs::path& directory) {
  std::vector<fs::path> programs;
  std::error_code problem;
  fs::directory_iterator entry(directory, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    if (is_program(*entry)) programs.push_back(entry->path());
  }
  std::sort(programs.begin(), programs.end());
  return programs;
}

std::string name_of(const fs::path& program) {
  return program.filename().string().substr(program_prefix.size());
}

/// What the program prints on --describe. Throws usage_error with the reason where it does not.
std::string ask(const fs::path& program) {
  SpawnRequest request;
  request.argv = {program.string(), "--describe"};
  request.pipe_stdin = false;
  const CommandOutput output = run_command(request, describe_timeout_ns, describe_bytes_max);
  if (output.timed_out) {
    throw usage_error(fmt::format("gives no answer to --describe within {} s",
                                  describe_timeout_ns / 1'000'000'000));
  }
  if (!output.end.exited() || output.end.exit_code() != 0) {
    const std::string line = output.err.substr(0, output.err.find('\n'));
    throw usage_error(fmt::format("fails on --describe: {}{}", output.end.describe(),
                                  line.empty() ? "" : fmt::format(", \"{}\"", line)));
  }
  return output.out;
}

MetricInfo read_metric(const nlohmann::json& json) {
  MetricInfo metric;
  metric.name = json.at("name").get<std::string>();
  metric.unit = json.value("unit", "");
  metric.higher_is_better = json.at("better").get<std::string>() == "higher";
  metric.primary = json.value("primary", false);
  metric.help = json.value("help", "");
  return metric;
}

/// OptionTable takes two options of one name for an error of the programmer; here it is another
/// program's.
void refuse_repeated_names(const nlohmann::json& options) {
  std::vector<std::string> names;
  for (const nlohmann::json& option : options) {
    names.push_back(option.at("name").get<std::string>());
    for (const nlohmann::json& alias : option.value("aliases", nlohmann::json::array())) {
      names.push_back(alias.get<std::string>());
    }
  }
  for (std::string& name : names) std::replace(name.begin(), name.end(), '_', '-');
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw usage_error(fmt::format("describes option {} twice", *twice));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

const MetricInfo* GeneratorInfo::primary_metric() const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [](const MetricInfo& metric) { return metric.primary; });
  return found == metrics.end() ? nullptr : &*found;
}

bool GeneratorInfo::has_role(const std::string& role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

bool GeneratorInfo::names_a_server(const nlohmann::json& given) const {
  if (!has_role("serve")) return false;
  for (const auto& [name, value] : given.items()) {
    const Option* option = options.find(name);
    if (option == nullptr || !value.is_string()) continue;
    if (option->name == positional) return true;
    // An option of this name chooses the kind of server, and an endpoint may stand for it.
    const bool endpoint = value.get<std::string>().find("://") != std::string::npos;
    if (option->name == "server" && endpoint) return true;
  }
  return false;
}

const GeneratorInfo* Catalog::find(const std::string& name) const {
  const auto found =
      std::find_if(generators.begin(), generators.end(),
                   [&](const GeneratorInfo& generator) { return generator.name == name; });
  return found == generators.end() ? nullptr : &*found;
}

std::string Catalog::reason_for_absence(const std::string& name) const {
  for (const BrokenGenerator& each : broken) {
    if (each.name == name) return fmt::format("generator \"{}\" {}", name, each.reason);
  }
  std::vector<std::string> names;
  for (const GeneratorInfo& generator : generators) names.push_back(generator.name);
  return fmt::format("generator \"{}\" is not built here (there are: {})", name,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

GeneratorInfo parse_description(const std::string& name, const std::string& text) {
  GeneratorInfo generator;
  try {
    generator.described = nlohmann::json::parse(text);
    const nlohmann::json& json = generator.described;
    generator.name = json.at("name").get<std::string>();
    generator.summary = json.at("summary").get<std::string>();
    generator.roles = json.at("roles").get<std::vector<std::string>>();
    generator.positional = json.value("positional", "");
    for (const nlohmann::json& metric : json.at("metrics")) {
      generator.metrics.push_back(read_metric(metric));
    }
    refuse_repeated_names(json.at("options"));
    generator.options = OptionTable::from_json(json.at("options"));
    (void)Options(generator.options);  // its defaults must be values of its options
    generator.original = json.value("original", nlohmann::json());
    generator.source_hash = json.value("source_hash", "");
    generator.binary_hash = json.value("binary_hash", "");
  } catch (const nlohmann::json::parse_error&) {
    throw usage_error("does not print JSON on --describe");
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format("describes itself wrongly: {}", error.what()));
  }
  if (generator.name != name) {
    throw usage_error(fmt::format("describes itself as \"{}\"", generator.name));
  }
  if (generator.primary_metric() == nullptr) throw usage_error("has no primary metric");
  return generator;
}

Catalog read_catalog(const fs::path& generators_directory, const fs::path& profiles_directory) {
  Catalog catalog;
  catalog.generators_directory = generators_directory;
  catalog.profiles_directory = profiles_directory;
  catalog.known_names = names_of_the_source_tree();
  for (const fs::path& program : programs_in(generators_directory)) {
    const std::string name = name_of(program);
    try {
      GeneratorInfo generator = parse_description(name, ask(program));
      generator.path = program;
      catalog.generators.push_back(std::move(generator));
    } catch (const Error& error) {
      catalog.broken.push_back({name, program, error.what()});
    }
  }
  return catalog;
}

fs::path program_directory() {
  // Not HostFiles::system(): a fixture's /proc knows nothing of this process.
  const auto program = HostFiles("/").read_link("/proc/self/exe");
  return program ? fs::path(*program).parent_path() : fs::current_path();
}

fs::path find_generators_directory() {
  const std::string chosen = environment("KREPRO_GENERATORS");
  if (!chosen.empty()) return chosen;
  const fs::path beside = program_directory();
  const fs::path installed = beside.parent_path() / "libexec" / "krepro";
  std::error_code problem;
  return fs::is_directory(installed, problem) ? installed : beside;
}

fs::path find_profiles_directory() {
  const std::string chosen = environment("KREPRO_PROFILES");
  if (!chosen.empty()) return chosen;
  const fs::path installed = program_directory().parent_path() / "share" / "krepro" / "profiles";
  std::error_code problem;
  return fs::is_directory(installed, problem) ? installed : fs::path(KREPRO_SOURCE_PROFILES);
}

Catalog find_catalog() {
  return read_catalog(find_generators_directory(), find_profiles_directory());
}

fs::path find_generator_program(const std::string& name) {
  const std::vector<fs::path> programs = programs_in(find_generators_directory());
  std::vector<std::string> names;
  for (const fs::path& program : programs) {
    if (name_of(program) == name) return program;
    names.push_back(name_of(program));
  }
  const std::vector<std::string> known = names_of_the_source_tree();
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    throw not_possible(fmt::format("generator \"{}\" is not built here", name),
                       "a library that it needs was missing when krepro was built");
  }
  const std::string near = nearest(name, names);
  throw usage_error(fmt::format("no command or generator \"{}\"", name),
                    near.empty() ? fmt::format("generators: {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace krepro
