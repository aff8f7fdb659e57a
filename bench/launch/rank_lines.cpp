#include "bench/launch/rank_lines.hpp"

#include <cctype>
#include <optional>
#include <utility>

namespace hbench {
namespace {

/// Where a tag is in a text.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// The end of `[JOB,RANK]<STREAM>:` that begins at `begin`.
std::optional<std::size_t> end_of_tag(std::string_view text, std::size_t begin) {
  const std::size_t job = skip_digits(text, begin + 1);
  if (job == begin + 1 || job >= text.size() || text[job] != ',') return std::nullopt;
  const std::size_t rank = skip_digits(text, job + 1);
  if (rank == job + 1) return std::nullopt;
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:", "]<stddiag>:"})
    if (text.substr(rank).starts_with(stream)) return rank + stream.size();
  return std::nullopt;
}

std::optional<Tag> find_tag(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('[', from); at != std::string_view::npos; at = text.find('[', at + 1))
    if (const auto end = end_of_tag(text, at)) return Tag{at, *end};
  return std::nullopt;
}

}  // namespace

void RankLines::add(std::string_view text) {
  std::optional<Tag> tag = find_tag(text, 0);
  if (!tag) return on_line_(text);
  // What the launcher itself had to say, in front of a rank's.
  if (tag->begin > 0) on_line_(text.substr(0, tag->begin));
  while (tag) {
    const std::string_view name = text.substr(tag->begin, tag->end - tag->begin);
    const std::optional<Tag> next = find_tag(text, tag->end);
    const std::string_view piece = text.substr(tag->end, next ? next->begin - tag->end : std::string_view::npos);
    std::string& line = begun_[std::string(name)];
    line += piece;
    if (!next) on_line_(std::exchange(line, {}));
    tag = next;
  }
}

std::string without_rank_tags(std::string_view text) {
  std::string plain;
  std::size_t at = 0;
  for (std::optional<Tag> tag = find_tag(text, 0); tag; tag = find_tag(text, at)) {
    plain += text.substr(at, tag->begin - at);
    at = tag->end;
  }
  return plain += text.substr(at);
}

}  // namespace hbench
