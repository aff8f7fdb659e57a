// Models of one's own: files of TorchScript, made here, that LibTorch trains.

#include <cmath>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/workloads/script_files.hpp"
#include "tests/workloads/training_cases.hpp"
#include "workloads/training.hpp"

namespace hbench::script_model_test {
namespace {

using Flaw = ScriptText::Flaw;

/// A folder with a model, and a request that trains it.
class ScriptModel : public ::testing::Test {
 protected:
  OwnModel model(const ScriptText& text, const char* input = "1x8x8") {
    write_script(folder_ / "model.pt", text);
    return {(folder_ / "model.pt").string(), "", parse_sample_shape(input)};
  }

  /// A model with a loss of its own.
  OwnModel model(const ScriptText& text, const char* input, const std::string& loss) {
    OwnModel both = model(text, input);
    write_script(folder_ / "loss.pt", {.parameters = {}, .code = loss});
    both.loss = (folder_ / "loss.pt").string();
    return both;
  }

  const TemporaryFolder folder_;
};

TrainingRequest request_for(const OwnModel& model, int workers) {
  TrainingRequest request = small_request("", {.workers = workers}, workers > 1 ? "ring" : nullptr);
  request.own = model;
  return request;
}

TEST_F(ScriptModel, OnTwoRanksEndsWhereOneWithAllSamplesDoes) {
  const TrainingRequest request = request_for(model(small_classifier()), 2);
  const std::vector<float> expected = reference_parameters(request);
  const auto outcomes =
      on_all_ranks(make_thread_endpoints(2), [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.failure, "");
    EXPECT_LE(largest_difference(outcome.value, expected), 2e-6);
    EXPECT_EQ(outcome.value, outcomes[0].value);
  }
  const std::vector<float> before = make_replica(request, 0).parameters();
  EXPECT_GT(largest_difference(before, expected), 1e-4) << "it has learned something";
}

TEST_F(ScriptModel, StartsFromTheParametersOfItsFileOnEveryRank) {
  const TrainingRequest request = request_for(model(small_classifier()), 4);
  EXPECT_EQ(make_replica(request, 0).digest(), make_replica(request, 3).digest());
}

TEST_F(ScriptModel, HasTheTensorsOfItsFileAndTheirGradientsComeLastLayerFirst) {
  Replica replica(model(small_classifier()), {.batch = 2});
  EXPECT_THAT(replica.tensor_names(), ElementsAre("filters", "weights", "bias"));
  EXPECT_THAT(replica.tensor_elements(), ElementsAre(36, 40, 10));
  EXPECT_EQ(replica.record_layout().parameters.back(), 0);
}

// TorchScript's own derivatives would give all gradients at once, and nothing could be hidden behind the backward pass.
// The last layer has hardly any work, so that its gradient comes at the begin of the pass on a busy machine, too.
TEST_F(ScriptModel, HasItsGradientsOneAfterTheOther) {
  std::string code = "def forward(self, x):\n    x = x.flatten(1)\n";
  std::vector<ScriptParameter> layers;
  for (int layer = 0; layer < 4; ++layer) {
    layers.push_back({fmt::format("w{}", layer), {512, layer < 3 ? 512 : 4}});
    code += fmt::format("    x = torch.relu(torch.matmul(x, self.w{}))\n", layer);
  }
  const StepTimeline timeline = record_timeline({.own = model({layers, code + "    return x\n"}, "512"), .batch = 256});
  ASSERT_EQ(timeline.gradients.size(), 4u);
  EXPECT_EQ(timeline.gradients.front().tensor, "w3");
  EXPECT_EQ(timeline.gradients.back().tensor, "w0");
  EXPECT_LT(timeline.gradients.front().ready / timeline.gradients.back().ready, 0.6);
}

TEST_F(ScriptModel, IsTrainedInTrainModeAlthoughItWasSavedAfterEval) {
  const OwnModel own = model({{{"w", {4, 3}}},
                              "def forward(self, x):\n"
                              "    y = torch.matmul(x, self.w)\n"
                              "    return y if self.training else y[0]\n"},
                             "4");
  EXPECT_NO_THROW(Replica(own, {.batch = 2}));
}

TEST_F(ScriptModel, TakesTokensAndALossOfItsOwn) {
  const OwnModel own = model({{{"words", {50, 8}}},
                              "def forward(self, x):\n"
                              "    return torch.matmul(self.words[x], self.words.t())\n"},
                             "6:vocab=50",
                             "def forward(self, output, tokens):\n"
                             "    scores = torch.log_softmax(output[:, :-1], 2)\n"
                             "    return -torch.gather(scores, 2, tokens[:, 1:].unsqueeze(2)).mean()\n");
  Replica replica(own, {.batch = 4});
  replica.forward(0);
  EXPECT_NEAR(replica.loss(), std::log(50), 0.5);
}

TEST_F(ScriptModel, IsTrainedWithoutTheParametersThatTakeNoGradient) {
  const OwnModel own = model({{{"w", {4, 3}}, {"empty", {0, 3}}},
                              "def forward(self, x):\n"
                              "    return torch.matmul(x, self.w)\n"},
                             "4");
  EXPECT_THAT(Replica(own, {.batch = 2}).tensor_names(), ElementsAre("w"));
}

/// A model that cannot be trained.
struct Untrainable {
  const char* why;  ///< a sentence
  ScriptText text;
  const char* input;
  const char* message;
  const char* cure;
  const char* loss = nullptr;
};

const std::vector<ScriptParameter> kWeights{{"w", {4, 3}}};
const std::string kProduct = "def forward(self, x):\n    return torch.matmul(x, self.w)\n";

const Untrainable kUntrainable[] = {
    {"AFrozenModelHasNoParameters",
     {kWeights, kProduct, Flaw::frozen},
     "4",
     "it has no parameters",
     "torch.jit.freeze"},
    {"NoParameterRequiresAGradient",
     {kWeights, kProduct, Flaw::no_gradients},
     "4",
     "none of its 1 parameters requires a gradient",
     "requires_grad_"},
    {"ItIsInHalfPrecision", {kWeights, kProduct, Flaw::half}, "4", "its parameter w is of Half", "float()"},
    {"ItsInputHasAnotherShape", {kWeights, kProduct}, "3x5", "model.pt does not take 2x3x5: ", "--input"},
    {"ItTakesTokensAndGetsNumbers",
     {kWeights, "def forward(self, x):\n    return self.w[x].sum(1)\n"},
     "4",
     "model.pt does not take 2x4: ",
     "vocab"},
    {"ItTakesTwoInputs",
     {kWeights, "def forward(self, x, mask):\n    return torch.matmul(x, self.w) * mask\n"},
     "4",
     "model.pt does not take 2x4: forward() is missing value for argument 'mask'",
     "--input"},
    {"ItsOutputIsNoMatrix",
     {kWeights, "def forward(self, x):\n    return torch.matmul(x, self.w).unsqueeze(1)\n"},
     "4",
     "its output for 2 samples is a tensor of 2x1x3",
     "--loss"},
    {"ItsOutputIsATuple",
     {kWeights, "def forward(self, x):\n    return torch.matmul(x, self.w), x\n"},
     "4",
     "its output for 2 samples is a Tuple",
     "--loss"},
    {"ItsOutputHasOneClass",
     {kWeights, "def forward(self, x):\n    return torch.matmul(x, self.w)[:, :1]\n"},
     "4",
     "is a tensor of 2x1,",
     "--loss"},
    {"ItsOutputIsDetached",
     {kWeights, "def forward(self, x):\n    return torch.matmul(x, self.w).detach()\n"},
     "4",
     "its loss does not depend on a parameter",
     "detach"},
    {"AParameterGetsNoGradient",
     {{{"w", {4, 3}}, {"unused", {2}}}, kProduct},
     "4",
     "its parameter unused gets no gradient",
     "requires_grad_(False)"},
    {"AGradientIsNotFinite", {{{"w", {4, 3}, NAN}}, kProduct}, "4", "the gradient of w is not finite", "NaN"},
    {"ItsLossIsNoNumber",
     {kWeights, kProduct},
     "4",
     "the loss of loss.pt is a tensor of 2x3",
     "one number",
     "def forward(self, output, x):\n    return output\n"},
    {"ItsLossDoesNotTakeOutputAndInput",
     {kWeights, kProduct},
     "4",
     "loss.pt does not take (output, input), which are a tensor of 2x3 and a tensor of 2x4: ",
     "",
     "def forward(self, output, x):\n    return (output - x).mean()\n"},
};

class AModel : public ScriptModel, public ::testing::WithParamInterface<Untrainable> {};

TEST_P(AModel, CannotBeTrainedWhere) {
  const Untrainable& each = GetParam();
  const OwnModel own = each.loss ? model(each.text, each.input, each.loss) : model(each.text, each.input);
  expect_error([&] { record_timeline({.own = own, .batch = 2}); }, ExitCode::usage, HasSubstr(each.message),
               HasSubstr(each.cure));
}

INSTANTIATE_TEST_SUITE_P(Refusals, AModel, ::testing::ValuesIn(kUntrainable),
                         [](const auto& row) { return std::string(row.param.why); });

TEST_F(ScriptModel, IsNoFileOfWeightsWithoutCode) {
  write_weights(folder_ / "model.pt");
  const OwnModel own{(folder_ / "model.pt").string(), "", parse_sample_shape("4")};
  expect_error([&] { record_timeline({.own = own}); }, ExitCode::usage,
               HasSubstr("model.pt is no TorchScript file: it is an archive without code (a state_dict"),
               HasSubstr("torch.jit.script(model).save"));
}

TEST_F(ScriptModel, IsNoFileThatIsCutOff) {
  const OwnModel own = model(small_classifier());
  const std::string whole = bytes_of(own.file);
  write_bytes(own.file, whole.substr(0, whole.size() / 2));
  expect_error([&] { record_timeline({.own = own}); }, ExitCode::usage, HasSubstr("LibTorch cannot read model.pt: "),
               HasSubstr("torch.jit"));
}

}  // namespace
}  // namespace hbench::script_model_test
