// Is what a generator calls a sample one? A generator that lies or prints nonsense must cost a
// trial, never a wrong mean. Fields that are not known here are kept and not looked at.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "suite/catalog/catalog.h"
#include "suite/plan/plan.h"

namespace krepro {

/// What is wrong with the sample, one line; "" where nothing is. `waited_ns`: how long the suite
/// itself waited from `go` to the sample: no sample may claim to have run for longer.
[[nodiscard]] std::string find_sample_problem(const nlohmann::json& sample,
                                              const GeneratorInfo& generator,
                                              std::int64_t waited_ns);

/// Why a sample of the right shape does not count by its own words: "errors: 3 timeout", its
/// `error` text; "" where it counts.
[[nodiscard]] std::string find_declared_failure(const nlohmann::json& sample);

/// Where threads of `role` did not have the CPUs, the CPU of their own or the memory policy that
/// the plan gives them, by what the sample read back from the kernel; "" where all did, or nothing
/// was asked for.
[[nodiscard]] std::string find_placement_problem(const nlohmann::json& sample,
                                                 const Benchmark& benchmark,
                                                 const std::string& role);

}  // namespace krepro
