#pragma once

/// Small pieces of sentences: shares, values, labels, commits.

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// `4.9 %`; three digits from 10,000 % on, as errors may be huge where a figure is wrong. \pre share >= 0
std::string percent(double share);
/// A share as somebody would type it: `90 %`, `92.5 %`.
std::string typed_percent(double share);
/// A logarithm of a factor: `0.105`.
std::string logarithm_text(double value);
/// `78 %`, with a no-break space; below 1 % with a decimal.
std::string whole_percent(double fraction);
/// `+4.9 %`
std::string signed_percent(double share);
/// `+4.1 to +5.9 %`.
std::string interval_text(const Interval& interval);

/// Four digits in the unit that fits: `12.34 ms`.
std::string time_text(double seconds);
/// The same of a value in `s`, `B/s` or another unit.
std::string value_text(double value, std::string_view unit);

/// Returns ` Steps are as in PyTorch's DistributedDataParallel (ddp).`: what presets stand for; empty where none has a
/// name that this version knows.
std::string presets_in_words(const std::set<std::string>& names);

/// `a, b, c and 2 more`: at most `named` of them by name. \pre there is one, and `named` > 0
std::string some_of(std::span<const std::string> names, std::size_t named, std::string_view between = ", ");

/// `branch=main, commit=abc`; empty for none.
std::string labels_text(const std::map<std::string, std::string>& labels);
/// As much of a commit's name as people read.
std::string short_commit(const std::string& commit);

}  // namespace hbench
