// krepro-randwrite: fio's random-write-and-fsync pattern, and its relatives, on a file or a device.
#include "common/generator/generator.h"
#include "generators/randwrite/randwrite_generator.h"
#include "source_hash.h"

int main(int argc, char** argv) {
  krepro::randwrite::RandwriteGenerator generator;
  return krepro::generator_main(generator, argc, argv, KREPRO_SOURCE_HASH);
}
