// In the place of pictures.cpp where there is no libjpeg-turbo or no libpng.

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "workloads/data/dataset.hpp"

namespace hbench {

Dataset load_pictures(const std::string& folder, int) {
  throw Error(ExitCode::environment, fmt::format("{}: hbench was built without what reads pictures", folder),
              "apt install libturbojpeg0-dev libpng-dev, remove build/ and start again");
}

}  // namespace hbench
