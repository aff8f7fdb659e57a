#include <array>

#include "collectives/base/table.hpp"
#include "reports/report.hpp"

namespace hbench {
namespace {

constinit const std::array<const Report*, 1> kReports{&kScalingReport};

}  // namespace

std::span<const Report* const> reports() { return kReports; }

const Report& find_report(std::string_view name) { return find_entry(reports(), name, "report"); }

}  // namespace hbench
