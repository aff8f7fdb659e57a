#pragma once

/// Python's pickles, as data: dictionaries, lists, tuples, strings, bytes, numbers, truth values and None. A pickle is
/// a program that may build any object and call any function; nothing of that is done here.

#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/job/text_source.hpp"

namespace hbench {

/// Reads a pickle of the protocols 0 to 5. Tuples become arrays, bytes strings, whole numbers as keys their digits.
/// Members of dictionaries called `unwanted` are left out. \throws Error (usage) that names the file and the byte: for
/// what is damaged, cut off, nested more than 64 deep or larger than `TextSource::keeps` allows once what it shares is
/// written out, and for what would build an object or call a function.
nlohmann::json read_pickle(TextSource& source, std::string_view unwanted);

/// Whether a file that begins with `head` may be a pickle.
bool looks_like_pickle(std::string_view head);

}  // namespace hbench
