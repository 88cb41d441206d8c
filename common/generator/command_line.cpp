// CLI11 is included here only: it is slow to compile.
#include "common/generator/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro {

namespace {

constexpr std::size_t help_columns = 78;

struct FrameOption {
  const char* name;
  const char* value;  ///< Placeholder; nullptr for a flag.
  const char* help;
};

constexpr FrameOption frame_options[] = {
    {"json", "FILE", "write the sample as JSON to FILE; - for standard output"},
    {"seed", "N", "seed of all random choices (default: a fresh one, recorded)"},
    {"quiet", nullptr, "no progress line"},
    {"all-threads", nullptr, "list every thread in the sample, not only the groups"},
    {"role", "ROLE", "load, serve or both"},
    {"server", "ENDPOINT", "the server that the load is to use"},
    {"server-cpus", "LIST", "role both: CPUs of the server"},
    {"worker-cpus", "LIST", "bind worker i to the i-th CPU of LIST, and again from its start"},
    {"server-worker-cpus", "LIST", "role both: the same of the server's workers"},
    {"describe", nullptr, "print what this generator can do, as JSON"},
    {"control", nullptr, "take commands as JSON lines on standard input"},
    {"version", nullptr, "print the version"},
    {"help", nullptr, "print this"},
};

std::string dashed(const std::string& name) { return name.size() == 1 ? "-" + name : "--" + name; }

/// "-g,--groups,--nr-groups,--nr_groups": '_' and '-' are the same in long names.
std::string cli_names(const Option& option) {
  std::vector<std::string> names{option.name};
  names.insert(names.end(), option.aliases.begin(), option.aliases.end());
  std::string joined;
  std::vector<std::string> seen;
  for (const std::string& name : names) {
    for (const char separator : {'\0', '-', '_'}) {
      std::string spelling = name;
      for (char& letter : spelling) {
        if (separator != '\0' && (letter == '-' || letter == '_')) letter = separator;
      }
      spelling = dashed(spelling);
      if (std::find(seen.begin(), seen.end(), spelling) != seen.end()) continue;
      seen.push_back(spelling);
      joined += (joined.empty() ? "" : ",") + spelling;
    }
  }
  return joined;
}

/// Values as typed, before the table checks them.
struct Typed {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> positional;
};

bool takes_no_value(const Option& option) { return option.type == OptionType::flag; }

void add_table(CLI::App& app, const Description& description, Typed& typed) {
  for (const Option& option : description.options.options()) {
    std::vector<std::string>& holder = typed.values[option.name];
    CLI::Option* added = nullptr;
    if (takes_no_value(option)) {
      added = app.add_flag(cli_names(option), holder);
    } else {
      added = app.add_option(cli_names(option), holder)->expected(1)->allow_extra_args(false);
    }
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

RoleChoice role_of(const std::string& text, const Description& description) {
  for (const std::string& role : description.roles) {
    if (text == role) return text == "serve" ? RoleChoice::serve : RoleChoice::load;
  }
  if (text == "both" && description.roles.size() > 1) return RoleChoice::both;
  throw usage_error(fmt::format("--role {}: this generator has the roles {}", text,
                                fmt::join(description.roles, ", ")));
}

[[noreturn]] void throw_unknown(const Description& description, const std::string& argument) {
  std::vector<std::string> names;
  for (const Option& option : description.options.options()) {
    if (option.name.size() > 1) names.push_back("--" + option.name);
  }
  for (const FrameOption& option : frame_options) names.push_back(std::string("--") + option.name);
  const std::string word = argument.substr(0, argument.find('='));
  const std::string near = nearest(word, names);
  throw usage_error(
      fmt::format("unknown {} \"{}\"", argument.starts_with('-') ? "option" : "argument", argument),
      near.empty() ? fmt::format("krepro-{} --help lists the options", description.name)
                   : fmt::format("did you mean {}?", near));
}

/// Hands the typed values to the table in the order of the command line: of two that exclude each
/// other the last wins, as in the originals.
void store_in_order(const CLI::App& app, Typed& typed, Options& options) {
  std::map<std::string, std::size_t> used;
  for (const CLI::Option* parsed : app.parse_order()) {
    const std::string name = parsed->get_single_name();
    const auto holder = typed.values.find(name);
    if (holder == typed.values.end()) continue;
    std::size_t& next = used[name];
    if (next >= holder->second.size()) continue;
    options.set(name, holder->second[next]);
    ++next;
  }
}

/// `text` broken at spaces so that no line is longer than the screen; lines after the first start
/// with `indent` spaces.
std::string fill(const std::string& text, std::size_t column, std::size_t indent) {
  std::string out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > help_columns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string wrapped(const std::string& left, const std::string& text) {
  constexpr std::size_t indent = 26;
  std::string out = "  " + left;
  if (out.size() + 1 > indent) out += "\n";
  const std::size_t line_start = out.back() == '\n' ? out.size() : 0;
  out.append(indent - (out.size() - line_start), ' ');
  return out + fill(text, indent, indent) + "\n";
}

std::string help_line(const Option& option) {
  std::string left;
  for (const std::string& alias : option.aliases) {
    if (alias.size() == 1) left += dashed(alias) + ", ";
  }
  left += dashed(option.name);
  if (!takes_no_value(option)) left += option.name.size() == 1 ? " X" : "=X";
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" ({})", fmt::join(option.choices, ", "));
  if (!option.default_text.empty() && !takes_no_value(option)) {
    text += fmt::format(" [{}]", option.default_text);
  }
  return wrapped(left, text);
}

void append_group(std::string& out, const Description& description, Origin origin,
                  const char* title) {
  std::string lines;
  for (const Option& option : description.options.options()) {
    if (option.origin == origin) lines += help_line(option);
  }
  if (!lines.empty()) out += fmt::format("\n{}:\n{}", title, lines);
}

}  // namespace

CommandLine parse_command_line(const Description& description, int argc, const char* const* argv) {
  CommandLine line(description.options);
  Typed typed;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::string role;
  std::string seed;
  app.add_flag(description.options.find("h") == nullptr ? "-h,--help" : "--help", line.help);
  app.add_flag("--version", line.version);
  app.add_flag("--describe", line.describe);
  app.add_flag("--control", line.control);
  app.add_flag("--quiet", line.quiet);
  app.add_flag("--all-threads", line.all_threads);
  app.add_option("--role", role);
  // A generator whose servers have kinds has an option of this name, which an endpoint may stand
  // for.
  const bool own_server_option = description.options.find("server") != nullptr;
  if (!own_server_option) app.add_option("--server", line.server);
  app.add_option("--server-cpus", line.server_cpus);
  app.add_option("--worker-cpus", line.worker_cpus);
  app.add_option("--server-worker-cpus", line.server_worker_cpus);
  app.add_option("--json", line.json);
  app.add_option("--seed", seed);
  add_table(app, description, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    throw usage_error(error.what(),
                      fmt::format("krepro-{} --help lists the options", description.name));
  }
  if (line.help) return line;
  for (const std::string& extra : app.remaining()) {
    if (extra.starts_with('-') || description.positional.empty()) throw_unknown(description, extra);
    typed.positional.push_back(extra);
  }
  store_in_order(app, typed, line.options);
  for (const std::string& value : typed.positional) line.options.set(description.positional, value);
  if (own_server_option && line.options.text("server").find("://") != std::string::npos) {
    line.server = line.options.text("server");
  }
  if (!role.empty()) line.role = role_of(role, description);
  if (!seed.empty()) line.seed = parse_count(seed);
  return line;
}

std::string help_text(const Description& description) {
  std::string out = fmt::format(
      "usage: krepro-{} [options]{}\n\n{}\n", description.name,
      description.positional.empty() ? "" : fmt::format(" [{}]", description.positional),
      fill(description.summary, 0, 0));
  const std::string original =
      description.original ? description.original->program : "the original";
  append_group(out, description, Origin::original, fmt::format("options of {}", original).c_str());
  append_group(out, description, Origin::ours, "options of krepro");
  append_group(out, description, Origin::ignored, "accepted without effect on the load");
  append_group(out, description, Origin::refused, "known, not implemented, refused");
  out += "\nframe:\n";
  for (const FrameOption& option : frame_options) {
    const std::string name = option.name;
    const bool for_servers = name.starts_with("server") || name == "role";
    if (for_servers && description.roles.size() < 2) continue;
    if (description.options.find(name) != nullptr) continue;
    out +=
        wrapped(option.value == nullptr ? "--" + name : fmt::format("--{} {}", name, option.value),
                option.help);
  }
  return out;
}

}  // namespace krepro
