// One file that a bug report carries: the report, the run files, the profiles, what differs in the
// environment. As .tar.zst, or as plain text whose end holds the same archive in base64.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/bundle/archive.h"
#include "suite/compare/sides.h"

namespace krepro {

struct BundleArguments {
  std::vector<std::filesystem::path> paths;  ///< As compare takes them; the first is the base.
  std::string base;
  std::filesystem::path out;  ///< Empty: krepro-bundle.tar.zst or .txt, never overwritten.
  bool text = false;
  bool keep_identity = false;
  std::string introduced;  ///< "A..B" or a commit, for regzbot; empty: no such line.
  std::string summary;     ///< First sentence; empty: made from the verdicts.
};

inline constexpr std::size_t largest_text_bundle_bytes = 100'000;

/// Writes it and prints its path. Throws usage_error: --text above 100 kB, existing file.
int bundle_command(const BundleArguments& arguments);

/// What a reader gets back.
struct Bundle {
  std::string report;
  std::vector<RunFile> runs;
  FileSet files;
};
/// Throws usage_error where it is not a bundle.
[[nodiscard]] Bundle read_bundle(const std::filesystem::path& path);

/// The runs as an input of compare.
[[nodiscard]] InputPath bundle_input(const Bundle& bundle, const std::filesystem::path& path);

/// The files of a bundle of these run files; for tests.
[[nodiscard]] FileSet make_bundle(const BundleArguments& arguments);

}  // namespace krepro
