#include "bench/data.hpp"

namespace hbench {

Data load_data() {
  const std::filesystem::path source = HBENCH_SOURCE_DIR;
  return {ProfileLibrary(source / "cluster-profiles"), TraceLibrary(source / "workloads/traces")};
}

}  // namespace hbench
