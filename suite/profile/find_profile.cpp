// Finding profiles: by path, or by name below the directory that the command came with.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/error.h"
#include "suite/profile/profile.h"

namespace krepro {

namespace {

namespace fs = std::filesystem;

/// Larger than any profile; keeps a mistaken path (a device, a result) out of memory.
constexpr std::uintmax_t profile_bytes_max = 1U << 20U;

std::string read_text(const fs::path& path) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    throw usage_error(fmt::format("{}: is a directory, not a profile", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error(fmt::format("{}: cannot be read", path.string()));
  std::string text(profile_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw usage_error(fmt::format("{}: cannot be read", path.string()));
  if (text.size() > profile_bytes_max) {
    throw usage_error(fmt::format("{}: larger than 1 MiB, not a profile", path.string()));
  }
  return text;
}

void check_reference(const Profile& profile) {
  if (profile.reference.text.empty()) return;
  std::error_code problem;
  if (fs::exists(profile.path.parent_path() / profile.reference.text, problem)) return;
  ProfileErrors errors(profile.path);
  errors.add(profile.reference.position,
             fmt::format("reference \"{}\" is not beside the profile", profile.reference.text));
  errors.throw_if_any();
}

/// The shipped file of a name, or nothing. A name stays below the directory.
fs::path shipped(const std::string& name, const fs::path& directory) {
  const std::vector<std::string> names = list_profiles(directory);
  const std::string bare = name.ends_with(".toml") ? name.substr(0, name.size() - 5) : name;
  if (std::find(names.begin(), names.end(), bare) == names.end()) return {};
  return directory / (bare + ".toml");
}

/// Of shipped names the one nearest to `name`, whole or without its directory.
std::string nearest_profile(const std::string& name, const std::vector<std::string>& names) {
  const std::string near = nearest(name, names);
  if (!near.empty()) return near;
  std::vector<std::string> last_parts;
  for (const std::string& each : names) last_parts.push_back(fs::path(each).filename().string());
  const std::string last = nearest(fs::path(name).filename().string(), last_parts);
  const auto found = std::find(last_parts.begin(), last_parts.end(), last);
  return found == last_parts.end() ? ""
                                   : names[static_cast<std::size_t>(found - last_parts.begin())];
}

}  // namespace

Profile load_profile(const std::string& name_or_path, const fs::path& profiles_directory) {
  std::error_code problem;
  fs::path path = shipped(name_or_path, profiles_directory);
  const bool is_name = !path.empty() && !fs::is_regular_file(name_or_path, problem);
  if (!is_name) path = name_or_path;
  if (!fs::exists(path, problem)) {
    const std::vector<std::string> names = list_profiles(profiles_directory);
    const std::string near = nearest_profile(name_or_path, names);
    throw usage_error(
        fmt::format("no profile \"{}\": neither a file nor a name in {}", name_or_path,
                    profiles_directory.string()),
        near.empty() ? "krepro list shows the names" : fmt::format("did you mean \"{}\"?", near));
  }
  Profile profile = parse_profile(read_text(path), path);
  if (is_name) {
    profile.name = name_or_path.ends_with(".toml") ? name_or_path.substr(0, name_or_path.size() - 5)
                                                   : name_or_path;
  }
  check_reference(profile);
  return profile;
}

std::vector<std::string> list_profiles(const fs::path& profiles_directory) {
  std::vector<std::string> names;
  std::error_code problem;
  fs::recursive_directory_iterator entry(profiles_directory, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    if (entry->path().extension() != ".toml" || !entry->is_regular_file(problem)) continue;
    const fs::path relative = entry->path().lexically_relative(profiles_directory);
    names.push_back((relative.parent_path() / relative.stem()).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace krepro
