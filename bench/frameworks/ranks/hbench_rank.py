"""What the ranks of all frameworks share: hbench's order, its messages, the place of a rank, and when steps end.

`bench/worker/protocol.hpp` describes both. A rank is started as `<script> <order>`, and writes one JSON object a line.
"""

import ctypes
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_PDEATHSIG = 1
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
LONGEST_REASON, LONGEST_FAILURE = 120, 400
WRONG_DATA = 4
LOST_RANK = 5


def say(kind, **fields):
    """Writes one message, as one write: lines of several ranks must not mix."""
    os.write(1, (json.dumps({kind: fields}) + "\n").encode())


def variable(names, default):
    """The first of these variables that is set, as a number."""
    return next((int(os.environ[name]) for name in names if name in os.environ), default)


def place():
    """Rank, ranks and local rank of this process, as its launcher says."""
    return (variable(("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"), 0),
            variable(("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"), 1),
            variable(("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"), 0))


def identity():
    """What hbench knows a process by, so that it ends this one and no other that has its number later."""
    with open("/proc/self/stat", encoding="utf-8") as status:
        started = int(status.read().rsplit(")", 1)[1].split()[19])
    with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as boot:
        host = f"{boot.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    return {"pid": os.getpid(), "host": host, "start_time": started}


def pin(local_rank):
    """Binds this process, and all threads that it starts later, to the core that hbench's own rank would have."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[local_rank % len(cores)]})


def on_gpu(case):
    """Whether ranks train on GPUs."""
    return case.get("device") == "gpu"


def workers_per_host(case):
    """How many workers there are on each host: consecutive ranks."""
    return case["gpus"] // case["nodes"]


def setting_of(framework):
    """The setting in `pytorch-ddp:bucket-view`; empty where there is none."""
    return framework.partition(":")[2]


class Steps:
    """Counts warm-up and timed steps as hbench's own ranks do, and reports each for `ranks`, of which this process is
    one or the coordinator.

    `agree(number)` returns rank 0's number on all ranks. It is called twice, between steps, and never while steps are
    timed: a spent budget ends the warm-up and, once one step is timed, the timed steps. Where ranks exchange once in a
    `cycle` of steps, warm-up and timed steps are whole cycles.
    """

    def __init__(self, order, ranks, agree, cycle=1):
        self.ranks, self.agree, self.budget, self.cycle = ranks, agree, order["budget"], cycle
        self.warmup, self.most, self.timed = self.whole(order["warmup_steps"]), self.whole(order["steps"]), cycle
        self.done, self.seconds = 0, 0
        self.begin = self.last = time.perf_counter()

    def whole(self, steps):
        """Returns at least so many steps, in whole cycles."""
        return math.ceil(steps / self.cycle) * self.cycle

    def planned(self):
        """Returns how many timed steps the budget pays for, with those that are done."""
        if self.budget <= 0:
            return self.most
        ahead = self.budget - (time.perf_counter() - self.begin)
        return min(self.most, max(self.cycle, self.whole(self.done - self.warmup + ahead / self.seconds)))

    def left(self):
        """How many steps follow each other without a question; of the warm-up one."""
        return max(1, self.warmup + self.timed - self.done) if self.done >= max(self.warmup, 1) else 1

    def go_on(self):
        """Whether there is another step."""
        if self.done == self.cycle < self.warmup and self.agree(int(0 < self.budget < self.last - self.begin)):
            self.warmup = self.cycle
        if self.done == max(self.warmup, self.cycle):
            self.timed = self.agree(self.planned())
            self.last = time.perf_counter()
        return self.done < self.warmup + self.timed

    def end(self, loss, steps=1):
        """Reports the step that has just ended, or several by their mean. A loss that is none ends the training."""
        now = time.perf_counter()
        self.seconds, self.last = (now - self.last) / steps, now
        if not math.isfinite(loss):
            fail(self.ranks[0], WRONG_DATA, f"the loss of step {self.done} is {loss}: the training diverges")
        for step in range(self.done, self.done + steps):
            for rank in self.ranks:
                say("step", rank=rank, iteration=step, warmup=step < self.warmup, seconds=self.seconds, exposed=None)
        self.done += steps


def report(ranks, metric, value):
    """Reports a figure of these ranks, which hbench checks."""
    for rank in ranks:
        say("samples", rank=rank, case=0, metric=metric, unit="1", warmup=False, first=0, values=[value])


cleaners = []  # processes that remove what this one leaves


def use_own_folder():
    """Gives libraries a folder for temporary files. It is removed with this process, also when that is killed."""
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="hbench-")
    # In a session of its own no signal to the ranks reaches it. The end of its input says that this process has ended.
    cleaners.append(subprocess.Popen(["sh", "-c", 'read line; rm -rf -- "$1"', "hbench-cleaner", tempfile.tempdir],
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     start_new_session=True))


def end(code):
    """Ends this rank. Threads of libraries do not hold it."""
    for cleaner in cleaners:
        cleaner.communicate(b"\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def one_line(text, longest):
    """Some frameworks fail with pages: the beginning of what they say, as one line."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else f"{line[:longest]} ..."


def fail(rank, code, message):
    """Says why this rank gives up, and ends it."""
    say("failure", rank=rank, exit_code=code, message=one_line(message, LONGEST_FAILURE))
    time.sleep(1)  # so that the launcher reports a rank that was killed, which others miss, before those
    end(code)


def answer(version, setting):
    """The framework's version, or what it lacks."""
    try:
        use_own_folder()
        return {"version": version(setting)}
    except ImportError as error:
        reason = str(error)
    except Exception as error:  # whatever a half installed framework raises
        reason = f"{type(error).__name__}: {error}"
    return {"lacks": one_line(reason, LONGEST_REASON)}


def main(version, train):
    """Prints `version(setting)`, or runs `train(order, rank, ranks, local_rank)` on this rank.

    `version` raises where the framework cannot be used with the setting, which is empty by default. `train` returns a
    digest of the final parameters.
    """
    if sys.argv[1:2] == ["--version"]:
        print(json.dumps(answer(version, setting_of(sys.argv[2]))))
        end(0)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # no rank outlives its launcher
    libc.mallopt(M_MMAP_MAX, 0)  # freed memory is kept, as hbench's own ranks keep it
    libc.mallopt(M_TRIM_THRESHOLD, -1)
    rank, ranks, local_rank = place()
    say("hello", rank=rank, **identity())
    try:
        use_own_folder()
        order = json.loads(sys.argv[1])
        if not on_gpu(order["case"]):
            pin(local_rank)
        digest = train(order, rank, ranks, local_rank)
    except Exception as error:  # whatever the framework raises ends the launch, with its words
        fail(rank, LOST_RANK, f"{type(error).__name__}: {error}")
    say("done", rank=rank, digest=digest)
    end(0)
