// The generator and the machine's description for the comparison; see fidelity_command.h.
#include "suite/fidelity/fidelity_command.h"

#include "common/base/error.h"
#include "suite/catalog/catalog.h"
#include "suite/fidelity/compare_programs.h"
#include "suite/placement/machine.h"

namespace krepro {

int fidelity_command(const FidelityArguments& arguments) {
  const Catalog catalog = find_catalog();
  const GeneratorInfo* generator = catalog.find(arguments.generator);
  if (generator == nullptr) throw usage_error(catalog.reason_for_absence(arguments.generator));
  return fidelity::compare_programs(*generator, summary(read_machine()), arguments);
}

}  // namespace krepro
