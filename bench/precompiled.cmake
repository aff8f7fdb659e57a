# Precompiled headers: what most files include is compiled once per kind of target, not once per file.
#
# GCC refuses a precompiled header where flags or macros differ from those it was made with; CMake asks it to warn about
# that (-Winvalid-pch), and warnings are errors in preset ci, so that no target loses its precompiled header unnoticed.
# A file still includes what it uses: a build with -DHBENCH_PRECOMPILE=OFF shows what is missing.
option(HBENCH_PRECOMPILE "Precompile the headers that most files include" ON)

set(HBENCH_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <deque>
  <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <stdexcept>
  <string> <string_view> <thread> <utility> <variant> <vector>)

# hbench_add_precompiled(<name> LIBRARIES ... HEADERS ...): a set of headers to reuse, compiled as targets that link
# LIBRARIES are.
function(hbench_add_precompiled name)
  if(NOT HBENCH_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LIBRARIES;HEADERS" ${ARGN})
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// ${name}: only precompiled headers\n")
  add_library(${name} OBJECT ${empty})
  target_link_libraries(${name} PRIVATE hbench_flags ${arg_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# hbench_join(<target>): compiles twenty files of a target together, so that headers and templates are read and instantiated
# once for all of them: in a third of the time. The presets do it, but for dev and gpu, which compile each file alone, so that
# none lives on what another one includes. Names in unnamed namespaces are therefore unique in a target; each test has a
# namespace of its file's name (tests/joined_names).
option(HBENCH_JOIN "Compile twenty files together: quick for a whole build, slow for one change" OFF)
# The files of these rooms stay apart: CLI11 is in one file, Highway's are compiled once for each kind of processor, and an
# algorithm's parts have the same names in each file. Executors refer to libraries that not every program has.
set(HBENCH_APART bench/command collectives/algorithms collectives/arithmetic collectives/compressors collectives/executors
  collectives/placement)
function(hbench_join target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH room)
    cmake_path(RELATIVE_PATH room BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(source MATCHES "[$]" OR NOT source MATCHES "[.]cpp$" OR room MATCHES "^build" OR room IN_LIST HBENCH_APART)
      continue()
    endif()
    math(EXPR part "0${joined} / 20")
    math(EXPR joined "0${joined} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# hbench_precompile(<target> [<name>]): compiles it with a set of headers, by default those of the libraries.
function(hbench_precompile target)
  set(name hbench_precompiled)
  if(ARGC GREATER 1)
    set(name ${ARGV1})
  endif()
  if(HBENCH_JOIN)
    hbench_join(${target})
  endif()
  if(HBENCH_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# ccache keeps what was compiled with precompiled headers only when it is told that __TIME__ and the macros defined
# before them do not matter; they do not here. Depend mode: a file is not preprocessed once more to be looked up.
if(HBENCH_PRECOMPILE AND CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Code of the standard library that is inlined from a precompiled header is no longer code of a system header to g++ 12,
# which then warns of std::string at -O3 what is not so (as GCC bug 105651). A build without precompiled headers, and the
# sanitizers, still look.
if(HBENCH_PRECOMPILE)
  target_compile_options(hbench_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()
