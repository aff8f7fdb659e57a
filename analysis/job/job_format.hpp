#pragma once

/// Formats in which training jobs are recorded. Each is one file that defines a `JobFormat`, and a line in
/// `job_format.cpp`.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/job/recording.hpp"

namespace hbench {

struct JobFormat {
  std::string_view name, summary;
  std::string_view example;  ///< how one gets such a file
  RecordingAdvice advice;    ///< what `read_recordings` gives each recording
  /// Whether a file that begins with `head` (64 KiB, or all of it) is of this format.
  bool (*recognises)(std::string_view head);
  /// Reads one file; several recordings where it has several ranks. \throws Error (usage) that names the file, for what
  /// is damaged and for a file from which nothing can be learned, with what is missing.
  std::vector<Recording> (*read)(const std::string& file_name);
};

/// In the order in which they are tried.
std::span<const JobFormat* const> job_formats();
/// \throws Error (usage), with a suggestion.
const JobFormat& find_job_format(std::string_view name);

/// Reads a file in the format that it has, or in that of the given name (empty: the one that recognises it).
/// \throws Error (usage); for a file of no format with what hbench can do with it.
std::vector<Recording> read_recordings(const std::string& file_name, std::string_view format);

}  // namespace hbench
