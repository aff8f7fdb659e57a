#include "analysis/job/text_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cctype>
#include <filesystem>

namespace hbench {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

/// The small letters and digits of a text: `all_reduce`, `AllReduce` and `allreduce` are alike.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return letters;
}

constexpr std::uint64_t kAlwaysUnpacked = 64 << 20, kMostUnpacked = 50;

}  // namespace

std::string operation_word(std::string_view recorded) {
  // Longer words first: the shorter ones stand in them.
  static constexpr std::array kOperations{Words{"barrier", "barrier"},  // `all_reduce_barrier` is one as well
                                          Words{"reducescatter", "reduce-scatter"},
                                          Words{"allreduce", "all-reduce"},
                                          Words{"allgather", "all-gather"},
                                          Words{"alltoall", "all-to-all"},
                                          Words{"all2all", "all-to-all"},
                                          Words{"broadcast", "broadcast"},
                                          Words{"sendrecv", "send-receive"},
                                          Words{"reduce", "reduce"},
                                          Words{"scatter", "scatter"},
                                          Words{"gather", "gather"},
                                          Words{"send", "send-receive"},
                                          Words{"recv", "send-receive"}};
  const std::string letters = letters_of(recorded);
  for (const auto& [theirs, ours] : kOperations)
    if (letters.find(theirs) != std::string::npos) return std::string(ours);
  return {};
}

std::string type_word(std::string_view recorded) {
  static constexpr std::array kTypes{
      Words{"bfloat16", "bfloat16"}, Words{"float8", "float8"},  Words{"float16", "float16"}, Words{"half", "float16"},
      Words{"float64", "float64"},   Words{"double", "float64"}, Words{"float", "float32"},   Words{"uint8", "uint8"},
      Words{"byte", "uint8"},        Words{"int8", "int8"},      Words{"char", "int8"},       Words{"int64", "int64"},
      Words{"long", "int64"},        Words{"int32", "int32"},    Words{"int", "int32"}};
  const std::string letters = letters_of(recorded);
  for (const auto& [theirs, ours] : kTypes)
    if (letters.find(theirs) != std::string::npos) return std::string(ours);
  return {};
}

bool is_reduction(std::string_view operation) { return operation.ends_with("reduce") || operation == "reduce-scatter"; }

int type_bytes(std::string_view word) {
  if (word.ends_with("64")) return 8;
  if (word.ends_with("32")) return 4;
  if (word.ends_with("16")) return 2;
  return word.ends_with("8") ? 1 : 0;
}

struct TextSource::Packed {
  gzFile file = nullptr;
};

TextSource::TextSource(const std::string& file_name) : file_name_(file_name), packed_(std::make_unique<Packed>()) {
  std::error_code ignored;
  if (!std::filesystem::exists(file_name, ignored))
    throw Error(ExitCode::usage, fmt::format("{}: there is no such file", file_name), "is the path right?");
  // A pipe would be waited for, and a device never ends.
  if (!std::filesystem::is_regular_file(file_name, ignored))
    throw Error(ExitCode::usage, fmt::format("{} is no regular file", file_name), "give a file");
  packed_->file = gzopen(file_name.c_str(), "rb");
  if (packed_->file == nullptr)
    throw Error(ExitCode::usage, fmt::format("{} cannot be read", file_name), "may you read it?");
  gzbuffer(packed_->file, 1 << 18);
}

TextSource::~TextSource() {
  if (packed_->file != nullptr) gzclose(packed_->file);
}

bool TextSource::refill() {
  const int read = gzread(packed_->file, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int state = Z_OK;
  const char* why = gzerror(packed_->file, &state);
  // A shortened file gives what it has, and says that it is shortened only at its end.
  if (read < 0 || (read == 0 && state != Z_OK && state != Z_STREAM_END))
    throw Error(ExitCode::usage, fmt::format("{}: its gzip data end too early or are damaged ({})", file_name_, why),
                "copy it again; was the program that wrote it stopped?");
  size_ = static_cast<std::size_t>(read);
  read_ += size_;
  packed_bytes_ = static_cast<std::uint64_t>(gzoffset(packed_->file));
  if (read_ > kAlwaysUnpacked && read_ > kMostUnpacked * packed_bytes_)
    throw Error(ExitCode::usage,
                fmt::format("{}: it unpacks to more than {} times its size", file_name_, kMostUnpacked),
                "recordings do not; unpack it yourself (gunzip) if it is one");
  // Editors and Windows' tools put a mark of UTF-8 before a text.
  at_ = std::exchange(begun_, true) || !std::string_view(buffer_.data(), size_).starts_with("\xEF\xBB\xBF") ? 0 : 3;
  return at_ < size_;
}

void TextSource::refuse_kept() const {
  throw Error(ExitCode::usage, fmt::format("{}: it has more events or values than fit its size", file_name_),
              "is it as the program wrote it? If so, record fewer steps");
}

}  // namespace hbench
