// The keys of a profile: which there are, of which type and range, and what they become. Options
// are kept as typed; suite/plan checks them against the generator that is to take them.
#include "suite/profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/generator/options.h"
#include "suite/profile/table_reader.h"
#include "suite/profile/toml_tree.h"

namespace krepro {

namespace {

constexpr std::int64_t repetitions_max = 10'000;
constexpr std::int64_t warmups_max = 1'000;
constexpr std::int64_t machine_count_max = 1'000'000;
constexpr double expected_seconds_max = 7 * 86'400.0;

/// The value of a default as the generators' options would have to read it; wrong units are said
/// here, where no generator is needed to know them.
void check_default(const std::string& key, const ProfileValue& value, ProfileErrors& errors) {
  if (!value.value.is_string() && !value.value.is_number()) {
    errors.add(value.position,
               fmt::format("{} in [defaults] is {}; expected a number or a string", key,
                           value.value.is_boolean() ? "a boolean" : "an array"));
    return;
  }
  const std::string text = value_text(value.value);
  if (text.find("${") != std::string::npos) return;  // checked when the parameter is filled in
  try {
    if (key == "runtime") {
      (void)parse_duration_ns(text);
    } else if (key == "rate") {
      (void)parse_rate(text);
    } else if (parse_count(text) == 0 && key != "seed") {
      errors.add(value.position, fmt::format("{} in [defaults] is 0; expected 1 or more", key));
    }
  } catch (const Error& error) {
    errors.add(value.position, fmt::format("{} in [defaults]: {}", key, error.what()),
               error.remedy());
  }
}

void read_defaults(const TomlNode& table, Profile& profile, ProfileErrors& errors) {
  TableReader reader(table, "[defaults]", errors);
  if (const auto count = reader.integer("repetitions", 1, repetitions_max)) {
    profile.repetitions = *count;
  }
  if (const auto count = reader.integer("warmups", 0, warmups_max)) profile.warmups = *count;
  for (const char* key : {"runtime", "seed", "connections", "rate", "threads"}) {
    if (const auto value = reader.value(key)) {
      check_default(key, *value, errors);
      profile.defaults[key] = *value;
    }
  }
  reader.finish();
}

void read_machine_expectation(const TomlNode& table, MachineExpectation& machine,
                              ProfileErrors& errors) {
  TableReader reader(table, "[machine]", errors);
  machine.cpus = reader.integer("cpus", 1, machine_count_max);
  machine.llcs = reader.integer("llcs", 1, machine_count_max);
  machine.cores = reader.integer("cores", 1, machine_count_max);
  machine.numa_nodes = reader.integer("numa_nodes", 1, machine_count_max);
  machine.packages = reader.integer("packages", 1, machine_count_max);
  machine.smt = reader.flag("smt");
  if (const auto text = reader.text("architecture")) machine.architecture = text->text;
  if (const auto text = reader.text("name")) machine.name = text->text;
  reader.finish();
}

/// A scalar as it would be written into the kernel's file; reports and returns nothing otherwise.
std::optional<ProfileText> setting_value(const TomlNode& node, const std::string& name,
                                         ProfileErrors& errors) {
  const nlohmann::json& scalar = node.scalar;
  const bool usable = node.kind == TomlNode::Kind::scalar &&
                      (scalar.is_string() || scalar.is_boolean() || scalar.is_number_integer());
  if (!usable) {
    errors.add(node.position,
               fmt::format("settings.{} is {}; expected a string, an integer, true or false, or an "
                           "array of these",
                           name, describe_type(node)));
    return std::nullopt;
  }
  if (scalar.is_boolean()) return ProfileText{scalar.get<bool>() ? "1" : "0", node.position};
  return ProfileText{scalar.is_string() ? scalar.get<std::string>() : scalar.dump(), node.position};
}

void read_settings(const TomlNode& table, Profile& profile, ProfileErrors& errors) {
  for (const TomlEntry& entry : table.entries) {
    ProfileSetting setting;
    setting.name = {entry.key, entry.position};
    setting.axis = entry.value.kind == TomlNode::Kind::array;
    std::vector<TomlNode> nodes = entry.value.elements;
    if (!setting.axis) nodes = {entry.value};
    if (nodes.empty()) {
      errors.add(entry.value.position, fmt::format("settings.{} is empty", entry.key));
    }
    std::set<std::string> seen;
    for (const TomlNode& node : nodes) {
      const auto value = setting_value(node, entry.key, errors);
      if (!value) continue;
      if (!seen.insert(value->text).second) {
        errors.add(node.position,
                   fmt::format("settings.{} has \"{}\" twice", entry.key, value->text));
      }
      setting.values.push_back(*value);
    }
    profile.settings.push_back(std::move(setting));
  }
}

void read_parameter(const TomlEntry& entry, Profile& profile, ProfileErrors& errors) {
  const std::string where = fmt::format("[parameters] {}", entry.key);
  if (entry.value.kind != TomlNode::Kind::table) {
    errors.add(entry.value.position,
               fmt::format("{} is {}; expected {{ help = \"...\", required = true }} or {{ help = "
                           "\"...\", default = \"...\" }}",
                           where, describe_type(entry.value)));
    return;
  }
  TableReader reader(entry.value, where, errors);
  ProfileParameter parameter;
  parameter.position = entry.position;
  reader.require("help", "a string that says what to give");
  if (const auto help = reader.text("help")) parameter.help = help->text;
  parameter.required = reader.flag("required").value_or(false);
  if (const TomlEntry* value = reader.take("default")) {
    if (value->value.kind != TomlNode::Kind::scalar) {
      errors.add(value->value.position,
                 fmt::format("default of {} is {}; expected a string, a number, true or false",
                             where, describe_type(value->value)));
    } else {
      const nlohmann::json& scalar = value->value.scalar;
      parameter.default_value = scalar.is_string() ? scalar.get<std::string>() : scalar.dump();
    }
    if (parameter.required) {
      errors.add(value->position, fmt::format("{} is required and has a default", where),
                 "remove one of them");
    }
  } else if (!parameter.required) {
    errors.add(entry.position, fmt::format("{} needs required = true or a default", where));
  }
  reader.finish();
  profile.parameters[entry.key] = parameter;
}

/// `placement = "all"` (the load) or `placement = { load = "llc:0", serve = "rest" }`; the same for
/// pinning, memory and scheduling.
std::map<std::string, ProfileText> read_roles(TableReader& benchmark, const std::string& key,
                                              ProfileErrors& errors) {
  std::map<std::string, ProfileText> roles;
  const TomlEntry* entry = benchmark.take(key);
  if (entry == nullptr) return roles;
  const TomlNode& node = entry->value;
  if (node.kind == TomlNode::Kind::scalar && node.scalar.is_string()) {
    roles["load"] = {node.scalar.get<std::string>(), node.position};
    return roles;
  }
  if (node.kind != TomlNode::Kind::table) {
    errors.add(node.position,
               fmt::format(R"({} is {}; expected a string or {{ load = "...", serve = "..." }})",
                           key, describe_type(node)));
    return roles;
  }
  TableReader reader(node, key, errors);
  for (const char* role : {"load", "serve"}) {
    if (const auto text = reader.text(role)) roles[role] = *text;
  }
  reader.finish();
  return roles;
}

std::map<std::string, ProfileValue> read_options(const TomlNode& table, const std::string& what,
                                                 ProfileErrors& errors) {
  std::map<std::string, ProfileValue> options;
  for (const TomlEntry& entry : table.entries) {
    auto value = option_value(entry.value, fmt::format("{}{}", what, entry.key), errors);
    if (!value) continue;
    // A misspelt key is found where the key stands, a wrong value where the value stands.
    value->key_position = entry.position;
    options[entry.key] = *value;
  }
  return options;
}

std::string label_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string label;
  for (const nlohmann::json& element : value) {
    if (!label.empty()) label += ',';
    label += label_of(element);
  }
  return label;
}

void read_axis_values(const TomlEntry& entry, MatrixAxis& axis, ProfileErrors& errors) {
  for (const TomlNode& element : entry.value.elements) {
    if (element.kind == TomlNode::Kind::table) {
      errors.add(
          element.position, fmt::format("matrix.{} holds a table without a name", axis.name),
          fmt::format("name the alternatives: {} = {{ first = {{ ... }}, second = {{ ... }} }}",
                      axis.name));
      continue;
    }
    auto value = option_value(element, fmt::format("matrix.{}", axis.name), errors);
    if (!value) continue;
    value->key_position = entry.position;
    axis.choices.push_back({label_of(value->value), {{axis.name, *value}}, element.position});
  }
}

void read_axis_alternatives(const TomlEntry& entry, MatrixAxis& axis, ProfileErrors& errors) {
  axis.named = true;
  for (const TomlEntry& alternative : entry.value.entries) {
    const std::string what = fmt::format("matrix.{}.{}", axis.name, alternative.key);
    if (alternative.value.kind != TomlNode::Kind::table) {
      errors.add(alternative.value.position,
                 fmt::format("{} is {}; expected a table of options, for instance {{ process = "
                             "true }}",
                             what, describe_type(alternative.value)));
      continue;
    }
    axis.choices.push_back({alternative.key,
                            read_options(alternative.value, fmt::format("{}.", what), errors),
                            alternative.position});
  }
}

void read_matrix(const TomlNode& table, BenchmarkTemplate& benchmark, ProfileErrors& errors) {
  for (const TomlEntry& entry : table.entries) {
    MatrixAxis axis;
    axis.name = entry.key;
    axis.position = entry.position;
    if (entry.value.kind == TomlNode::Kind::array) {
      read_axis_values(entry, axis, errors);
    } else if (entry.value.kind == TomlNode::Kind::table) {
      read_axis_alternatives(entry, axis, errors);
    } else {
      errors.add(entry.value.position,
                 fmt::format("matrix.{} is {}; expected an array of values, or a table of named "
                             "alternatives",
                             axis.name, describe_type(entry.value)));
      continue;
    }
    const bool empty = entry.value.elements.empty() && entry.value.entries.empty();
    if (empty) errors.add(entry.value.position, fmt::format("matrix.{} is empty", axis.name));
    std::set<std::string> labels;
    for (const MatrixChoice& choice : axis.choices) {
      if (labels.insert(choice.label).second) continue;
      errors.add(choice.position,
                 fmt::format("matrix.{} has \"{}\" twice", axis.name, choice.label));
    }
    benchmark.matrix.push_back(std::move(axis));
  }
}

std::vector<ProfileText> read_fit(TableReader& reader, ProfileErrors& errors) {
  std::vector<ProfileText> names;
  const TomlEntry* entry = reader.take("fit");
  if (entry == nullptr) return names;
  std::vector<TomlNode> elements = entry->value.elements;
  if (entry->value.kind == TomlNode::Kind::scalar) elements = {entry->value};
  for (const TomlNode& element : elements) {
    if (element.kind == TomlNode::Kind::scalar && element.scalar.is_string()) {
      names.push_back({element.scalar.get<std::string>(), element.position});
    } else {
      errors.add(element.position,
                 fmt::format("fit holds {}; expected names of options", describe_type(element)));
    }
  }
  if (elements.empty()) {
    errors.add(entry->value.position,
               "fit is empty; expected names of options, for instance [\"groups\"]");
  }
  return names;
}

BenchmarkTemplate read_benchmark(const TomlNode& table, ProfileErrors& errors) {
  TableReader reader(table, "[[benchmark]]", errors);
  BenchmarkTemplate benchmark;
  benchmark.position = table.position;
  reader.require("generator", "\"...\" (krepro list shows them)");
  if (const auto text = reader.text("generator")) benchmark.generator = *text;
  benchmark.name = reader.text("name").value_or(benchmark.generator);
  if (const auto text = reader.text("family")) benchmark.family = text->text;
  benchmark.upstream = reader.flag("upstream").value_or(false);
  benchmark.placement = read_roles(reader, "placement", errors);
  benchmark.pinning = read_roles(reader, "pinning", errors);
  benchmark.memory = read_roles(reader, "memory", errors);
  benchmark.scheduling = read_roles(reader, "scheduling", errors);
  if (const TomlNode* options = reader.table("options")) {
    benchmark.options = read_options(*options, "options.", errors);
  }
  if (const TomlNode* matrix = reader.table("matrix")) read_matrix(*matrix, benchmark, errors);
  benchmark.repetitions = reader.integer("repetitions", 1, repetitions_max);
  benchmark.warmups = reader.integer("warmups", 0, warmups_max);
  benchmark.expected_seconds =
      reader.positive_number("expected_seconds", expected_seconds_max).value_or(0);
  benchmark.fit = read_fit(reader, errors);
  reader.finish();
  return benchmark;
}

void read_benchmarks(TableReader& top, Profile& profile, ProfileErrors& errors) {
  const TomlEntry* entry = top.take("benchmark");
  if (entry == nullptr ||
      (entry->value.kind == TomlNode::Kind::array && entry->value.elements.empty())) {
    errors.add({1, 1}, "the profile has no benchmark",
               "add a table [[benchmark]] with a name and a generator");
    return;
  }
  if (entry->value.kind != TomlNode::Kind::array) {
    errors.add(
        entry->position,
        fmt::format("benchmark is {}; expected an array of tables", describe_type(entry->value)),
        "write [[benchmark]]");
    return;
  }
  for (const TomlNode& table : entry->value.elements) {
    if (table.kind == TomlNode::Kind::table) {
      profile.benchmarks.push_back(read_benchmark(table, errors));
    } else {
      errors.add(table.position,
                 fmt::format("benchmark holds {}; expected tables", describe_type(table)));
    }
  }
}

}  // namespace

Profile parse_profile(const std::string& text, const std::filesystem::path& path) {
  Profile profile;
  profile.path = path;
  profile.name = path.string();
  profile.text = text;
  const TomlNode root = parse_toml(text, path);
  ProfileErrors errors(path);
  TableReader top(root, "the profile", errors);
  if (const auto title = top.text("title")) profile.title = title->text;
  if (const auto report = top.text("report")) profile.report = report->text;
  if (const auto reference = top.text("reference")) profile.reference = *reference;
  if (const TomlNode* table = top.table("machine")) {
    read_machine_expectation(*table, profile.machine, errors);
  }
  if (const TomlNode* table = top.table("settings")) read_settings(*table, profile, errors);
  if (const TomlNode* table = top.table("defaults")) read_defaults(*table, profile, errors);
  if (const TomlNode* table = top.table("parameters")) {
    for (const TomlEntry& entry : table->entries) read_parameter(entry, profile, errors);
  }
  read_benchmarks(top, profile, errors);
  top.finish();
  errors.throw_if_any();
  return profile;
}

}  // namespace krepro
