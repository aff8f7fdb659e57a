#include "collectives/base/test_delay.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr Rank kMostRanks = 1 << 20;
constexpr Seconds kLongest{60};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("HBENCH_TEST_DELAY={}: {}", text, why),
              "write RANK:TIME, such as HBENCH_TEST_DELAY=1:5ms, or unset it");
}

Seconds time_of(std::string_view text, std::string_view time) {
  try {
    return parse_seconds(time);
  } catch (const Error& error) {
    refuse(text, error.what());
  }
}

}  // namespace

void TestDelay::sleep(Rank own) const {
  if (own == rank) std::this_thread::sleep_for(std::chrono::duration<double>(time.value));
}

std::string TestDelay::text() const { return is_set() ? fmt::format("{}:{}", rank, format(time)) : ""; }

TestDelay parse_test_delay(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  if (colon == text.npos) refuse(text, "there is no ':' between a rank and a time");
  TestDelay delay;
  const std::string_view rank = text.substr(0, colon);
  delay.rank = parse_number<int>(rank).value_or(-1);
  if (delay.rank < 0 || delay.rank >= kMostRanks) refuse(text, fmt::format("'{}' is no rank", rank));
  delay.time = time_of(text, text.substr(colon + 1));
  if (!(delay.time > Seconds(0)) || delay.time > kLongest)
    refuse(text, "the time must be above 0 and at most a minute");
  return delay;
}

}  // namespace hbench
