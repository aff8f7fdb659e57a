#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"
#include "tests/reports/document_parts.hpp"

/// Points that tests of the scaling report are about, and what they look for in it.
namespace hbench {

inline const Strategy kRings{.algorithm = "ring", .compressor = "none", .fusion = "horovod"};
inline const Strategy kRingFp16{.algorithm = "ring", .compressor = "fp16", .fusion = "horovod"};
inline const Strategy kServers{
    .algorithm = "ps", .placement = "greedy", .server_mode = "colocated", .compressor = "none", .fusion = "none"};
inline const Strategy kDedicatedServers{
    .algorithm = "ps", .placement = "sliced", .server_mode = "dedicated", .compressor = "none", .fusion = "none"};
inline const Strategy kColocatedServers{
    .algorithm = "ps", .placement = "sliced", .server_mode = "colocated", .compressor = "none", .fusion = "none"};
inline const Strategy kAlone{.algorithm = "none"};

/// A point of 32 samples per GPU, of which one alone makes 100 a second. `efficiency` is a share, 1 for ideal.
Point point(Evidence evidence, const std::string& workload, const std::string& profile, int gpus,
            const Strategy& strategy, double efficiency);

Point simulated(const std::string& workload, const std::string& profile, int gpus, const Strategy& strategy,
                double efficiency);

/// A figure of a paper about VGG-16.
Point published(const std::string& profile, int gpus, const Strategy& strategy, double efficiency);

/// ResNet-18 on this machine, in three launches; its interval reaches 3 points down and 2 up.
Point measured(int ranks, const Strategy& strategy, double efficiency);

/// A measured case without a result.
Point failure(const std::string& reason);

/// What the report is made from, with titles of the networks "fast" and "slow".
ReportInput input_of(std::vector<Point> points);

Document report_on(std::vector<Point> points);

/// No-break spaces as plain ones, so that expectations can be read.
std::string plain(std::string text);

std::string verdict_on(std::vector<Point> points);

/// The rows of all-reduce against parameter servers.
std::vector<std::vector<std::string>> best_rows(const Document& document);

/// The sentence after the verdict.
std::string reason_for(std::vector<Point> points);

/// The rows of the table with this caption; none when there is no such table.
std::vector<std::vector<std::string>> rows_of(const Document& document, const std::string& caption);

}  // namespace hbench
