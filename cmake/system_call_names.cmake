# system_call_names.inc: {__NR_read, "read"}, ... for suite/counters, from the C library's own list, since counters know
# system calls by number only.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -dM -include sys/syscall.h -x c++ /dev/null
  OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "#define __NR_[a-z0-9_]+ " defines "${macros}")
list(REMOVE_ITEM defines "#define __NR_syscalls ")
list(SORT defines)
list(TRANSFORM defines REPLACE "#define __NR_([a-z0-9_]+) " "{__NR_\\1, \"\\1\"},")
list(JOIN defines "\n" entries)
file(CONFIGURE OUTPUT system_call_names.inc CONTENT "${entries}\n")
target_include_directories(krepro_suite PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
