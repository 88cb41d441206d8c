// The server of a row whose load needs one: the generator's own `--role serve`, started once for a
// row and placement, and used by the original and ours in turn. Rows without a server pass through.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/affinity/cpu_set.h"
#include "common/process/child.h"
#include "suite/fidelity/programs.h"

namespace krepro::fidelity {

class ServedRow {
 public:
  /// Starts the server where the row has one and waits until it is ready. Throws its error.
  ServedRow(const Programs& programs, const FidelityRow& row, const CpuSet& cpus);
  ~ServedRow();
  ServedRow(const ServedRow&) = delete;
  ServedRow& operator=(const ServedRow&) = delete;

  /// The row with the server's URL as its positional argument.
  [[nodiscard]] const FidelityRow& row() const { return row_; }
  /// Context switches of all the server's processes so far; nothing where there is no server.
  [[nodiscard]] std::optional<std::uint64_t> switches() const;

 private:
  void wait_until_ready(const std::string& positional);
  FidelityRow row_;
  std::optional<Child> server_;
};

}  // namespace krepro::fidelity
