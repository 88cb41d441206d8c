// Made-up machines and the findings on them, for the tests of the doctor. Not for anything else.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/base/made_up_root.h"
#include "suite/doctor/checkup.h"
#include "suite/environment/environment.h"

namespace krepro::test {

using Files = std::map<std::string, std::string>;

/// A machine with these files.
class MadeUpHost : public MadeUpRoot {
 public:
  explicit MadeUpHost(const Files& files) {
    for (const auto& [path, text] : files) put(path, text);
  }
};

inline Machine four_cpus() {
  Machine machine = read_machine_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1");
  machine.this_machine = true;
  return machine;
}

inline DoctorFinding finding_of(const std::string& id, const Patient& patient) {
  for (const DoctorFinding& finding : examine(patient)) {
    if (finding.id == id) return finding;
  }
  ADD_FAILURE() << "there is no check " << id;
  return {};
}

inline DoctorFinding finding_on(const std::string& id, const Files& files,
                                const Machine& machine = four_cpus()) {
  const MadeUpHost host(files);
  Patient patient;
  patient.environment = read_environment(host.host());
  patient.machine = &machine;
  patient.disks = {{"/data/run", 1000, 500}};
  return finding_of(id, patient);
}

}  // namespace krepro::test
