// The family of frameworks: what its entries name, who has them, and when a launch of one is void.

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "bench/frameworks/framework_job.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::frameworks_test {
namespace {

Case trained_by(std::string_view name) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.workload = "resnet18";
  asked.gpus = 2;
  asked.nodes = 1;
  asked.profile = kLocalProfile;
  return planned_by(parse_framework(name), "1.0", asked);
}

TEST(Frameworks, NameAPresetAMethodAndAScriptThatThereAre) {
  for (const Framework* each : frameworks()) {
    EXPECT_FALSE(each->summary.empty() || each->install.empty()) << each->name;
    EXPECT_NO_THROW(find_entry(presets(), each->preset, "preset")) << each->name;
    EXPECT_TRUE(std::filesystem::exists(installation().data / "frameworks" / each->script)) << each->name;
    const PlannedCase trained = planned(trained_by(each->name));
    EXPECT_EQ(trained.strategy.method.text(), each->method);
    EXPECT_EQ(trained.world(2).ranks(), 2) << each->name;
    EXPECT_EQ(framework_processes(*each, trained), 2 + each->servers) << each->name;
  }
}

TEST(Frameworks, AreReadAsTheyAreWritten) {
  for (const Framework* each : frameworks()) {
    EXPECT_EQ(parse_framework(each->name).text(), each->name);
    for (const FrameworkSetting& setting : each->settings) {
      const std::string text = std::string(each->name) + ":" + std::string(setting.name);
      EXPECT_EQ(parse_framework(text).text(), text);
    }
  }
}

TEST(Frameworks, TrainByTheMethodOfTheirSetting) {
  const Case asked = trained_by("pytorch-ddp:zero");
  EXPECT_EQ(asked.strategy.method, "zero:1");
  EXPECT_EQ(parse_framework("pytorch-ddp:bucket-view").method(), "synchronous");
  for (const Framework* each : frameworks())
    for (const FrameworkSetting& setting : each->settings) {
      const FrameworkChoice choice{each, &setting};
      EXPECT_EQ(parse_method(choice.method()).text(), choice.method()) << choice.text();
    }
}

TEST(Frameworks, ThatNobodyKnowsAreRefusedWithASuggestion) {
  const std::pair<const char*, const char*> wrong[] = {{"pytorch-dpd", "pytorch-ddp"},
                                                       {"pytorch-ddp:bucketview", "bucket-view"},
                                                       {"horovod:glo", "gloo"},
                                                       {"pytorch-fsdp:bucket-view", "pytorch-fsdp has no settings"}};
  for (const auto& [text, words] : wrong) try {
      parse_framework(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(std::string(error.what()) + error.hint(), HasSubstr(words));
    }
}

TEST(Frameworks, ArePartOfTheQuestionWithVersionAndSettingAndLeaveOtherQuestionsAsTheyAre) {
  const Case ddp = trained_by("pytorch-ddp"), view = trained_by("pytorch-ddp:bucket-view");
  EXPECT_NE(ddp.question(), view.question());
  EXPECT_EQ(ddp.question(),
            "workload=resnet18;gpus=2;nodes=1;algorithm=ring;compressor=none;fusion=ddp:25MiB:1MiB;overlap=yes;preset="
            "ddp;framework=pytorch-ddp;framework_version=1.0");
  EXPECT_EQ(view.strategy_label(), "pytorch-ddp:bucket-view 1.0");
  Case own = ddp;
  own.strategy.framework.clear(), own.strategy.framework_version.clear();
  EXPECT_EQ(
      own.question(),
      "workload=resnet18;gpus=2;nodes=1;algorithm=ring;compressor=none;fusion=ddp:25MiB:1MiB;overlap=yes;preset=ddp");
  EXPECT_EQ(ddp.baseline().question(), own.baseline().question()) << "hbench's own bare loop is the baseline of both";
}

TEST(Frameworks, TrainWhatTheirScriptsCanAndSayWhatTheyCannot) {
  const std::pair<std::function<void(Case&)>, const char*> cases[] = {
      {[](Case&) {}, ""},
      {[](Case& asked) { asked.workload = "inception_v3"; }, ""},
      {[](Case& asked) { asked.workload = "lenet5"; }, "lenet5 is none"},
      {[](Case& asked) { asked.workload = "my.pt:3x32x32"; }, "my.pt:3x32x32 is none"},
      {[](Case& asked) { asked.training = {.device = kGpuDevice, .precision = "bf16"}; }, ""},
      {[](Case& asked) { asked.training = {.device = kGpuDevice, .precision = "fp16"}; }, "tf32 or bf16"},
      {[](Case& asked) { asked.nodes = 2; }, ""},
      {[](Case& asked) { asked.training.precision = "bf16"; }, "float32"},
      {[](Case& asked) { asked.training.optimizer = "adam"; }, "plain SGD"},
      {[](Case& asked) { asked.accumulate = 1; }, ""},
      {[](Case& asked) { asked.accumulate = 2; }, "micro-batches"}};
  for (const auto& [change, words] : cases) {
    Case asked = trained_by("pytorch-ddp");
    change(asked);
    if (std::string_view(words).empty())
      EXPECT_THAT(refuse_framework(*frameworks().front(), asked), IsEmpty());
    else
      EXPECT_THAT(refuse_framework(*frameworks().front(), asked), HasSubstr(words));
  }
}

TEST(Frameworks, TrainOnGpusWhereTheirScriptsDo) {
  for (const char* name : {"pytorch-ddp", "pytorch-fsdp", "deepspeed"}) {
    Case asked = trained_by(name);
    asked.training = {.device = kGpuDevice, .precision = "bf16"};
    EXPECT_THAT(refuse_framework(*parse_framework(name).framework, asked), IsEmpty()) << name;
  }
  for (const char* name : {"horovod", "tensorflow-ring", "tensorflow-ps"}) {
    Case asked = trained_by(name);
    asked.training.device = kGpuDevice;
    EXPECT_THAT(refuse_framework(*parse_framework(name).framework, asked), HasSubstr("--device cpu"));
  }
}

TEST(Frameworks, OfTensorflowLeaveOutTheModelThatItBuildsOtherwise) {
  for (const char* name : {"tensorflow-ring", "tensorflow-ps"}) {
    const Framework& framework = *parse_framework(name).framework;
    for (const ModelEntry* model : models()) {
      Case asked = trained_by(name);
      asked.workload = model->name;
      const Architecture of = model->architecture;
      const bool trains = of == Architecture::resnet || of == Architecture::vgg || of == Architecture::mobilenet;
      EXPECT_EQ(refuse_framework(framework, asked).empty(), trains) << name << " " << model->name;
    }
  }
}

/// The samples of two ranks that trained ResNet-18.
std::vector<Sample> good_samples() {
  std::vector<Sample> samples;
  for (const int rank : {0, 1}) {
    samples.push_back({.rank = rank, .metric = "parameters", .value = 11'689'512});
    samples.push_back({.rank = rank, .metric = "loss", .value = 6.9});
  }
  return samples;
}

TEST(FrameworkTraining, IsRightOnlyWhereModelLossAndFinalParametersAre) {
  const Case asked = trained_by("pytorch-ddp");
  const std::vector<std::string> alike{"a", "a"};
  EXPECT_THAT(wrong_training(asked, good_samples(), alike), IsEmpty());
  EXPECT_EQ(wrong_training(asked, good_samples(), {"a", "b"}),
            "its ranks ended with different parameters, although they train one model");
  EXPECT_EQ(wrong_training(asked, {}, alike), "a rank did not say its parameters and its loss");
  std::vector<Sample> other = good_samples(), diverged = good_samples();
  other[2].value = 12;
  diverged[3].value = NAN;
  EXPECT_EQ(wrong_training(asked, other, alike), "it trained another model: 12 parameters, and resnet18 has 11689512");
  EXPECT_EQ(wrong_training(asked, diverged, alike), "its loss is no number: the training diverged");
}

/// An interpreter that does as the script says.
FoundFramework found_by(const std::string& script) {
  const TemporaryFolder folder;
  write_program(folder / "python", "#!/bin/sh\n" + script);
  return find_framework({frameworks().front()}, {"/nowhere/python3", (folder / "python").string()}, folder.path());
}

TEST(FindFramework, TakesTheFirstInterpreterThatHasIt) {
  const FoundFramework found = found_by("test \"$2\" = --version && echo '{\"version\": \"2.0\"}'");
  EXPECT_TRUE(found.state.available) << found.state.reason;
  EXPECT_EQ(found.version, "2.0");
  EXPECT_THAT(found.python, EndsWith("/python"));
}

TEST(FindFramework, SaysWhatEachInterpreterLacksAndTheLineThatInstallsIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"echo 'Traceback' >&2; echo \"ModuleNotFoundError: No module named 'torchvision'\" >&2; exit 1",
       "No module named 'torchvision'"},
      {R"(echo '{"lacks": "torch 1.13 lacks fully_shard"}')", "(torch 1.13 lacks fully_shard)"},
      {"exit 9", "exit code 9"},
      {"echo yes", "it says no version"},
      {"echo '[2]'; echo '{\"version\": 2}'", "it says no version"}};
  for (const auto& [script, words] : cases) {
    const FoundFramework found = found_by(script);
    EXPECT_FALSE(found.state.available);
    EXPECT_THAT(found.state.reason, AllOf(HasSubstr("/nowhere/python3 (no such program)"), HasSubstr(words)));
    EXPECT_EQ(found.state.cure,
              "apt-get install python3-torch python3-torchvision, or name an interpreter that has it: "
              "HBENCH_PYTHON=/path/to/python3");
  }
}

/// Hosts whose launcher is a script that answers as its arguments say.
class FindFrameworkOnHosts : public testing::Test {
 protected:
  FindFrameworkOnHosts() {
    write_program(folder_ / "mpirun", R"(#!/bin/sh
case "$*" in
  *"-H new:1"*) echo '[1,0]<stdout>:{"version": "2.1"}' ;;
  *"-H bare:1"*) echo "[1,0]<stdout>:{\"lacks\": \"No module named 'torch'\"}" ;;
  *"-H down:1"*) echo 'ssh: connect to host down port 22: No route to host' >&2; exit 1 ;;
  *) echo '[1,0]<stdout>:{"version": "2.0"}' ;;
esac
)");
    setenv("PATH", fmt::format("{}:/usr/bin:/bin", folder_.path().string()).c_str(), 1);
  }
  ~FindFrameworkOnHosts() override { setenv("PATH", path_.c_str(), 1); }

  static FoundFramework found_on(std::string_view hosts) {
    return find_framework({frameworks().front()}, {"python3"}, "/share", parse_host_list(hosts), "10.0.0.0/24");
  }

 private:
  const TemporaryFolder folder_;
  const std::string path_ = std::getenv("PATH");
};

TEST_F(FindFrameworkOnHosts, TakesTheVersionThatAllHave) {
  const FoundFramework found = found_on("n1:1,n2:1");
  EXPECT_TRUE(found.state.available) << found.state.reason;
  EXPECT_EQ(found.version, "2.0");
}

TEST_F(FindFrameworkOnHosts, NamesTheHostsThatLackIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"n1:1,bare:1", "python3 (bare: No module named 'torch')"},
      {"n1:1,new:1,n3:1", "python3 (new: version 2.1, and 2.0 on n1)"},
      {"n1:1,bare:1,down:1", "down: ssh: connect to host down port 22: No route to host"}};
  for (const auto& [hosts, words] : cases) {
    const FoundFramework found = found_on(hosts);
    EXPECT_FALSE(found.state.available) << hosts;
    EXPECT_THAT(found.state.reason, AllOf(HasSubstr("not on all hosts in one version"), HasSubstr(words)));
    EXPECT_EQ(found.state.cure,
              "on each host apt-get install python3-torch python3-torchvision, or name an interpreter that has it: "
              "HBENCH_PYTHON=/path/to/python3");
  }
}

TEST(FindFramework, LooksAtTheInterpretersOfTheVariable) {
  EXPECT_THAT(interpreters([](const char*) -> const char* { return nullptr; }),
              ElementsAre("python3", "/usr/bin/python3"));
  EXPECT_THAT(interpreters([](const char*) -> const char* { return "/a/python:/b/python"; }),
              ElementsAre("/a/python", "/b/python"));
}

TEST(FrameworkVariables, NameAPortThatTheKernelGivesToNoConnectionBeforeRankZeroListens) {
  int given_out = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> given_out;
  if (given_out <= 15'000) GTEST_SKIP() << "the kernel gives out all ports here";
  std::set<std::string> ports;
  for (int i = 0; i < 8; ++i) {
    const std::string port = framework_variables(parse_framework("pytorch-ddp")).at("MASTER_PORT");
    EXPECT_LT(std::stoi(port), given_out);
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 1U) << "jobs that begin together draw different ones";
}

TEST(FrameworkVariables, HaveAFreePortAndWhatTheSettingAsksFor) {
  const auto plain = framework_variables(parse_framework("horovod"));
  const auto yielding = framework_variables(parse_framework("horovod:yield"));
  EXPECT_GT(std::stoi(plain.at("MASTER_PORT")), 0);
  EXPECT_FALSE(plain.contains("OMPI_MCA_mpi_yield_when_idle"));
  EXPECT_EQ(yielding.at("OMPI_MCA_mpi_yield_when_idle"), "1");
}

TEST(FrameworkVariables, LetRanksMeetWhereTheirHostsReachEachOther) {
  const FrameworkChoice ddp = parse_framework("pytorch-ddp");
  const std::vector<std::string> one_host{"n2", "n2"}, two_hosts{"n2", "n3"};
  for (const auto& here : {framework_variables(ddp), framework_variables(ddp, one_host, "10.0.0.0/24")}) {
    EXPECT_EQ(here.at("MASTER_ADDR"), "127.0.0.1");
    EXPECT_EQ(here.at("HBENCH_NETWORK"), "lo");
  }
  const auto across = framework_variables(ddp, two_hosts, "10.0.0.0/24");
  EXPECT_EQ(across.at("MASTER_ADDR"), "n2");
  EXPECT_EQ(across.at("HBENCH_NETWORK"), "10.0.0.0/24");
}

TEST(FrameworkVariables, RefuseAPortInUse) {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  setenv("MASTER_PORT", std::to_string(ntohs(address.sin_port)).c_str(), 1);
  try {
    framework_variables(parse_framework("pytorch-ddp"));
    ADD_FAILURE() << "the port is in use";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr("in use"));
    EXPECT_EQ(error.hint(), "unset MASTER_PORT, so that a free one is taken, or give another");
  }
  unsetenv("MASTER_PORT");
  close(taken);
}

/// A machine that has one framework and lacks another.
LocalMachine machine_with_ddp() {
  LocalMachine machine = machine_of_two();
  machine.limits.models = {"lenet5", "resnet18"};
  machine.frameworks["pytorch-ddp"] = {.python = "python3", .script = "rank.py", .version = "1.13.1"};
  machine.frameworks["pytorch-ddp:bucket-view"] = machine.frameworks["pytorch-ddp"];
  machine.frameworks["tensorflow-ps"] = {.python = "python3", .script = "rank.py", .version = "2.21.0"};
  machine.frameworks["horovod"] = {.state = {false, "not installed for python3", "pip install horovod"}};
  return machine;
}

SweepRequest request_for(std::initializer_list<const char*> names) {
  SweepRequest request = small_request();
  request.workloads = {"resnet18"};
  request.gpus = {1, 2};
  request.evidence = {Evidence::measured};
  for (const char* name : names) request.frameworks.push_back(parse_framework(name));
  return request;
}

std::vector<std::string> labels_of(const Plan& plan) {
  std::vector<std::string> labels;
  for (const Case& asked : plan.cases) labels.push_back(asked.strategy_label() + " on " + std::to_string(asked.gpus));
  return labels;
}

TEST(FrameworkPlan, MeasuresFrameworksBesideOwnStrategies) {
  const Plan plan = plan_of(request_for({"pytorch-ddp", "pytorch-ddp:bucket-view"}), machine_with_ddp());
  EXPECT_THAT(labels_of(plan),
              ElementsAre("none on 1", "ring on 1", "pytorch-ddp 1.13.1 on 1", "pytorch-ddp:bucket-view 1.13.1 on 1",
                          "ring on 2", "pytorch-ddp 1.13.1 on 2", "pytorch-ddp:bucket-view 1.13.1 on 2"));
}

TEST(FrameworkPlan, LeavesOutWhatIsAbsentWithTheLineThatInstallsItAndGoesOn) {
  const Plan plan = plan_of(request_for({"horovod", "pytorch-ddp"}), machine_with_ddp());
  EXPECT_THAT(labels_of(plan), Contains("pytorch-ddp 1.13.1 on 2"));
  ASSERT_EQ(plan.refused.size(), 1);
  EXPECT_EQ(plan.refused[0].what, "horovod, measured");
  EXPECT_EQ(plan.refused[0].why, "not installed for python3 (fix: pip install horovod)");
}

TEST(FrameworkPlan, LeavesOutAFrameworkWhoseMethodIsNotAskedFor) {
  LocalMachine machine = machine_with_ddp();
  machine.frameworks["pytorch-ddp:local-sgd"] = machine.frameworks["pytorch-ddp"];
  SweepRequest request = request_for({"pytorch-ddp", "pytorch-ddp:local-sgd"});
  request.methods = {"local-sgd:4"};
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(labels_of(plan), Contains(HasSubstr("pytorch-ddp:local-sgd 1.13.1")));
  EXPECT_THAT(labels_of(plan), Not(Contains("pytorch-ddp 1.13.1 on 2")));
  ASSERT_EQ(plan.refused.size(), 1);
  EXPECT_EQ(plan.refused[0].why, "it trains by synchronous, which --method leaves out");
}

TEST(FrameworkPlan, CountsTheProcessesOfServers) {
  const Plan plan = plan_of(request_for({"tensorflow-ps"}), machine_with_ddp());
  const auto measured = std::ranges::find_if(
      plan.cases, [](const Case& asked) { return asked.strategy.of_framework() && asked.gpus == 2; });
  ASSERT_NE(measured, plan.cases.end());
  EXPECT_EQ(measured->asked.strategy.method, "async-ps");
  EXPECT_EQ(measured->asked.strategy.servers, 1);
  EXPECT_THAT(measured->asked.source, HasSubstr("oversubscribed: 3 processes on 2 cores"));
}

TEST(FrameworkPlan, PutsFrameworksOnHostsThatHaveRoomForTheirServersToo) {
  LocalMachine machine = machine_with_ddp();
  machine.allocation = parse_host_list("n1:1,n2:1");
  SweepRequest request = request_for({"pytorch-ddp", "tensorflow-ps"});
  request.gpus = {2};
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(labels_of(plan), ElementsAre("none on 1", "ring on 2", "pytorch-ddp 1.13.1 on 2"));
  EXPECT_EQ(plan.cases.back().asked.nodes, 2);
  EXPECT_THAT(plan.cases.back().asked.source, Not(HasSubstr("oversubscribed")));
  ASSERT_EQ(plan.refused.size(), 1);
  EXPECT_EQ(plan.refused[0].what, "tensorflow-ps, measured");
  EXPECT_EQ(plan.refused[0].why, "2 hosts with 2 slots each are needed, of -H n1:1,n2:1");
}

TEST(FrameworkPlan, RefusesWhatNoFrameworkTrainsAndMeasuresTheRest) {
  SweepRequest request = request_for({"pytorch-ddp"});
  request.workloads = {"lenet5"};
  const Plan plan = plan_of(request, machine_with_ddp());
  EXPECT_THAT(labels_of(plan), ElementsAre("none on 1", "ring on 1", "ring on 2"));
  ASSERT_EQ(plan.refused.size(), 1);
  EXPECT_EQ(plan.refused[0].why, "frameworks train torchvision's models, and lenet5 is none");
}

}  // namespace
}  // namespace hbench::frameworks_test
