#pragma once

/// Published scaling figures as results, to compare simulated points with.
///
/// Comma-separated values as in RFC 4180, read strictly: a file that is not what it seems is an error.
///
/// Fields may be quoted and then hold commas, line breaks and doubled quotes. Lines end in LF or CRLF.
/// The first row names the columns; every other row has as many fields. Blank lines are skipped.

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// Reads a table like `analysis/published/published.csv`; its columns are described in `bench/guide/formats.md`.
/// Each row becomes a case that is done, with the figures it states as samples and its line as origin. \throws Error
/// (usage) that names `file_name` and the line: for a missing or an unknown column, a figure that is none, a row
/// without a source, or a row that states neither throughput nor efficiency.
std::vector<CaseResult> published_results(std::istream& in, std::string_view file_name);

/// The project's own table, built into the program.
std::vector<CaseResult> published_results();
/// ResNet-50 and BERT of MLPerf Training on 2 to 540 nodes, with the row of one node by the same submitter in the same
/// round, from which each is predicted; built into the program as `analysis/published/mlperf.csv`.
std::vector<CaseResult> mlperf_results();
/// Steps with sharded state (FSDP's FULL_SHARD and SHARD_GRAD_OP); `analysis/published/sharded.csv`.
std::vector<CaseResult> sharded_results();
/// Returns what of the model was chosen with this published case known, by the column `calibrated` of the project's own
/// tables: predicting it again proves less than predicting one that chose nothing, which is empty.
std::string chosen_with(const Case& published);
/// Returns `owner/name` of a repository on GitHub, with the number of an issue: who says what a source has, so that
/// rows of one do not count as several. Of other addresses it is the host.
std::string publisher_of(std::string_view source);
/// The texts of the tables in this folder, which are built in.
extern const std::string_view kPublishedTable, kMlperfTable, kShardedTable;

struct CsvRow {
  std::size_t line = 0;  ///< of the row's first character, from 1
  std::vector<std::string> fields;
};

/// The rows with the header first; none for an empty stream.
/// \throws Error (usage) that names `file_name` and the line, for a stray or an unclosed quote and for a row
/// with more or fewer fields than the header.
std::vector<CsvRow> read_csv(std::istream& in, std::string_view file_name);

/// A batch with which a model is known to reach the accuracy that it has with small ones, the largest such. Beyond it a
/// step that is fast may be no step forward.
struct KnownBatch {
  std::string_view workload;  ///< by hbench's name
  std::int64_t samples = 0;   ///< of one step, all GPUs together
  std::string_view how;       ///< what it takes
  std::string_view source;
};

/// All that are known, by workload and size.
std::span<const KnownBatch> known_batches();

/// A warning of a step with more samples than its workload is known to converge with; empty where it has fewer, or
/// where nothing is known of the workload.
std::string warn_of_batch(const Case& asked);

}  // namespace hbench
