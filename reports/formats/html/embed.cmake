# cmake -D INPUT=<file> -D SYMBOL=<name> -D OUTPUT=<.cpp> -P embed.cmake
# Makes a source file that defines `extern const std::string_view hbench::<SYMBOL>` with the bytes of INPUT.
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
