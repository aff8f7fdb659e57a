#include "workloads/step/fault.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr Seconds kLongest{60};

/// One fault, of which the words come one after the other.
class FaultReader {
 public:
  FaultReader(std::string_view text, std::string_view flag) : text_(text), rest_(text), flag_(flag) {}

  PlantedFault read() {
    PlantedFault fault;
    const std::string_view kind = until(':');
    if (kind != "kill" && kind != "delay") refuse(fmt::format("'{}' is neither kill nor delay", kind));
    fault.rank = number(kind == "delay" ? until(':') : until('@'), "rank");
    if (kind == "delay") fault.delay = time(until('@'));
    const std::string_view steps = rest_;
    const std::size_t dots = steps.find("..");
    fault.from = number(steps.substr(0, dots), "step");
    if (dots == steps.npos || fault.kills()) {
      if (dots != steps.npos) refuse("a rank is killed once");
      fault.until = fault.from;
    } else if (const std::string_view last = steps.substr(dots + 2); !last.empty()) {
      fault.until = parse_number<int>(last).value_or(-1);
      if (fault.until < fault.from) refuse(fmt::format("'{}' is no step after {}", last, fault.from));
    }
    return fault;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", flag_, text_, why),
                "write kill:rank=1@step=50 or delay:rank=1:20ms@step=10..");
  }

  std::string_view until(char end) {
    const std::size_t at = rest_.find(end);
    if (at == rest_.npos) refuse(fmt::format("there is no '{}' in '{}'", end, rest_));
    const std::string_view word = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return word;
  }

  int number(std::string_view word, std::string_view name) const {
    const std::string begin = fmt::format("{}=", name);
    const auto value = word.starts_with(begin) ? parse_number<int>(word.substr(begin.size())) : std::nullopt;
    if (!value || *value < 0) refuse(fmt::format("'{}' is no {}N with N from 0", word, begin));
    return *value;
  }

  Seconds time(std::string_view word) const {
    Seconds time{0};
    try {
      time = parse_seconds(word);
    } catch (const Error& error) {
      refuse(error.what());
    }
    if (!(time > Seconds(0)) || time > kLongest) refuse("a delay is above 0 and at most a minute");
    return time;
  }

  std::string_view text_, rest_, flag_;
};

}  // namespace

void PlantedFault::strike() const {
  if (delay)
    std::this_thread::sleep_for(std::chrono::duration<double>(delay->value));
  else
    std::raise(SIGKILL);
}

std::string PlantedFault::text() const {
  if (kills()) return fmt::format("kill:rank={}@step={}", rank, from);
  const std::string last = until == from ? "" : until == kForEver ? ".." : fmt::format("..{}", until);
  return fmt::format("delay:rank={}:{}@step={}{}", rank, format(*delay), from, last);
}

std::vector<PlantedFault> parse_faults(std::string_view text, std::string_view flag) {
  std::vector<PlantedFault> faults;
  if (text.empty()) return faults;
  for (const std::string_view one : split(text, ',')) faults.push_back(FaultReader(one, flag).read());
  return faults;
}

}  // namespace hbench
