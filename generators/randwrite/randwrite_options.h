// The description of the generator: options, metrics, examples and how to run fio.
#pragma once

#include "common/generator/description.h"

namespace krepro::randwrite {

[[nodiscard]] Description make_description();

/// fio's other options: accepted without effect, refused by name, or accepted with one value only.
[[nodiscard]] std::vector<Option> other_fio_options();
/// Throws usage_error for an option of the last kind with another value.
void check_single_values(const Options& options);

}  // namespace krepro::randwrite
