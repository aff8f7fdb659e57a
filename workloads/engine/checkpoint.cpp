#include "workloads/engine/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "hbench checkpoint ";
constexpr std::string_view kVersion = "2";
constexpr std::size_t kBlock = std::size_t{1} << 20;  ///< that is written at once: it stays in a cache
/// Of each rank: the newest, and those that another rank may be at.
constexpr std::size_t kKept = 3;
constexpr std::string_view kAgreeing = "agreeing on a checkpoint";

/// Copies what it walks through: of each piece its name, its length and its bytes.
class Keeping final : public StateWalk {
 public:
  /// \param memory that an earlier state had: new memory takes longer to get than to fill
  explicit Keeping(std::vector<std::byte> memory) : state(std::move(memory)) { state.clear(); }
  bool brings() const override { return false; }
  void bytes(std::string_view name, std::span<std::byte> piece) override {
    add(std::as_bytes(std::span(name)));
    add(piece);
  }

  std::vector<std::byte> state;

 private:
  void add(std::span<const std::byte> text) {
    const std::uint64_t size = text.size();
    const auto length = std::as_bytes(std::span(&size, 1));
    state.insert(state.end(), length.begin(), length.end());
    state.insert(state.end(), text.begin(), text.end());
  }
};

/// The way back.
class Bringing final : public StateWalk {
 public:
  /// Both outlive it.
  Bringing(std::span<const std::byte> state, const fs::path& file) : rest_(state), file_(file) {}
  bool brings() const override { return true; }
  void bytes(std::string_view name, std::span<std::byte> piece) override {
    const std::span<const std::byte> known = next();
    const std::string_view there(reinterpret_cast<const char*>(known.data()), known.size());
    const std::span<const std::byte> kept = next();
    if (there != name || kept.size() != piece.size())
      throw Error(ExitCode::usage,
                  fmt::format("{} is of another model: it has {} bytes of '{}' where this one has {} of '{}'",
                              file_.string(), kept.size(), there, piece.size(), name),
                  "train the same model with the same flags, or give another folder");
    std::ranges::copy(kept, piece.begin());
  }

 private:
  std::span<const std::byte> next() {
    std::uint64_t size = 0;
    const auto length = std::as_writable_bytes(std::span(&size, 1));
    if (rest_.size() < length.size()) return {};
    std::ranges::copy(rest_.first(length.size()), length.begin());
    rest_ = rest_.subspan(length.size());
    const auto piece = rest_.first(std::min<std::size_t>(size, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }

  std::span<const std::byte> rest_;
  const fs::path& file_;
};

/// The checksum of all pieces so far.
class Checksum {
 public:
  void add(std::string_view piece) { sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(piece.data()), piece.size()); }
  /// What stands behind the state.
  std::string text() const { return fmt::format("{:08x}\n", sum_); }

 private:
  uLong sum_ = 0;
};

/// What stands before the state: two lines.
std::string head_of(const std::string& job) { return fmt::format("{}{}\n{}\n", kFirstLine, kVersion, job); }

/// The state in a file; none where it is not whole. \throws Error (usage) for one of another version or job.
std::optional<std::vector<std::byte>> load(const fs::path& file, const std::string& job) {
  std::ifstream stream(file, std::ios::binary);
  std::string first, of;
  if (!std::getline(stream, first) || !std::getline(stream, of)) return std::nullopt;
  if (!first.starts_with(kFirstLine)) return std::nullopt;
  if (first.substr(kFirstLine.size()) != kVersion)
    throw Error(ExitCode::usage, fmt::format("{} was written by another version of hbench", file.string()),
                "go on with that version, or give another folder");
  std::error_code error;
  std::string sum = Checksum().text();
  const auto all = fs::file_size(file, error), rest = static_cast<std::uintmax_t>(stream.tellg()) + sum.size();
  if (error || all < rest) return std::nullopt;
  std::vector<std::byte> bytes(all - rest);
  stream.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes));
  stream.read(sum.data(), std::ssize(sum));
  Checksum checksum;
  checksum.add(head_of(of));
  checksum.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!stream || sum != checksum.text()) return std::nullopt;
  if (of != job)
    throw Error(ExitCode::usage, fmt::format("{} is of {}, and this job is {}", file.string(), of, job),
                "train the same with the same flags, or give another folder");
  return bytes;
}

/// Writes a state with its checksum, block by block, so that each is read from memory once, and the disk works beside.
void write_state(PartialFile& file, const std::string& head, std::span<const std::byte> state) {
  Checksum checksum;
  const auto write = [&](std::string_view piece) {
    checksum.add(piece);
    file.write(piece);
    file.begin_sync();
  };
  write(head);
  for (std::string_view rest(reinterpret_cast<const char*>(state.data()), state.size()); !rest.empty();
       rest.remove_prefix(std::min(kBlock, rest.size())))
    write(rest.substr(0, kBlock));
  file.write(checksum.text());
  file.sync();
}

/// What killed ranks had not finished. No rank writes before all have looked for checkpoints.
void remove_rests(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> rests;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(PartialFile::kBegin)) rests.push_back(entry.path());
  for (const fs::path& rest : rests) fs::remove(rest, ignored);
}

void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

/// States by which ranks agree: as many of the newest.
using States = std::array<std::int64_t, 16>;

/// Returns the greatest of `mine` that all ranks have; 0 where there is none.
std::int64_t greatest_of_all(Transport* transport, Seconds timeout, const States& mine) {
  if (transport == nullptr || transport->size() == 1) return std::ranges::max(mine);
  Outbox outbox(*transport);
  std::int64_t greatest = 0;
  if (transport->rank() != 0) {
    outbox.send(0, kCheckpointTag, mine);
    receive_now(*transport, 0, kCheckpointTag, as_message(greatest), timeout, kAgreeing);
  } else {
    States common = mine;
    for (Rank rank = 1; rank < transport->size(); ++rank) {
      States theirs{};
      receive_now(*transport, rank, kCheckpointTag, as_message(theirs), timeout, kAgreeing);
      for (std::int64_t& state : common)
        if (std::ranges::find(theirs, state) == theirs.end()) state = 0;
    }
    greatest = std::ranges::max(common);
    for (Rank rank = 1; rank < transport->size(); ++rank) outbox.send(rank, kCheckpointTag, greatest);
  }
  flush(outbox, timeout, kAgreeing);
  return greatest;
}

}  // namespace

std::string Checkpoints::File::name(int steps, Rank rank, int ranks) {
  return fmt::format("step-{}-rank-{}-of-{}.checkpoint", steps, rank, ranks);
}

Checkpoints::Checkpoints(CheckpointRequest request, std::string job, Rank rank, int ranks, OnCheckpoint on_checkpoint)
    : request_(std::move(request)),
      job_(std::move(job)),
      rank_(rank),
      ranks_(ranks),
      on_checkpoint_(std::move(on_checkpoint)) {
  std::error_code ignored;  // the first checkpoint says what is wrong with the folder
  fs::create_directories(request_.folder, ignored);
}

Checkpoints::~Checkpoints() = default;

std::vector<Checkpoints::File> Checkpoints::all_files() const {
  std::vector<File> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(request_.folder, error)) {
    File file{.path = entry.path()};
    const std::string name = entry.path().filename();
    if (std::sscanf(name.c_str(), "step-%d-rank-%d-of-%d", &file.steps, &file.rank, &file.ranks) != 3) continue;
    if (name == File::name(file.steps, file.rank, file.ranks) && entry.is_regular_file(error)) all.push_back(file);
  }
  std::ranges::sort(all, [](const File& a, const File& b) {
    return a.state() != b.state() ? a.state() > b.state() : a.rank < b.rank;
  });
  return all;
}

std::vector<Checkpoints::File> Checkpoints::usable_files() const {
  std::vector<File> files = all_files();
  std::erase_if(files, [&](const File& file) { return file.ranks == ranks_ && file.rank != rank_; });
  const auto rest = std::ranges::unique(files, {}, &File::state);
  files.erase(rest.begin(), rest.end());
  return files;
}

CheckpointFound Checkpoints::find(Transport* transport, Seconds timeout) {
  remove_rests(request_.folder);
  std::vector<File> known = usable_files();
  const auto all_say = [&](bool yes) { return greatest_of_all(transport, timeout, {yes ? 1 : 0}) == 1; };
  if (!request_.resume && all_say(known.empty())) return {};
  if (!request_.resume)
    throw Error(ExitCode::usage, fmt::format("{} has checkpoints of an earlier job", request_.folder),
                "give another folder");
  while (true) {
    States states{};
    for (std::size_t i = 0; i < std::min(known.size(), states.size()); ++i) states[i] = known[i].state();
    const std::int64_t chosen = greatest_of_all(transport, timeout, states);
    if (chosen == 0) return {};
    const auto file = std::ranges::find(known, chosen, &File::state);
    std::optional<std::vector<std::byte>> state;
    std::optional<Error> refused;
    try {
      state = load(file->path, job_);
    } catch (const Error& error) {
      refused = error;
    }
    if (!all_say(!refused))
      throw refused.value_or(Error(ExitCode::usage, fmt::format("another rank cannot go on from {}", request_.folder),
                                   "see what that rank says"));
    if (!state) on_checkpoint_({.what = CheckpointReport::What::damaged, .steps = file->steps});
    if (all_say(state.has_value())) {
      found_ = *file;
      state_ = std::move(*state);
      return {found_.steps, found_.ranks};
    }
    known.erase(file);
  }
}

void Checkpoints::bring(const Walks& walks, int first_step) {
  if (found_.steps == 0) return;
  const auto begin = std::chrono::steady_clock::now();
  Bringing walk(state_, found_.path);
  walks.shared(walk);
  if (found_.ranks == ranks_) walks.own(walk);
  last_ = first_step;
  on_checkpoint_({.what = CheckpointReport::What::brought,
                  .steps = found_.steps,
                  .bytes = std::ssize(state_),
                  .stall = Seconds(seconds_since(begin))});
}

void Checkpoints::see(int steps, const Walks& walks) {
  if (steps - last_ < request_.every) return;
  const auto begin = std::chrono::steady_clock::now();
  report_last();
  Keeping walk(std::move(state_));
  walks.shared(walk);
  walks.own(walk);
  last_ = steps;
  report_ = {.what = CheckpointReport::What::written, .steps = steps, .bytes = std::ssize(walk.state)};
  state_ = std::move(walk.state);
  writing_ = std::async(std::launch::async, [this, steps] {
    const auto written = std::chrono::steady_clock::now();
    write(steps);
    return Seconds(seconds_since(written));
  });
  report_.stall = Seconds(seconds_since(begin));
}

void Checkpoints::finish() { report_last(); }

void Checkpoints::report_last() {
  if (!writing_.valid()) return;
  report_.writing = writing_.get();
  on_checkpoint_(report_);
}

void Checkpoints::write(int steps) const {
  const fs::path path = fs::path(request_.folder) / File::name(steps, rank_, ranks_);
  try {
    PartialFile partial(path);
    write_state(partial, head_of(job_), state_);
    partial.replace_target();
  } catch (const std::exception& error) {
    throw Error(ExitCode::environment,
                fmt::format("cannot write the checkpoint {}: {}; those before it stay", path.string(), error.what()),
                "make room, or give another folder");
  }
  sync_folder(request_.folder);
  remove_old();
}

/// With as many of its own as it keeps, all ranks have a newer state than those of a job of another size.
void Checkpoints::remove_old() const {
  std::size_t own = 0;
  std::error_code ignored;
  const std::vector<File> all = all_files();
  for (const File& file : all)
    if (file.ranks == ranks_ && file.rank == rank_ && ++own > kKept) fs::remove(file.path, ignored);
  for (const File& file : all)
    if (own >= kKept && file.ranks != ranks_ && file.rank % ranks_ == rank_) fs::remove(file.path, ignored);
}

}  // namespace hbench
