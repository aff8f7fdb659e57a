#pragma once

/// Profiles side by side, as a table for people and as JSON for machines.
///
/// Two profiles, figure by figure. Pure.

#include <optional>
#include <string>
#include <vector>

#include "analysis/catalogue/check.hpp"
#include "collectives/network/profile.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

Table profile_table(const std::vector<Profile>& profiles);
/// An array of objects: name, title, provider, GPU, nodes, rates in bytes/s, price with its terms, assumed figures.
std::string profiles_json(const std::vector<Profile>& profiles, Form form = Form::values);

/// One figure of two profiles; a text is empty where a profile has none.
struct FigurePair {
  std::string key;  ///< `network.line_rate`, or in words what is derived from figures
  std::string a, b;
  std::string source_a, source_b;  ///< empty for what is derived
  std::optional<double> ratio;     ///< b / a, where both are quantities of a kind
  bool differs() const { return a != b; }
};

/// What is derived first (rates per path, node and GPU; the price of a GPU), then the figures by their keys.
std::vector<FigurePair> compare_profiles(const Profile& a, const Profile& b);

/// Side by side, and where the figures are from: of those that differ, or of all.
Document difference_document(const Profile& a, const Profile& b, bool all);
/// An array of objects.
std::string difference_json(const Profile& a, const Profile& b, bool all, Form form = Form::values);

/// What a check of a profile found: an array of objects.
std::string findings_json(const std::vector<ProfileFinding>& findings, Form form = Form::values);

}  // namespace hbench
