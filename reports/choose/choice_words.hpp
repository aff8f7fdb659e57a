#pragma once

/// The sentences of a choice, and its numbers as texts. Pure.

#include <string>
#include <vector>

#include "analysis/choose/choose.hpp"

namespace hbench::choice_words {

/// Whole numbers from 100 up to a million.
std::string figure(double value);
std::string percent_band(const Band& band);
std::string share_band(const Pace& pace);
std::string hours_band(const Band& band);
std::string cost_text(double cost);
std::string cost_band(const Band& band);
/// Behind sums of money: how they are bought where that is not by the hour at any time.
std::string bought(const Profile& profile);
std::string gpus_text(int gpus);
/// Says how a job with interruptions gets on. \pre the alternative has a pace
std::string pace_in_words(const Alternative& first);
std::string workload_in_words(const Choice& choice, const Alternative& first);
std::string verdict(const Choice& choice, const std::vector<Alternative>& best);
/// Which prices would change the order of the first two.
std::string in_words(const PriceFlip& flip, const std::string& currency);
/// Why there is no cost in the currency of the goals.
std::string no_cost(const Profile& profile);
/// `BERT-large, batch 32: 16 GPUs of aws-p5: 94 % (52 to 100) of ideal speed, 55.04 USD/h (likely).`
std::string short_verdict(const Choice& choice, const Alternative& first);

}  // namespace hbench::choice_words
