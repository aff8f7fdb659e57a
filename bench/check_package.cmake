# Run by cpack. A Debian package names its libraries by the packages that they are from: an NCCL that is from none (of the
# CUDA toolkit, of PyPI's torch) would be missing where the package is installed, and no rank would start.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(REAL_PATH ${CPACK_HBENCH_NCCL} library)
  execute_process(COMMAND dpkg -S ${library} RESULT_VARIABLE unknown OUTPUT_QUIET ERROR_QUIET)
  if(unknown)
    message(FATAL_ERROR "hbench: this build uses ${library}, which is of no Debian package, so ranks of the package would not start on other machines. Install NVIDIA's libnccl2 and libnccl-dev and configure again, or leave NCCL out: cmake -DHBENCH_WITH_NCCL=OFF build/...")
  endif()
endif()
