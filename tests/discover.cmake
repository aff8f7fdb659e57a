# cmake -D PROGRAM=<test program> -D SEPARATE=<regular expression> -D RESULTS=<folder> -D LABELS=<list> -D SERIAL=<regular expression>
#       -D LONG=<regular expression> -D PREFIX=<text> -D OUTPUT=<file> -P discover.cmake
# Writes the ctest entries of a GoogleTest program: one per test suite, run in one process; one per TEST for suites that
# match SEPARATE. An entry that takes ten minutes has failed. Each entry writes its results to RESULTS/<entry>.xml, from
# which tests/count counts single tests. Those that match SERIAL run beside no others and have the label `alone`, and those
# that match LONG run before the rest. PREFIX begins the entries' names.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests
  OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 120)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed (${status}):\n${listed}")
endif()
# What stands behind '#' is a parameter's value, which may hold anything.
string(REGEX REPLACE " *# [^\n]*" "" listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")

set(entries)
function(add_entry name filter)
  string(PREPEND name "${PREFIX}")
  string(REPLACE "/" "." file "${name}")
  set(serial OFF)
  set(labels ${LABELS})
  if(SERIAL AND name MATCHES "${SERIAL}")
    set(serial ON)
    list(APPEND labels alone)
  endif()
  set(cost 0)  # what earlier runs took
  if(LONG AND name MATCHES "${LONG}")
    set(cost 60)
  endif()
  string(APPEND entries "add_test([=[${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${filter}]=] [=[--gtest_output=xml:${RESULTS}/${file}.xml]=])\n"
    "set_tests_properties([=[${name}]=] PROPERTIES LABELS [=[${labels}]=] TIMEOUT 600 COST ${cost} RUN_SERIAL ${serial})\n")
  set(entries "${entries}" PARENT_SCOPE)
endfunction()

set(suite)
foreach(line IN LISTS listed)
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite ${CMAKE_MATCH_1})
    set(separate FALSE)
    if(SEPARATE AND suite MATCHES "${SEPARATE}")
      set(separate TRUE)
    elseif(NOT suite MATCHES "^DISABLED_|/DISABLED_")
      add_entry(${suite} "${suite}.*")
    endif()
  elseif(separate AND line MATCHES "^  [^ ]+$" AND NOT line MATCHES "^  DISABLED_")
    string(STRIP "${line}" test)
    add_entry(${suite}.${test} "${suite}.${test}")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${entries}")
