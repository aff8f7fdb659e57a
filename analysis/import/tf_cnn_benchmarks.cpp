#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/import/format.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/text.hpp"

/// tf_cnn_benchmarks (github.com/tensorflow/benchmarks): a heading with model, batch and devices, and at the end `total
/// images/sec` of all of them. Horovod's synthetic benchmarks, and BytePS's after them, have `Number of GPUs` and
/// `Total img/sec on 4 GPU(s)`. Behind the labels of launchers every rank may print both.

namespace hbench {
namespace {

constexpr std::string_view kTotal = "total images/sec:", kSynthetic = "Total img/sec on ";

/// A line of a step is of no other program.
bool is_tf_cnn(std::string_view text) {
  const auto has = [&](std::string_view words) { return text.find(words) != text.npos; };
  return (has("images/sec: ") && has(" (jitter = ")) || ((has(kTotal) || has(kSynthetic)) && has("Model:"));
}

/// What follows a name in a line; empty where the name is not in it.
std::string_view after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  return at == line.npos ? std::string_view() : trimmed(line.substr(at + name.size()));
}

class TfCnnReader {
 public:
  explicit TfCnnReader(std::string_view file_name) : tests_(file_name) {}

  ImportedOutput read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      read_line(line);
    }
    const bool headed = !model_.empty();
    ImportedOutput output = tests_.finish(
        headed ? "it has no total images/sec" : "it has no heading with 'Model:'",
        headed ? "did the benchmark end before its last line?" : "give the output from its first line on");
    output.program = text.find(kTotal) != text.npos ? "tf_cnn_benchmarks" : "synthetic_benchmark";
    for (ImportedOutput& later : output.later) later.program = output.program;
    return output;
  }

 private:
  void read_line(std::string_view line) {
    if (const std::string_view model = after(line, "Model:"); !model.empty()) {
      if (totals_ > 0) tests_.begin();
      totals_ = 0;
      model_ = model;
    } else if (const std::size_t per = line.find(" per device"); per != line.npos) {
      const auto words = words_of(line.substr(0, per));
      batch_ = words.empty() ? "" : words.back();
    } else if (const std::string_view devices = after(line, "Devices:"); !devices.empty()) {
      gpus_ = static_cast<int>(std::ranges::count(devices, ',')) + 1;
    } else if (const auto batch = words_of(after(line, "Batch size:")); batch.size() == 1) {
      batch_ = batch[0];
    } else if (const std::string_view all = after(line, kSynthetic); !all.empty()) {
      gpus_ = static_cast<int>(std::clamp(finite_number(all.substr(0, all.find(' '))).value_or(0), 0., kMostDevices));
      read_total(after(all, ":"));
    } else if (const std::string_view total = after(line, kTotal); !total.empty()) {
      read_total(total);
    }
  }

  void read_total(std::string_view total) {
    if (++totals_ > 1 || model_.empty()) return;  // the other ranks', or of nothing that is known
    const auto rate = finite_number(total.substr(0, total.find(' ')));
    if (!rate || *rate <= 0) return tests_.leave_out(fmt::format("line {}: its total is '{}'", line_, total));
    Case asked =
        imported_benchmark("tf_cnn_benchmarks", model_ + (batch_.empty() ? "" : fmt::format(" batch {}", batch_)) +
                                                    (gpus_ > 0 ? fmt::format(" on {} devices", gpus_) : ""));
    asked.gpus = std::max(gpus_, 1);
    tests_.cases().add(asked, metric::kBenchmarkRate, std::array{*rate}, "images/s");
  }

  static constexpr double kMostDevices = 1e6;

  int line_ = 0, gpus_ = 0, totals_ = 0;
  std::string model_, batch_;
  ImportedTests tests_;
};

ImportedOutput parse_tf_cnn(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  return TfCnnReader(file_name).read(text);
}

}  // namespace

extern constinit const ImportFormat kTfCnnBenchmarksFormat{
    .name = "tf-cnn-benchmarks",
    .summary = "total images/sec, as Horovod's benchmarks print it too",
    .example = "python tf_cnn_benchmarks.py --model=vgg16 > 1.txt",
    .recognises = is_tf_cnn,
    .parse = parse_tf_cnn};

}  // namespace hbench
