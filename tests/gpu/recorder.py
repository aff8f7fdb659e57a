#!/usr/bin/env python3
"""What hbench's recorder costs while it records, on the first GPU: blocks of steps with and without it, A B B A.

Usage: recorder.py FOLDER [--device cpu] [--rounds N] [NAME-PRECISION-BATCH...]; the models are those of
workloads/traces/measure. Prints JSON with a row for each: `share` is the time of a step without the recorder over that of
one that it records, both the median of all their steps; FOLDER gets the recorded workloads.
Ends with 3 where PyTorch or a GPU is missing.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(3)

WORKLOADS = pathlib.Path(__file__).resolve().parents[2] / "workloads"
sys.path.insert(0, str(WORKLOADS / "recorder"))
sys.dont_write_bytecode = True

from hbench_recorder import Recorder  # noqa: E402

NAMES = ["resnet50-bf16-64", "bert_large-bf16-8", "gpt2_small-bf16-4"]
STEPS, WARM_UP = 12, 6  # of a block, and before each, in which cuDNN chooses and the recorder takes the pace


def script(path):
    """A Python program without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def seconds(step, recorder, least):
    """Of each step while the recorder records, or of `least` steps without one. The first is left out: with a recorder it
    is the one that all hooks watch, so that the others can take turns."""
    ends = []
    while len(ends) <= least or (recorder and not recorder._finished):
        step.run(len(ends))
        ends.append(step.clock.mark())
        if recorder:
            recorder.step()
    step.clock.wait()
    return [step.clock.seconds(*pair) for pair in zip(ends[1:], ends[2:])]


def measured(measure, name, device, rounds, folder):
    model, precision, batch = name.rsplit("-", 2)
    step = measure.Step(model, precision, int(batch), device)
    out = folder / f"{name}.toml"
    plain, recorded, count = [], [], STEPS
    for turn in range(2 * rounds):
        for with_it in ((False, True) if turn % 2 == 0 else (True, False)):
            recorder = Recorder(step.model, batch=int(batch), out=str(out), warmup=WARM_UP, title=model) if with_it else None
            for number in range(WARM_UP):
                step.run(number)
                if recorder:
                    recorder.step()
            times = seconds(step, recorder, count)
            # Reading the events at the end belongs to the last step.
            (recorded if with_it else plain).extend(times[:-1])
            count = len(times)
    one, other = statistics.median(plain), statistics.median(recorded)
    step.close()
    return {"workload": name, "plain_s": one, "recorded_s": other, "share": one / other, "written": out.exists(),
            "steps": len(recorded)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_intermixed_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit(3)
    options.folder.mkdir(parents=True, exist_ok=True)
    measure = script(WORKLOADS / "traces" / "measure")
    rows = [measured(measure, name, options.device, options.rounds, options.folder) for name in options.names]
    print(json.dumps(rows))


if __name__ == "__main__":
    begin = time.monotonic()
    main()
    print(f"recorder: {time.monotonic() - begin:.0f} s", file=sys.stderr)
