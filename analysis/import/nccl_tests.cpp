#include "analysis/import/format.hpp"
#include "analysis/import/nccl_tests_cases.hpp"
#include "analysis/import/nccl_tests_output.hpp"

namespace hbench {
namespace {

ImportedOutput parse(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  return cases_of(read_nccl_tests(text, file_name), file_name, hints);
}

}  // namespace

extern const ImportFormat kNcclTestsFormat;
constinit const ImportFormat kNcclTestsFormat{.name = "nccl-tests",
                                              .summary = "the tables of nccl-tests and rccl-tests",
                                              .example = "mpirun -n 16 all_reduce_perf -b 1K -e 1G -f 2 > 1.txt",
                                              .recognises = is_nccl_tests_output,
                                              .parse = parse};

}  // namespace hbench
