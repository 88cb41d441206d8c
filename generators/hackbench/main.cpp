// krepro-hackbench: what rt-tests' hackbench and `perf bench sched messaging` do, as a generator.
#include "common/generator/generator.h"
#include "generators/hackbench/hackbench.h"
#include "source_hash.h"

int main(int argc, char** argv) {
  krepro::hackbench::Hackbench generator;
  return krepro::generator_main(generator, argc, argv, KREPRO_SOURCE_HASH);
}
