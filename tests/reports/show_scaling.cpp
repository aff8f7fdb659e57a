#include <exception>

#include "reports/write_report.hpp"
#include "tests/reports/default_sweep.hpp"
#include "tests/reports/run_gnuplot.hpp"

/// show_scaling <folder>: writes the report of a sweep like the default one there, to look at after a change.

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::puts("usage: show_scaling <folder>");
    return 2;
  }
  const hbench::Document document = hbench::kScalingReport.build(hbench::default_sweep());
  const std::string warning = hbench::write_report(document, argv[1], hbench::run_gnuplot);
  if (!warning.empty()) std::puts(warning.c_str());
  return 0;
} catch (const std::exception& error) {
  std::puts(error.what());
  return 1;
}
