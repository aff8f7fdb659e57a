#pragma once

/// Exchanges whose device works before, between and after programs that run one after the other. Internal to
/// `exchange/`.

#include <memory>
#include <string>
#include <vector>

#include "collectives/exchange/exchange.hpp"

namespace hbench {

/// One rank's side of such an exchange. Its work is enqueued on the rank's device, and outlives the programs.
class ExchangeStages {
 public:
  virtual ~ExchangeStages() = default;
  /// Enqueues what comes before the first program.
  virtual void begin() = 0;
  /// Enqueues what follows the program of this number.
  virtual void after(std::size_t program) = 0;
  /// Returns what to add where a rank is waited for in that program: ` of the left factor`.
  virtual std::string_view part(std::size_t) const { return {}; }

  std::vector<std::unique_ptr<Operation>> programs;
};

std::unique_ptr<Operation> make_staged_exchange(Device& device, std::unique_ptr<ExchangeStages> stages);

}  // namespace hbench
