// `krepro list`: the profiles and generators that this command finds.
#pragma once

#include <string>

#include "suite/catalog/catalog.h"

namespace krepro {

struct ListArguments {
  std::string what;   ///< "", "profiles" or "generators"; empty: both.
  bool json = false;  ///< One JSON object instead of text.
};

/// The text that `krepro list` prints, with its line end. A profile that cannot be read is listed
/// with the error. Throws usage_error for another `what`.
[[nodiscard]] std::string list_text(const ListArguments& arguments, const Catalog& catalog);

/// Prints it; returns the exit status.
int list_command(const ListArguments& arguments);

}  // namespace krepro
