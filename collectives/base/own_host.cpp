#include "collectives/base/own_host.hpp"

#include <unistd.h>

#include <array>
#include <chrono>

namespace hbench {

std::string own_host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string_view short_host_name(std::string_view name) { return name.substr(0, name.find('.')); }

Seconds wall_clock() {
  return Seconds(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace hbench
