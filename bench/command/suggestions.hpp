#pragma once

/// What a shell offers for the word that is being typed; `hbench completion` prints scripts that ask for it.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/command/verb.hpp"

namespace hbench {

struct Suggestion {
  std::string word, help;
};

/// Returns the names of a family, such as of `profiles`, as `hbench list` prints them.
using NamesOf = std::function<std::vector<std::string>(std::string_view family)>;

/// `words` are those after `hbench`; the last one is being typed, and may be empty. Empty where a file may stand, or
/// nothing is known. \throws Error (usage) for words that name no verb, action or engine.
std::vector<Suggestion> suggestions(std::vector<std::string> words, std::span<const Verb* const> verbs,
                                    const NamesOf& names_of);

}  // namespace hbench
