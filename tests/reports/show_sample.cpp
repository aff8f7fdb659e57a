#include <exception>

#include "reports/write_report.hpp"
#include "tests/reports/run_gnuplot.hpp"
#include "tests/reports/samples.hpp"

/// show_sample <folder>: writes the rich sample there, to look at after a change of style.

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::puts("usage: show_sample <folder>");
    return 2;
  }
  const std::string warning = hbench::write_report(hbench::rich_document(), argv[1], hbench::run_gnuplot);
  if (!warning.empty()) std::puts(warning.c_str());
  return 0;
} catch (const std::exception& error) {
  std::puts(error.what());
  return 1;
}
