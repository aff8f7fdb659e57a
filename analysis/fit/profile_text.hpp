#pragma once

/// Profiles as TOML text: what `parse_profile` reads back.

#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

/// The largest uncertainty that a profile may state.
inline constexpr double kMostUncertainty = 0.9;

/// `key = { value = "15 us", source = "..." }`; a number stands without quotes. `assumed` as in `Figure`.
std::string profile_line(std::string_view key, std::string_view text, std::string_view source, double assumed = 1);
/// `[price]`'s lines; nothing where there is none.
std::string price_lines(const std::optional<Price>& price);
/// `[name]` with its lines; nothing where there are none.
std::string profile_section(std::string_view name, const std::string& lines);
/// A profile's figures of one section as lines, but for some keys.
std::string profile_lines(const Profile& profile, std::string_view section,
                          const std::vector<std::string_view>& but = {});
/// Samples/s of one GPU as lines, each with its batch and source.
std::string rate_lines(const std::map<std::string, GpuRate, std::less<>>& rates);

/// What compressors were measured to take, as lines.
std::string coding_lines(const std::map<std::string, StatedCoding, std::less<>>& coding);

/// `[[collectives]]` with its lines.
std::string curve_section(const MeasuredCurve& curve);
/// Gives a figure another text and source; adds it where there is none of this key.
void set_figure(Profile& profile, std::string_view key, const std::string& text, const std::string& source);

/// A whole profile with these figures (`Profile::figures`) and rates of one GPU, and its curves.
std::string format_profile(const Profile& profile);

}  // namespace hbench
