#include "bench/command/values.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {

Seconds time_flag(const std::string& text, std::string_view flag) {
  try {
    const Seconds time = parse_seconds(text);
    if (time.value <= 0) throw Error(ExitCode::usage, "it must be more than 0");
    return time;
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", flag, text, error.what()),
                "write a time such as 30s or 500ms");
  }
}

}  // namespace hbench
