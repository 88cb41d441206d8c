# krepro_add_generator(NAME [LIBS lib...]): the program krepro-NAME from the sources of the current folder, with the
# unit tests that lie beside them. A folder of generators/ that has a CMakeLists.txt is built; nothing else is edited.
function(krepro_add_generator name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  krepro_library(generator_${name} DIRS . LIBS krepro_generator ${ARG_LIBS})
  add_executable(krepro-${name} main.cpp)
  target_link_libraries(krepro-${name} PRIVATE generator_${name} krepro_flags)
  set_target_properties(krepro-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY KREPRO_GENERATORS ${name})
endfunction()
