// Facts that a check-up needs and that are no part of the environment: who is busy just now, which
// ports are taken, how full the disks are, what the plan needs of limits, which programs are there.
#pragma once

#include "common/base/host_files.h"
#include "suite/catalog/catalog.h"
#include "suite/doctor/checkup.h"

namespace krepro {

/// Fills in ports, disks, shortfalls and missing tools. `plan` of the patient may be null.
void add_host_facts(Patient& patient, const Catalog& catalog,
                    const HostFiles& host = HostFiles::system());

/// Watches the CPUs for `duration_ns` and fills in how busy they are, and by whom. Does nothing
/// where /proc/stat cannot be read.
void add_busy_cpus(Patient& patient, std::int64_t duration_ns,
                   const HostFiles& host = HostFiles::system());

/// TCP ports on which something listens, of both address families.
[[nodiscard]] std::vector<int> listening_ports(const HostFiles& host);

}  // namespace krepro
