#pragma once

/// Published transformers by name: `gpt3-13b`, `llama3-8b`.

#include <span>
#include <string_view>

namespace hbench {

struct PublishedShape {
  std::string_view name;
  std::string_view title;
  std::string_view shape;  ///< for `parse_transformer`
  int batch = 1;           ///< sequences per GPU and step
  std::string_view source;
};

/// Sorted by name.
std::span<const PublishedShape> published_shapes();

/// The model with this name; none where there is none.
const PublishedShape* find_published_shape(std::string_view name);

}  // namespace hbench
