# Files that are built into the program, so that it needs none beside it.
#
# hbench_embed(<symbol> <file>): adds to `assets` a source of the build folder that defines
# `extern const std::string_view hbench::<symbol>` with the bytes of the file. The source is written by this file as a script:
# cmake -D INPUT=<file> -D SYMBOL=<name> -D OUTPUT=<.cpp> -P embed.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(hbench_embed symbol input)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D INPUT=${input} -D SYMBOL=${symbol} -D OUTPUT=${output} -P ${script}
      DEPENDS ${input} ${script} VERBATIM)
    set(assets ${assets} ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

file(READ ${INPUT} text)
set(fence "hbench_asset")
string(FIND "${text}" ")${fence}\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds the end of the raw string it is to be put into")
endif()
file(WRITE ${OUTPUT}
  "#include <string_view>\n\n"
  "namespace hbench {\n"
  "extern const std::string_view ${SYMBOL};\n"
  "constinit const std::string_view ${SYMBOL} = R\"${fence}(${text})${fence}\";\n"
  "}  // namespace hbench\n")
