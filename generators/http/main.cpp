// krepro-http: what wrk does, and the server that it does it to, as a generator.
#include "common/generator/generator.h"
#include "generators/http/http_generator.h"
#include "source_hash.h"

int main(int argc, char** argv) {
  krepro::http::HttpGenerator generator;
  return krepro::generator_main(generator, argc, argv, KREPRO_SOURCE_HASH);
}
