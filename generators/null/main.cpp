// krepro-null: a generator that puts no load; it tests the runner, the statistics and the reports.
#include "common/generator/generator.h"
#include "generators/null/null_generator.h"
#include "source_hash.h"

int main(int argc, char** argv) {
  krepro::null::NullGenerator generator;
  return krepro::generator_main(generator, argc, argv, KREPRO_SOURCE_HASH);
}
