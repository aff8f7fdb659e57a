#include "bench/output_file.hpp"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "collectives/base/error.hpp"

namespace hbench {

void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag) {
  const std::filesystem::path temporary = file.string() + ".part";
  bool written = false;
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text << std::flush;
    written = out.good();
  }
  std::error_code status;
  if (written) std::filesystem::rename(temporary, file, status);
  if (written && !status) return;
  std::filesystem::remove(temporary, status);
  throw Error(ExitCode::environment, fmt::format("cannot write {}", file.string()),
              fmt::format("choose another file with {} FILE", flag));
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace hbench
