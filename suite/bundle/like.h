// `krepro run --like BUNDLE`: the reporter's plan as arguments of a run here.
#pragma once

#include <filesystem>

#include "suite/execute/run_command.h"

namespace krepro {

/// Writes the bundle's profile to a file beside the results (it stays, for --resume and for
/// reading) and takes over its parameters, selection, counts, order and seed; label, output and
/// limits stay those of `arguments`. Prints what machine the bundle is from. Throws usage_error:
/// not a bundle, several plans in it, settings given beside --like.
[[nodiscard]] RunArguments like_bundle(const std::filesystem::path& path, RunArguments arguments);

}  // namespace krepro
