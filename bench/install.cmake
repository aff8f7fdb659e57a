# `cmake --install build/release --prefix DIR` gives DIR/bin/hbench, DIR/libexec/hbench/hbench-worker and DIR/share/hbench,
# which may be moved together; `cpack -G DEB` in build/release makes the Debian package.
install(TARGETS hbench RUNTIME DESTINATION bin)
install(TARGETS hbench-worker RUNTIME DESTINATION libexec/hbench)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cluster-profiles DESTINATION share/hbench FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/workloads/traces DESTINATION share/hbench FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reports/schemas DESTINATION share/hbench FILES_MATCHING PATTERN "*.json")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reports/ci DESTINATION share/hbench)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/submit/spark DESTINATION share/hbench FILES_MATCHING PATTERN "*.py")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/examples DESTINATION share/hbench USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/guide DESTINATION share/doc/hbench)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/hbench)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/hbench RENAME copyright)
# Manual pages and completions are what the program prints.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/share/man/man1\")
  execute_process(COMMAND \"$<TARGET_FILE:hbench>\" man --folder \"\${prefix}/share/man/man1\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(place bash:bash-completion/completions/hbench zsh:zsh/site-functions/_hbench
      fish:fish/vendor_completions.d/hbench.fish)
    string(REPLACE \":\" \";\" place \${place})
    list(GET place 0 shell)
    list(GET place 1 file)
    execute_process(COMMAND \"$<TARGET_FILE:hbench>\" completion \${shell} OUTPUT_VARIABLE script COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"\${prefix}/share/\${file}\" \"\${script}\")
  endforeach()")
# A LibTorch or NCCL outside the system's folders is found there again.
set_target_properties(hbench-worker PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)

set(CPACK_PACKAGE_NAME hbench)
set(CPACK_PACKAGE_CONTACT "the engineers of hbench <hbench@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Measures, predicts and explains how data-parallel training scales: ring all-reduce, parameter servers, fusion and compression, with LibTorch's gradients, on GPUs and CPU cores.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries by what the programs are linked with; programs that they start by name.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, libopenblas0-pthread")
if(HBENCH_HAS_MPI)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin")
endif()
if(HBENCH_HAS_NCCL)
  set(CPACK_HBENCH_NCCL ${NCCL_LIBRARY})
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/bench/check_package.cmake)
endif()
include(CPack)
