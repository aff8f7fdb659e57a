#include "collectives/base/host_name.hpp"

#include <unistd.h>

#include <array>

namespace hbench {

std::string own_host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string_view short_host_name(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace hbench
