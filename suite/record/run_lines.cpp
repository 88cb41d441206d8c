// Lines of a run file other than samples.
#include "suite/record/run_lines.h"

#include "common/base/check.h"
#include "common/base/version.h"
#include "suite/environment/environment.h"
#include "suite/record/run_file.h"
#include "suite/record/wall_clock.h"

namespace krepro {

nlohmann::json kernel_identity(const HostFiles& host) {
  return {{"release", kernel_release(host)},
          {"version", host.read_line("/proc/sys/kernel/version").value_or("")},
          {"build_id", kernel_build_id(host)}};
}

nlohmann::json generator_identities(const Plan& plan, const Catalog& catalog) {
  nlohmann::json all = nlohmann::json::object();
  for (const Benchmark& benchmark : plan.benchmarks) {
    const GeneratorInfo* generator = catalog.find(benchmark.generator);
    if (generator == nullptr) continue;
    all[generator->name] = {{"source_hash", generator->source_hash},
                            {"binary_hash", generator->binary_hash}};
  }
  return all;
}

nlohmann::json make_run_line(const RunDescription& run, const HostFiles& host) {
  KREPRO_CHECK(run.profile != nullptr && run.plan != nullptr && run.catalog != nullptr);
  nlohmann::json line = {{"type", "run"},
                         {"schema", run_file_schema_version},
                         {"krepro", version},
                         {"label", run.label},
                         {"started", utc_now()},
                         {"kernel", kernel_identity(host)},
                         {"machine", run.machine},
                         {"simulated", run.simulated_boots.has_value()},
                         {"seed", run.plan->seed},
                         {"settings", run.settings},
                         {"profile",
                          {{"name", run.profile->name},
                           {"path", run.profile->path.string()},
                           {"text", run.profile->text}}},
                         {"generators", generator_identities(*run.plan, *run.catalog)},
                         {"plan", to_json(*run.plan)}};
  if (run.simulated_boots) line["simulated_boots"] = *run.simulated_boots;
  return line;
}

nlohmann::json make_boot_line(const std::string& boot_id, bool simulated,
                              const nlohmann::json& environment) {
  const nlohmann::json host_name = environment_value(environment, "host.name");
  nlohmann::json line = {{"type", "boot"},
                         {"boot_id", boot_id},
                         {"started", utc_now()},
                         {"host", {{"value", host_name}, {"identity", true}}},
                         {"environment", environment}};
  if (simulated) line["simulated"] = true;
  return line;
}

nlohmann::json make_note_line(const std::string& kind, const std::string& text) {
  return {{"type", "note"}, {"kind", kind}, {"text", text}, {"at", utc_now()}};
}

}  // namespace krepro
