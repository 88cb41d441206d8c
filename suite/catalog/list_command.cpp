// The text of `krepro list`.
#include "suite/catalog/list_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/base/error.h"
#include "suite/catalog/wrap.h"
#include "suite/profile/profile.h"

namespace krepro {

namespace {

/// A profile as listed: its title, or why it cannot be read.
struct ListedProfile {
  std::string name;
  std::string title;
  std::string report;
  std::string problem;
};

std::vector<ListedProfile> read_profiles(const std::filesystem::path& directory) {
  std::vector<ListedProfile> listed;
  for (const std::string& name : list_profiles(directory)) {
    try {
      const Profile profile = load_profile(name, directory);
      listed.push_back({name, profile.title, profile.report, ""});
    } catch (const Error& error) {
      const std::string text = error.what();
      listed.push_back({name, "", "", text.substr(0, text.find('\n'))});
    }
  }
  return listed;
}

std::string row(const std::string& name, std::size_t width, const std::string& text) {
  return wrapped(fmt::format("  {:<{}}  ", name, width), text, width + 4);
}

std::string profiles_text(const Catalog& catalog) {
  const std::vector<ListedProfile> profiles = read_profiles(catalog.profiles_directory);
  std::string text =
      fmt::format("profiles (krepro run NAME), in {}\n", catalog.profiles_directory.string());
  std::size_t width = 0;
  for (const ListedProfile& profile : profiles) width = std::max(width, profile.name.size());
  for (const ListedProfile& profile : profiles) {
    text += row(profile.name, width,
                profile.problem.empty() ? profile.title
                                        : fmt::format("cannot be read: {}", profile.problem));
  }
  if (profiles.empty()) text += "  none\n";
  return text;
}

std::string generators_text(const Catalog& catalog) {
  std::string text = fmt::format("generators (krepro NAME --help), in {}\n",
                                 catalog.generators_directory.string());
  std::size_t width = 0;
  for (const GeneratorInfo& each : catalog.generators) width = std::max(width, each.name.size());
  for (const BrokenGenerator& each : catalog.broken) width = std::max(width, each.name.size());
  for (const GeneratorInfo& generator : catalog.generators) {
    text += row(generator.name, width, generator.summary);
  }
  for (const BrokenGenerator& generator : catalog.broken) {
    text += row(generator.name, width, fmt::format("cannot be used: {}", generator.reason));
  }
  if (catalog.generators.empty() && catalog.broken.empty()) text += "  none\n";
  return text;
}

nlohmann::json listed_json(const ListArguments& arguments, const Catalog& catalog) {
  nlohmann::json json = nlohmann::json::object();
  if (arguments.what != "generators") {
    json["profiles"] = nlohmann::json::array();
    for (const ListedProfile& profile : read_profiles(catalog.profiles_directory)) {
      nlohmann::json entry = {{"name", profile.name}, {"title", profile.title}};
      if (!profile.report.empty()) entry["report"] = profile.report;
      if (!profile.problem.empty()) entry["problem"] = profile.problem;
      json["profiles"].push_back(std::move(entry));
    }
  }
  if (arguments.what == "profiles") return json;
  json["generators"] = nlohmann::json::array();
  for (const GeneratorInfo& generator : catalog.generators) {
    json["generators"].push_back({{"name", generator.name},
                                  {"path", generator.path.string()},
                                  {"summary", generator.summary}});
  }
  for (const BrokenGenerator& generator : catalog.broken) {
    json["generators"].push_back({{"name", generator.name},
                                  {"path", generator.path.string()},
                                  {"problem", generator.reason}});
  }
  return json;
}

}  // namespace

std::string list_text(const ListArguments& arguments, const Catalog& catalog) {
  const std::string& what = arguments.what;
  if (!what.empty() && what != "profiles" && what != "generators") {
    throw usage_error(fmt::format("nothing to list called \"{}\"", what),
                      "krepro list, krepro list profiles, or krepro list generators");
  }
  if (arguments.json) return listed_json(arguments, catalog).dump(2) + "\n";
  std::string text;
  if (what != "generators") text += profiles_text(catalog);
  if (what.empty()) text += "\n";
  if (what != "profiles") text += generators_text(catalog);
  return text;
}

int list_command(const ListArguments& arguments) {
  const std::string text = list_text(arguments, find_catalog());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return static_cast<int>(ExitCode::ok);
}

}  // namespace krepro
