#pragma once

/// Results that cannot be stored, as on a disk that gets full, are shown all the same.

#include <functional>
#include <optional>

#include "collectives/base/error.hpp"

namespace hbench {

/// Stores what is measured, piece by piece, until a piece cannot be stored; what comes then is measured and not stored.
class Keeping {
 public:
  /// Calls `store`, unless an earlier call has thrown an Error (environment). \throws every other Error of `store`.
  void keep(const std::function<void()>& store) {
    if (failure_) return;
    try {
      store();
    } catch (const Error& error) {
      if (error.code() != ExitCode::environment) throw;
      failure_ = error;
    }
  }
  /// After the results are shown. \throws Error (environment) where a piece was not stored.
  void finish() const {
    if (failure_) throw Error(*failure_);
  }

 private:
  std::optional<Error> failure_;
};

}  // namespace hbench
