// The command line of a generator: the frame's own options (long forms only) and those of the
// generator's table. CLI11 does the splitting; values are checked by the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/generator/description.h"
#include "common/generator/options.h"

namespace krepro {

enum class RoleChoice : std::uint8_t { load, serve, both };

struct CommandLine {
  explicit CommandLine(const OptionTable& table) : options(table) {}
  bool help = false;
  bool version = false;
  bool describe = false;
  bool control = false;
  bool quiet = false;
  bool all_threads = false;
  std::optional<RoleChoice> role;
  std::string server;              ///< Endpoint; empty: none given.
  std::string server_cpus;         ///< For role both: where the server runs; empty: anywhere.
  std::string worker_cpus;         ///< Worker i on the i-th of these CPUs; empty: they float.
  std::string server_worker_cpus;  ///< The same of the server, for role both.
  std::string json;                ///< FILE or "-"; empty: no JSON.
  std::optional<std::uint64_t> seed;
  Options options;
};

/// Throws usage_error with a suggestion.
[[nodiscard]] CommandLine parse_command_line(const Description& description, int argc,
                                             const char* const* argv);
/// The text of --help, at most 78 columns.
[[nodiscard]] std::string help_text(const Description& description);

}  // namespace krepro
