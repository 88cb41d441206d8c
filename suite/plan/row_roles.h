// Where a row's load and server run and under which policy, checked; and whether the original that
// a row may ask for is here. Nothing is applied: suite/execute does that.
#pragma once

#include <string>

#include "suite/catalog/catalog.h"
#include "suite/placement/machine.h"
#include "suite/plan/plan.h"
#include "suite/plan/rows.h"

namespace krepro {

/// Fills in `benchmark.scheduling`; reports wrong texts and roles that the generator has not.
void set_scheduling(const Row& row, const GeneratorInfo& generator, Benchmark& benchmark,
                    ProfileErrors& errors);

/// Fills in `benchmark.placement` and the CPUs that it comes to here. Returns why this machine
/// cannot meet it; empty where it can, or where the wording is wrong (reported).
[[nodiscard]] std::string set_placement(const Row& row, const GeneratorInfo& generator,
                                        const Machine& machine, Benchmark& benchmark,
                                        ProfileErrors& errors);

/// The same for `benchmark.pinning` and the order of the CPUs for the workers; after
/// set_placement().
[[nodiscard]] std::string set_pinning(const Row& row, const GeneratorInfo& generator,
                                      const Machine& machine, Benchmark& benchmark,
                                      ProfileErrors& errors);

/// The same for `benchmark.memory` and the policy with this machine's nodes; after set_placement().
[[nodiscard]] std::string set_memory(const Row& row, const GeneratorInfo& generator,
                                     const Machine& machine, Benchmark& benchmark,
                                     ProfileErrors& errors);

/// Why the original cannot run the row on this machine; empty where it can, where ours is to run,
/// or where it could nowhere (reported).
[[nodiscard]] std::string upstream_obstacle(const Row& row, const GeneratorInfo& generator,
                                            const Benchmark& benchmark, ProfileErrors& errors);

}  // namespace krepro
