#pragma once

/// The batch at which clusters are compared where nobody asks for one. Figures of unlike batches would compare batches,
/// not networks. Pure.

#include <string>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/request.hpp"

namespace hbench {

/// Returns the samples of a micro-batch that a GPU of every cluster takes of `trace`: the batch at which the most of
/// them know their rate and have room for it by a method that is asked for, so that few rates are taken from another
/// batch; of equals the one that the most have room for, and then the largest. Measured rates decide, and modelled ones
/// where there are none. \param profiles names of clusters in `catalog`, which have taken their rates of the trace
/// (`take_rate`). \param own the trace is a file of the user's: its own speed stands for a rate that is not there.
int usual_batch(const PredictionRequest& request, const Trace& trace, const std::vector<std::string>& profiles,
                const Catalog& catalog, bool own);

/// Returns the title of a workload with what its workers take in a step of `cases`, for an answer that says nothing
/// without it: `VGG-16 of batch 64`, `of batch 32 or batch 64` where cases differ; the title alone without a case.
std::string title_with_batches(const Trace& trace, const std::vector<PlannedCase>& cases);

}  // namespace hbench
