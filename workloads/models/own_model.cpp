#include "workloads/models/own_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kVocabulary = ":vocab=";
/// Samples are larger than this only by mistake.
constexpr std::int64_t kMostElements = 1'000'000'000;

Error bad_shape(std::string_view text, std::string_view why) {
  return {ExitCode::usage, fmt::format("--input {}: {}", text, why),
          "give the shape of one sample, such as 3x224x224 for images, or 128:vocab=30522 for 128 tokens of 30522"};
}

/// A file's formats by how they begin.
struct Format {
  std::string_view begin;
  std::string_view name;
};
constexpr Format kFormats[] = {
    {"\x80\x02"sv, "a pickle (a state_dict or a module of torch.save, in its old format)"},
    {"\x80\x03"sv, "a pickle"},
    {"\x80\x04"sv, "a pickle"},
    {"\x80\x05"sv, "a pickle"},
    {"\x89HDF"sv, "an HDF5 file"},
    {"GGUF"sv, "a GGUF file, which has weights and no code"},
};

/// What a file is that is no zip archive, by its first bytes. \pre there are some.
std::string_view kind_of(std::string_view head) {
  for (const Format& format : kFormats)
    if (head.starts_with(format.begin)) return format.name;
  // Eight bytes are the length of the JSON that follows.
  if (head.substr(std::min<std::size_t>(8, head.size())).starts_with("{\"")) return "safetensors: weights without code";
  // Protocol Buffers: the IR version and a field of the model follow.
  if (head.size() > 2 && head[0] == '\x08' && head[1] < '\x20' && (head[2] == '\x12' || head[2] == '\x3a'))
    return "an ONNX model, which has no backward pass";
  return "of another kind";
}

std::ifstream open(const std::string& file) {
  std::error_code status;  // a pipe would be waited for
  const bool special = std::filesystem::exists(file, status) && !std::filesystem::is_regular_file(file, status);
  std::ifstream in;
  if (!special) in.open(file, std::ios::binary);
  if (!in.is_open())
    throw Error(ExitCode::usage,
                fmt::format("cannot read {}: {}", file,
                            special ? "it is no regular file" : std::generic_category().message(errno)),
                "give the path of a TorchScript file; on several hosts it is the same on each");
  return in;
}

std::uint64_t digest_of(const std::string& file, std::uint64_t before) {
  std::ifstream in = open(file);
  std::vector<char> part(1 << 20);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
    before = digest(std::as_bytes(std::span(part).first(static_cast<std::size_t>(in.gcount()))), before);
  return before;
}

}  // namespace

std::string SampleShape::text() const {
  return fmt::format("{}{}", fmt::join(sizes, "x"), vocabulary > 0 ? fmt::format("{}{}", kVocabulary, vocabulary) : "");
}

SampleShape parse_sample_shape(std::string_view text) {
  SampleShape shape;
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != rest.npos) {
    if (!rest.substr(colon).starts_with(kVocabulary)) throw bad_shape(text, "only :vocab=N follows the sizes");
    shape.vocabulary = parse_number<std::int64_t>(rest.substr(colon + kVocabulary.size())).value_or(0);
    if (shape.vocabulary < 2) throw bad_shape(text, "a vocabulary has at least 2 tokens");
    rest = rest.substr(0, colon);
  }
  std::int64_t elements = 1;
  for (const std::string_view part : split(rest, 'x')) {
    const std::int64_t size = parse_number<std::int64_t>(part).value_or(0);
    if (size < 1 || size > kMostElements / elements) throw bad_shape(text, "sizes are whole numbers of at least 1");
    elements *= size;
    shape.sizes.push_back(size);
  }
  return shape;
}

std::string OwnModel::name() const { return fmt::format("{}:{}", model_file_name(file), input.text()); }

std::string OwnModel::read_digest() const {
  std::uint64_t both = digest_of(file, kDigestOfNothing);
  if (!loss.empty()) both = digest_of(loss, both);
  return fmt::format("{:016x}", both);
}

bool is_model_file(std::string_view name) {
  constexpr std::array kEndings{".pt", ".pth", ".ts", ".torchscript", ".bin", ".onnx", ".safetensors", ".ckpt", ".pkl"};
  return std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

std::string model_file_name(std::string_view path) { return std::filesystem::path(path).filename().string(); }

Error no_timeline(std::string_view model_file) {
  return {ExitCode::usage, fmt::format("{} is a model, and its step is not recorded", model_file),
          fmt::format("hbench sweep --workload {0} --input 3x224x224 records and predicts it; for other verbs, hbench "
                      "calibrate --model {0} --input 3x224x224 --out my-model.toml",
                      model_file)};
}

void require_script(const std::string& file) {
  std::ifstream in = open(file);
  std::array<char, 16> bytes{};
  in.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(in.gcount()));
  if (head.empty()) throw no_script(file, "empty");
  if (!head.starts_with("PK\x03\x04")) throw no_script(file, kind_of(head));
}

Error no_script(const std::string& file, std::string_view what_it_is) {
  return {ExitCode::usage, fmt::format("{} is no TorchScript file: it is {}", model_file_name(file), what_it_is),
          "save the model with its code: torch.jit.script(model).save(\"model.pt\"), or "
          "torch.jit.trace(model.train(), example).save(\"model.pt\")"};
}

Error cannot_train(const std::string& file, std::string_view why, std::string cure) {
  return {ExitCode::usage, fmt::format("{} cannot be trained: {}", model_file_name(file), why), std::move(cure)};
}

}  // namespace hbench
