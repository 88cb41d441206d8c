# How a folder of generators/ becomes a program. Nothing outside the folder is edited when one is added.

# krepro_add_generator(NAME [LIBS lib...] [NO_STATIC]): the program krepro-NAME from the sources of the current folder,
# with the unit tests that lie beside them. NO_STATIC: some library exists as a shared one only, so that the static
# preset leaves the generator out. main.cpp may include "source_hash.h" (KREPRO_SOURCE_HASH).
function(krepro_add_generator name)
  cmake_parse_arguments(ARG "NO_STATIC" "" "LIBS" ${ARGN})
  if(KREPRO_STATIC AND ARG_NO_STATIC)
    return()
  endif()
  krepro_library(generator_${name} DIRS . LIBS krepro_generator ${ARG_LIBS})
  add_executable(krepro-${name} main.cpp)
  target_link_libraries(krepro-${name} PRIVATE generator_${name} krepro_flags)
  set_target_properties(krepro-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  krepro_source_hash(krepro-${name})
  set_property(GLOBAL APPEND PROPERTY KREPRO_GENERATORS ${name})
endfunction()

# krepro_skip_generator(NAME REASON): the folder calls this instead where a library that it needs is missing, and the
# rest is built. `./krepro` prints the reason once, after it has configured.
#   pkg_check_modules(MEMCACHED libmemcached IMPORTED_TARGET)
#   if(NOT MEMCACHED_FOUND)
#     krepro_skip_generator(memcached "libmemcached is missing (Debian: libmemcached-dev)")
#     return()
#   endif()
function(krepro_skip_generator name reason)
  message(STATUS "generator ${name} is left out: ${reason}")
  set_property(GLOBAL APPEND_STRING PROPERTY KREPRO_SKIPPED_GENERATORS "${name}: ${reason}\n")
endfunction()

# Called once, after all generators: leaves the list where the launcher finds it (empty file: none was left out).
function(krepro_write_skipped_generators)
  get_property(skipped GLOBAL PROPERTY KREPRO_SKIPPED_GENERATORS)
  file(WRITE ${PROJECT_BINARY_DIR}/skipped-generators.txt "${skipped}")
endfunction()

# source_hash.h for one program: over all of common/ and the current folder, without tests.
function(krepro_source_hash target)
  file(GLOB_RECURSE common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/common/*.cpp ${PROJECT_SOURCE_DIR}/common/*.h)
  # Folders below it too: a generator's companion programs shape its load as well.
  file(GLOB_RECURSE own CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  set(files ${common} ${own})
  list(FILTER files EXCLUDE REGEX "_(test|benchmark|fuzz)\\.cpp$|test_support")
  string(REPLACE ";" "|" joined "${files}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/source_hash.h)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${output} "-DFILES=${joined}"
            -P ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake
    COMMENT "Hashing the sources of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  add_custom_target(${target}-source-hash DEPENDS ${output})
  add_dependencies(${target} ${target}-source-hash)
  add_dependencies(generated-headers ${target}-source-hash)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
