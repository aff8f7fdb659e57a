#include "bench/data.hpp"

#include "bench/installation.hpp"

namespace hbench {

Data load_data() {
  const std::filesystem::path& data = installation().data;
  return {ProfileLibrary(data / "cluster-profiles"), TraceLibrary(data / "traces")};
}

}  // namespace hbench
