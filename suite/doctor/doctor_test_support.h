// Made-up machines and the findings on them, for the tests of the doctor. Not for anything else.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "suite/doctor/checkup.h"
#include "suite/environment/environment.h"

namespace krepro::test {

using Files = std::map<std::string, std::string>;

/// A root with these files, and the findings of the machine that they make.
class MadeUpHost {
 public:
  explicit MadeUpHost(const Files& files) {
    char pattern[] = "/tmp/krepro-doctor-XXXXXX";
    root_ = mkdtemp(pattern);
    for (const auto& [path, text] : files) put(path, text);
  }
  ~MadeUpHost() { std::filesystem::remove_all(root_); }
  MadeUpHost(const MadeUpHost&) = delete;
  MadeUpHost& operator=(const MadeUpHost&) = delete;

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  [[nodiscard]] HostFiles files() const { return HostFiles(root_); }

 private:
  std::filesystem::path root_;
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
  patient.environment = read_environment(host.files());
  patient.machine = &machine;
  patient.disks = {{"/data/run", 1000, 500}};
  return finding_of(id, patient);
}

}  // namespace krepro::test
