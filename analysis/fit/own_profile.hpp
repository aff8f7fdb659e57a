#pragma once

/// A profile of one's own cluster from a few answers. What nobody was asked is taken from figures of the same kind of
/// links and networks, each with its source, or is marked as assumed. Pure.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/node_links.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// What is known of the cluster, as somebody wrote it; empty: nobody said it.
struct OwnCluster {
  std::string title, provider, instance_type;
  std::string gpu;            ///< a name of the catalogue, `h100-sxm`, or any other
  std::string gpus_per_node;  ///< `8`
  std::string nodes_per_domain;
  std::string local_rate;  ///< of one GPU to others of its node: `370 GB/s`
  std::string line_rate;   ///< of one NIC: `100 Gbit/s`
  std::string nics;        ///< per node
  std::string transport;   ///< `rdma` or `tcp`
  std::string price;       ///< of a node for an hour: `12usd`
  std::string region, purchase;
  std::map<int, LinkRate> rates_among;  ///< of the first 2, 3 ... GPUs of a node; empty: they are all alike
};

/// One thing that can be said.
struct OwnQuestion {
  std::string_view flag;  ///< `--line-rate`
  std::string OwnCluster::*answer;
  std::string_view asks;     ///< in a few words, for help and for a terminal
  std::string_view example;  ///< `100 Gbit/s`
  bool required = false;     ///< a profile cannot do without; `--local-rate` only where a node has several GPUs
};
std::span<const OwnQuestion> own_questions();

/// Whether `cluster` has nothing to say to a question that must be answered.
bool lacks(const OwnCluster& cluster, const OwnQuestion& question);
/// Returns the flags of all that lack, in the order of the questions.
std::vector<std::string> lacking(const OwnCluster& cluster);

/// Takes the number of GPUs and the rates among them from the links of a node; a local rate that somebody stated stays
/// that of all. \throws Error (usage) where another number was stated, or the rate of all neither is nor follows.
void take_links(OwnCluster& cluster, const NodeLinks& links, const Profile& gpu);

/// Checks one answer. \throws Error (usage) that names the flag.
void check_answer(const OwnCluster& cluster, const OwnQuestion& question);

/// Returns a profile's text, which `parse_profile` reads. `how` is the source of every answer, and `day` that of the
/// price: `2026-11-26`. \pre nothing lacks, and every answer is checked.
std::string own_profile(const OwnCluster& cluster, const std::string& how, const std::string& day);

}  // namespace hbench
