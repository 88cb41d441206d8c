# Where the parts go, and the Debian package (`cpack` in a build directory; docs/building.md):
#   bin/krepro   libexec/krepro/krepro-NAME and companions   share/krepro/profiles   share/doc/krepro
# The command finds the others relative to its own path, so any prefix works, and the tree can be moved.
if(TARGET krepro-command)
  install(TARGETS krepro-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/krepro OPTIONAL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
endif()

# Programs of a generator's folder: krepro-NAME and what it starts from beside itself.
get_property(folders GLOBAL PROPERTY KREPRO_GENERATOR_FOLDERS)
foreach(folder ${folders})
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" AND NOT target MATCHES "_(test|benchmark|fuzz)$")
      install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/krepro)
    endif()
  endforeach()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME krepro)
set(CPACK_PACKAGE_CONTACT "The krepro developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "reproduce performance regressions of the Linux kernel")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Load generators that put the pressure of fio, memcached clients, pgbench, wrk\n and hackbench on a kernel, and a command that runs them from profiles, records\n what could explain a difference and compares kernels.")
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "rt-tests, strace")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
