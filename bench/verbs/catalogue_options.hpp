#pragma once

#include <string>

#include "analysis/catalogue/filter.hpp"
#include "bench/command/arguments.hpp"

namespace hbench {

/// Adds `--gpu`, `--provider`, `--max-price` and `--min-bandwidth`; `where` begins what their help says. `texts`
/// outlives the parsing.
void add_catalogue_options(Arguments& app, CatalogueTexts& texts, const std::string& where = "");

}  // namespace hbench
