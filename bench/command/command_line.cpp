#include "bench/command/command_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr std::string_view kMask = "***";
/// How the last word of a secret's name ends.
constexpr std::array<std::string_view, 8> kSecretEnds{"token",      "secret", "password",   "passwd",
                                                      "passphrase", "apikey", "credential", "credentials"};
/// What stands before `key` in a secret's name.
constexpr std::array<std::string_view, 5> kSecretKeys{"api", "access", "private", "secret", "auth"};
/// How tokens of GitHub, GitLab, Slack, Hugging Face, AWS and OpenAI begin.
constexpr std::array<std::string_view, 10> kTokenBegins{"ghp_",  "gho_",  "ghs_", "github_pat_", "glpat-",
                                                        "xoxb-", "xoxp-", "hf_",  "AKIA",        "sk-"};
constexpr std::size_t kShortestToken = 16;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool ends_word(char c) { return is_blank(c) || std::string_view("'\"`;|&()<>").find(c) != std::string_view::npos; }

/// `API_TOKEN`, `--db-password`, `AWS_SECRET_ACCESS_KEY`; not `TOKENIZERS_PARALLELISM`, `max-tokens`.
bool is_secret_name(std::string_view name) {
  const std::string text = lower_case(std::string(name));
  const std::size_t end = text.find_last_of("_-.");
  const std::string_view last = std::string_view(text).substr(end == text.npos ? 0 : end + 1);
  if (std::ranges::any_of(kSecretEnds, [&](std::string_view each) { return last.ends_with(each); })) return true;
  if (last != "key" || end == text.npos) return false;
  const std::string_view before = std::string_view(text).substr(0, end);
  return std::ranges::any_of(kSecretKeys, [&](std::string_view each) { return before.ends_with(each); });
}

bool is_token(std::string_view word) {
  return word.size() >= kShortestToken &&
         std::ranges::any_of(kTokenBegins, [&](std::string_view begin) { return word.starts_with(begin); });
}

/// Copies a command, and leaves out what is secret.
class Copier {
 public:
  explicit Copier(std::string_view text) : text_(text) {}

  std::string copy() {
    while (at_ < text_.size()) {
      if (in_name(text_[at_]))
        name();
      else
        address_or_character();
    }
    return std::move(copy_);
  }

 private:
  bool here(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void take(std::size_t count) {
    copy_ += text_.substr(at_, count);
    at_ += count;
  }
  void take_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) take(1);
  }

  /// Masks a word, which quotes may hold together.
  void mask_word() {
    const char quote = at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"') ? text_[at_] : '\0';
    if (quote != '\0') take(1);
    const std::size_t begin = at_;
    while (at_ < text_.size() && (quote != '\0' ? text_[at_] != quote : !ends_word(text_[at_]))) ++at_;
    if (at_ > begin) copy_ += kMask;
  }

  void name() {
    std::size_t end = at_;
    while (end < text_.size() && in_name(text_[end])) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    if (is_token(name)) {
      copy_ += kMask;
      at_ = end;
      return;
    }
    take(name.size());
    const std::string known = lower_case(std::string(name));
    if (known == "bearer") return take_blanks(), mask_word();
    if (known.ends_with("authorization") && (here("=") || here(":"))) return take(1), take_blanks(), scheme();
    if (!is_secret_name(name)) return;
    if (here("=") || here(":")) {
      take(1);
      if (text_[at_ - 1] == ':') take_blanks();
      mask_word();
    } else if (name.starts_with("--") && at_ < text_.size() && is_blank(text_[at_])) {
      take_blanks();
      mask_word();
    }
  }

  /// `Basic dXNlcjpwYXNz`, or a word alone.
  void scheme() {
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end])) ++end;
    const std::size_t next = text_.find_first_not_of(" \t\n", end);
    if (next != text_.npos && next > end && !ends_word(text_[next])) {
      take(end - at_);
      take_blanks();
    }
    mask_word();
  }

  /// `://user:password@host`
  void address_or_character() {
    if (!here("://")) return take(1);
    take(3);
    std::size_t end = at_;
    while (end < text_.size() && !ends_word(text_[end]) && text_[end] != '/') ++end;
    const std::string_view host = text_.substr(at_, end - at_);
    const std::size_t colon = host.find(':'), sign = host.rfind('@');
    if (sign == host.npos || colon > sign) return;
    take(colon + 1);
    copy_ += kMask;
    at_ += sign - colon - 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string copy_;
};

}  // namespace

bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

std::string without_secrets(std::string_view command) { return Copier(command).copy(); }

std::string without_secrets(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const bool value = i > 0 && words[i - 1].starts_with("--") && is_secret_name(words[i - 1]);
    const bool assigned = equals != word.npos &&
                          std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), in_name) &&
                          is_secret_name(word.substr(0, equals));
    if (i > 0) text += ' ';
    if (value)
      text += kMask;
    else if (assigned)
      text += word.substr(0, equals + 1).append(kMask);
    else
      text += without_secrets(std::string_view(word));
  }
  return text;
}

}  // namespace hbench
