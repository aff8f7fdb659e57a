#include "bench/track/pair_store.hpp"

#include "analysis/records/fingerprint.hpp"
#include "analysis/records/trial.hpp"

namespace hbench {

Run run_of_side(Run run, const std::string& side, const std::string& pair) {
  run.labels["side"] = side;
  run.labels[kPairLabel] = pair;
  return run;
}

PairStore::PairStore(const std::filesystem::path& file, const Run& base, const Run& head)
    : base_{.run = base}, head_{.run = head} {
  if (!file.empty()) store_.emplace(file);
}

void PairStore::keep(int number, const PairLaunches& pair) {
  if (!store_) return;
  keep(base_, number, pair.base);
  keep(head_, number, pair.head);
}

void PairStore::keep(Side& side, int number, const CommandLaunch& launch) {
  std::vector<CaseResult> results = launch.cases;
  // What the program knows of its machine is nearer to the truth than what this one sees.
  for (const auto& [name, fact] : launch.environment) side.run.environment[name] = fact;
  for (CaseResult& result : results) {
    place_on_this_machine(result.asked, side.run);
    for (Sample& sample : result.samples) sample.launch = number;
  }
  if (side.run.id == 0) side.run.id = store_->begin_run(side.run);
  for (const CaseResult& result : results) {
    const auto [known, added] = side.cases.try_emplace(result.asked.question(), 0);
    if (added)
      known->second = store_->append(side.run.id, result);
    else
      store_->add(known->second, result.samples);
  }
}

}  // namespace hbench
