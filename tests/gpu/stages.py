"""What tests/gpu/run does, in the order of what a first hour on a GPU should answer: a table of stages and their steps.

A step is one command with a limit in seconds. Each stage fits eight minutes, its build included, on 16 cores.
"""
import dataclasses
import re

import checks
from machine import NEWER_NCCL, SEVERAL_GPUS

# Arguments may contain {logs} (the folder of logs), {source} (the repository), {gpus} (how many there are), {nccl} (the
# folder of the NCCL that was brought), {libraries} (LD_LIBRARY_PATH) and the path of a program that is built, as {bench/hbench}.
HBENCH = "bench/hbench"


@dataclasses.dataclass(frozen=True)
class Step:
    """`program` is looked for among the prebuilt ones and is otherwise built: its path in the build folder, or the name
    of one on the PATH. `judge(step, log, files)` says what is wrong with what it printed, although it ended with 0, or
    None; `rows(files)` are the ratios that it measured. `codes` are the exit codes that are no failure."""
    name: str
    program: str
    arguments: tuple = ()
    limit: int = 120
    needs: tuple = ()
    codes: tuple = (0,)
    judge: object = None
    rows: object = None
    environment: tuple = ()

    @property
    def target(self):
        """What ninja builds for it; None for a program that this machine must have."""
        return self.program.rsplit("/", 1)[1] if "/" in self.program else None


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    about: str
    steps: tuple

    def paths(self):
        """STAGE/STEP of each step: names of steps alone are those of other stages too."""
        return [f"{self.name}/{step.name}" for step in self.steps]


def tests(name, program, *arguments, limit=180, **more):
    """A program of GoogleTest, of which every test must run."""
    return Step(name, program, arguments, limit, judge=checks.every_test_ran, **more)


def benchmark(name, program, bars, unit="GB/s", limit=240, **more):
    """A program of Google Benchmark; `bars` has the least share for each name that it must measure."""
    share = more.pop("share", "of_copy")
    return Step(name, "bench/micro/" + program,
                (f"--benchmark_out={{logs}}/{name}.csv", "--benchmark_out_format=csv"), limit,
                judge=checks.every_bar_was_measured(f"{name}.csv", bars, share),
                rows=checks.benchmark_rows(f"{name}.csv", bars, unit, share), **more)


def hbench(name, *arguments, limit=180, **more):
    return Step(name, HBENCH, arguments, limit, **more)


def sanitizer(tool):
    """What asks for more memory than there is makes an error on purpose."""
    return Step(tool, "compute-sanitizer",
                ("--tool", tool, "--error-exitcode", "9", "{tests/collectives/cuda_device_test}",
                 "--gtest_filter=-*SayHowMuchMemory*"), 450, ("compute-sanitizer",), judge=checks.every_test_ran)


COLLECTIVE = ("collective", "--quiet", "--db", "{logs}/gpu.db")
HARNESS = ("sweep", "--gpus", "1", "--evidence", "measured", "--device", "gpu", "--executor", "cuda", "--algorithm",
           "ring", "--workload", "resnet50", "--batch", "128", "--image-size", "224", "--precision", "bf16",
           "--launches", "3", "--budget", "10s", "--db", "{logs}/harness.db", "--report", "{logs}/report", "--json",
           "--quiet")

METHODS = "synchronous,zero:1,local-sgd:4,diloco:4,decentralized,gossip,async-ps,ssp:2"
MOMENTA = "1-bit-adam:8,qadam:8"
MEASURED = ("sweep", "--evidence", "measured", "--device", "gpu", "--workload", "resnet50", "--image-size", "224",
            "--precision", "bf16", "--compressor", "none", "--json", "--quiet")

STAGES = (
    Stage("kernels", "kernels against their twins on the host, and what CUDA and the driver say of this machine", (
        tests("device_tests", "tests/collectives/cuda_device_test"),
        tests("host_tests", "tests/collectives/cuda_host_test", "--gtest_filter=-CudaAvailability.GivesAReason*"),
        tests("driver", "tests/collectives/gpu_facts_test"),
        hbench("doctor", "doctor", codes=(0, 3), limit=60),
    )),
    Stage("ratios", "kernels beside a copy of the same bytes", (
        benchmark("kernels", "cuda_benchmark", {
            "pack/resnet50": 0.9, "unpack/resnet50": 0.9, "accumulate/float32/sum": 0.9, "encode/fp16": 0.9,
            "decode/fp16": 0.9, "encode/bf16": 0.9, "decode/bf16": 0.9, "encode/int8": 0.85, "decode/int8": 0.85}),
    )),
    Stage("ranks", "schedules between several ranks on one GPU: threads, and processes that open each other's memory", (
        tests("executors_tests", "tests/collectives/executors_test"),
        hbench("collective", *COLLECTIVE, "--executor", "cuda", "--ranks", "2,4", "-b", "1K", "-e", "64M", "-f", "8"),
        hbench("compressed", *COLLECTIVE, "--executor", "cuda", "--ranks", "2", "-b", "1M", "-e", "16M", "-f", "16",
               "--algorithm", "ring", "--compressor", "fp16,bf16,int8,int4,minmax8,sign,onebit,ef2:onebit,qsgd,topk,randomk,"
               "powersgd"),
        Step("processes", "mpirun",
             ("--allow-run-as-root", "--oversubscribe", "-n", "2", "{bench/hbench}", *COLLECTIVE, "--executor", "cuda",
              "-b", "1K", "-e", "64M", "-f", "8"), 180, ("MPI", "mpirun")),
        benchmark("schedules", "cuda_schedules_benchmark",
                  {f"{algorithm}/{ranks}": 0.9 for algorithm in ("ring", "direct", "halving-doubling")
                   for ranks in (2, 4, 8)}, share="of_bound"),
    )),
    Stage("nccl", "NCCL's own collectives, and hbench's schedules on its messages", (
        hbench("nccl", *COLLECTIVE, "--executor", "nccl,nccl-p2p", "--ranks", "{gpus}", "-b", "1K", "-e", "64M", "-f",
               "8", needs=("NCCL",)),
        hbench("nccl_compressed", *COLLECTIVE, "--executor", "nccl-p2p", "--ranks", "{gpus}", "-b", "1M", "-e", "16M",
               "-f", "16", "--algorithm", "ring,direct", "--compressor", "none,fp16,int8,qsgd,ef2:onebit,topk",
               needs=("NCCL",)),
        hbench("nccl_on_one_gpu", *COLLECTIVE, "--executor", "nccl,nccl-p2p", "--ranks", "2,4", "-b", "1K", "-e", "16M",
               "-f", "8", needs=("NCCL", NEWER_NCCL),
               environment=(("LD_LIBRARY_PATH", "{nccl}:{libraries}"), ("NCCL_MULTI_RANK_GPU_ENABLE", "1"),
                            ("CUDA_MODULE_LOADING", "EAGER"))),
        Step("nccl_tests", "all_reduce_perf", ("-b", "64M", "-e", "256M", "-f", "4", "-n", "50", "-t", "{gpus}", "-g",
                                               "1"), 120, (SEVERAL_GPUS, "all_reduce_perf")),
        hbench("beside_nccl_tests", *COLLECTIVE, "--executor", "nccl", "--ranks", "{gpus}", "-b", "64M", "-e", "256M",
               "-f", "4", "--json", needs=("NCCL", SEVERAL_GPUS, "all_reduce_perf"),
               rows=checks.nccl_rows("beside_nccl_tests.log", "nccl_tests.log")),
    )),
    Stage("training", "models on the GPU, what the harness costs, and the report of a machine with one GPU", (
        tests("training_tests", "tests/workloads/training_test", "--gtest_filter=*GpuTraining*", limit=300,
              needs=("LibTorch",)),
        hbench("harness", *HARNESS, limit=240, needs=("LibTorch",), judge=checks.trained_on_the_gpu,
               rows=checks.harness_rows),
        Step("eager", "python3", ("{source}/tests/gpu/eager.py", "128", "224", "bf16"), 180, ("torch",),
             rows=checks.eager_rows),
    )),
    Stage("methods", "training methods between four ranks that share a GPU, each a process", (
        hbench("methods", *MEASURED, "--gpus", "4", "--oversubscribe", "4", "--executor", "cuda", "--batch", "32",
               "--algorithm", "ring,ps", "--servers", "colocated", "--fusion", "none", "--method", METHODS,
               "--launches", "1", "--more-launches", "0", "--budget", "3s", "--db", "{logs}/methods.db", limit=240,
               needs=("LibTorch", "MPI"), judge=checks.methods_were_measured(METHODS.split(","))),
        hbench("momenta", *MEASURED, "--gpus", "4", "--oversubscribe", "4", "--executor", "cuda", "--batch", "32",
               "--algorithm", "ring", "--fusion", "ddp", "--optimizer", "adam", "--method", MOMENTA, "--launches", "1",
               "--more-launches", "0", "--budget", "3s", "--db", "{logs}/methods.db", limit=120,
               needs=("LibTorch", "MPI"), judge=checks.methods_were_measured(MOMENTA.split(","))),
    )),
    Stage("frameworks", "PyTorch's DDP and FSDP on one GPU, in turn with hbench's own rank", (
        hbench("frameworks", *MEASURED, "--gpus", "1", "--executor", "cuda", "--batch", "128", "--algorithm", "ring",
               "--framework", "pytorch-ddp,pytorch-fsdp", "--launches", "2", "--more-launches", "0", "--budget", "4s",
               "--db", "{logs}/frameworks.db", limit=240, needs=("LibTorch", "MPI", "torch"),
               judge=checks.frameworks_were_measured(("pytorch-ddp", "pytorch-fsdp")), rows=checks.framework_rows),
    )),
    Stage("report", "measured on one GPU, calibrated, simulated to 128", (
        hbench("calibrated", "sweep", "--gpus", "1..128", "--evidence", "measured,simulated", "--device", "gpu",
               "--launches", "1", "--db", "{logs}/calibrated.db", "--report", "{logs}/calibrated", "--json", "--quiet",
               limit=420, needs=("LibTorch",), judge=checks.simulated_from_the_gpu),
    )),
    Stage("rates", "what a step of well-known models costs here, with PyTorch alone: rates, memory, timelines", (
        Step("rates", "python3", ("{source}/workloads/traces/measure", "{logs}/rates", "--time", "150"), 240, ("torch",),
             judge=checks.rates_were_measured),
    )),
    Stage("recorder", "what recording a workload costs a step of PyTorch", (
        Step("recorder", "python3", ("{source}/tests/gpu/recorder.py", "{logs}/recorded"), 150, ("torch",),
             judge=checks.workloads_were_recorded, rows=checks.recorder_rows),
    )),
    Stage("topk", "top-k beside LibTorch's", (
        benchmark("topk", "topk_cuda_benchmark", {"topk": 5}, unit="torch_ms", share="speed_up", needs=("LibTorch",)),
    )),
    Stage("memcheck", "memory accesses of every kernel (compute-sanitizer)", (sanitizer("memcheck"),)),
    Stage("racecheck", "races in shared memory (compute-sanitizer)", (sanitizer("racecheck"),)),
    Stage("cpu", "the same training on CPU cores: the LibTorch of this machine", (
        tests("cpu_training", "tests/workloads/training_test", "--gtest_filter=-*GpuTraining*", limit=420,
              needs=("LibTorch",)),
    )),
)


def programs():
    """Paths in the build folder of all that steps run or name in their arguments."""
    found = set()
    for step in (step for stage in STAGES for step in stage.steps):
        texts = (f"{{{step.program}}}", *step.arguments)
        found |= {name for text in texts for name in re.findall(r"\{((?:bench|tests)/[\w/]+)\}", text)}
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(programs()))
