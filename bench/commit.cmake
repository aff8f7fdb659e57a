# Writes the commit of SOURCES into FILE, by the program GIT: cmake -D GIT=... -D SOURCES=... -D FILE=... -P commit.cmake
set(commit "not known")
if(GIT)
  # A folder of sources may lie in another repository, which does not hold them.
  execute_process(COMMAND ${GIT} ls-files --error-unmatch bench/commit.cmake WORKING_DIRECTORY ${SOURCES}
    RESULT_VARIABLE foreign OUTPUT_QUIET ERROR_QUIET)
  if(foreign EQUAL 0)
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCES}
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
file(WRITE ${FILE} "namespace hbench {\nextern const char* const kCommit;\nconst char* const kCommit = \"${commit}\";\n}\n")
