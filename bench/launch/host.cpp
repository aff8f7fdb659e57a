#include "bench/launch/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace hbench {

int available_cores() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Host this_host() {
  const char* path = std::getenv("PATH");
  rlimit files{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &files);
  return {.cores = available_cores(),
          .as_root = geteuid() == 0,
          .path = path != nullptr ? path : "",
          .open_files = files.rlim_cur};
}

}  // namespace hbench
