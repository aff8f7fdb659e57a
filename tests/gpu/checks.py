"""What the steps of tests/gpu/run have printed: whether it is what they exist for, and which ratios it has."""
import csv
import dataclasses
import json
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Ratio:
    """`share` of what bounds it; `bar` is the least that hbench asks for, or None."""
    what: str
    value: float
    unit: str
    share: float
    bar: object = None


def every_test_ran(log, folder):
    """GoogleTest's last lines: all passed, at least one, none skipped."""
    text = log.read_text(errors="replace")
    skipped = re.findall(r"^\[  SKIPPED \] ([\w/]+\.[\w/.]+)", text, re.M)
    passed = re.search(r"^\[  PASSED  \] ([1-9]\d*) test", text, re.M)
    if skipped:
        return f"skipped: {', '.join(sorted(set(skipped))[:3])}"
    return None if passed else "no test was run"


def benchmarks(path):
    """Rows of Google Benchmark's CSV by name, which ends before `/iterations`; those that failed have an error."""
    if not path.exists():
        return {}
    lines = path.read_text(errors="replace").splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("name,")), len(lines))
    return {re.sub(r"/iterations.*", "", row["name"]): row for row in csv.DictReader(lines[start:])}


def number(row, column):
    try:
        return float(row.get(column) or "nan")
    except ValueError:
        return float("nan")


def every_bar_was_measured(name, bars, share):
    def judge(log, folder):
        rows = benchmarks(folder / name)
        failed = [f"{key}: {row['error_message']}" for key, row in rows.items() if row.get("error_occurred") == "true"]
        missing = [key for key in bars if key not in rows or not number(rows[key], share) > 0]
        if failed:
            return f"failed: {'; '.join(failed[:3])}"
        return f"not measured: {', '.join(missing[:5])}" if missing else None
    return judge


def benchmark_rows(name, bars, unit, share):
    return lambda folder: [Ratio(key, number(row, unit), unit, number(row, share), bars.get(key))
                           for key, row in benchmarks(folder / name).items() if number(row, share) > 0]


def points(log):
    """Of `hbench sweep --json`."""
    return json.loads(log.read_text())


def is_on_gpu(point):
    return point.get("evidence") == "measured" and point.get("device") == "gpu" and not point.get("failed")


def trained_on_the_gpu(log, folder):
    try:
        strategies = {point["algorithm"] for point in points(log) if is_on_gpu(point)}
    except (ValueError, KeyError, TypeError) as error:
        return f"not the JSON of a sweep: {error!r}"
    return None if {"ring", "none"} <= strategies else f"measured on the GPU: {sorted(strategies) or 'nothing'}"


def measured_by(field, log):
    """Points measured on the GPU by a field of theirs; those without it by an empty one."""
    return {point.get(field) or "": point for point in points(log) if is_on_gpu(point)}


def were_measured(field, wanted):
    def judge(log, folder):
        try:
            missing = sorted(set(wanted) - measured_by(field, log).keys())
        except (ValueError, KeyError, TypeError) as error:
            return f"not the JSON of a sweep: {error!r}"
        return f"not measured on the GPU: {', '.join(missing)}" if missing else None
    return judge


def methods_were_measured(methods):
    return were_measured("method", ["" if method == "synchronous" else method for method in methods])


def frameworks_were_measured(frameworks):
    return were_measured("framework", frameworks)


def framework_rows(folder):
    known = measured_by("framework", folder / "frameworks.log")
    own = known.pop("")["throughput"]
    return [Ratio(f"hbench's rank / {name}, ResNet-50 bf16", point["throughput"], "images/s", own / point["throughput"],
                  0.95) for name, point in sorted(known.items())]


def simulated_from_the_gpu(log, folder):
    try:
        rows = points(log)
        measured = sum(is_on_gpu(point) for point in rows)
        largest = max((point["gpus"] for point in rows if point["evidence"] == "simulated"), default=0)
    except (ValueError, KeyError, TypeError) as error:
        return f"not the JSON of a sweep: {error!r}"
    if measured == 0:
        return "nothing was measured on the GPU"
    return None if largest == 128 else f"simulated to {largest} GPUs instead of 128"


def harness_rates(folder):
    """Samples per second of the bare loop, and the harness's share of it with one rank."""
    own = {point["algorithm"]: point for point in points(folder / "harness.log") if is_on_gpu(point)}
    return own["none"]["throughput"], own["ring"]["efficiency"]


def harness_rows(folder):
    bare, share = harness_rates(folder)
    return [Ratio("harness, one rank / bare loop, ResNet-50 bf16", bare * share, "images/s", share, 0.99)]


def eager_rows(folder):
    try:
        bare, _ = harness_rates(folder)
    except (OSError, ValueError, KeyError):
        return []
    eager = float((folder / "eager.log").read_text())
    return [Ratio("bare loop / PyTorch eager, ResNet-50 bf16", eager, "eager images/s", bare / eager, 0.95)]


def recorded(folder):
    """Rows of recorder.py, whose messages of each recording are in the log too."""
    lines = (folder / "recorder.log").read_text(errors="replace").splitlines()
    return json.loads(next((line for line in lines if line.startswith("[{")), "[]"))


def workloads_were_recorded(log, folder):
    rows = recorded(folder)
    missing = [row["workload"] for row in rows if not row["written"]]
    return f"not recorded: {', '.join(missing)}" if missing else None if rows else "nothing was recorded"


def recorder_rows(folder):
    return [Ratio(f"a step without / with the recorder, {row['workload']}", row["recorded_s"] * 1e3, "ms", row["share"],
                  0.99) for row in recorded(folder)]


def rates_were_measured(log, folder):
    with open(folder / "rates" / "rates.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    failed = [f"{row['workload']}: {row['error']}" for row in rows if row["error"]]
    return "; ".join(failed[:3])[:300] if failed else None if rows else "nothing was measured"


def nccl_rows(ours, theirs):
    """Both in place. Columns of nccl-tests: size, count, type, redop, root, then time (us), algbw, busbw, #wrong, out of
    place and in place."""
    def rows(folder):
        document = json.loads((folder / ours).read_text())
        known = {row["size"]: row["in_place_seconds"] for row in document["results"] if row["in_place_seconds"]}
        table = [line.split() for line in (folder / theirs).read_text().splitlines()]
        wanted = {int(row[0]): float(row[9]) / 1e6 for row in table if len(row) >= 13 and row[0].isdigit()}
        return [Ratio(f"ncclAllReduce, {size >> 20} MiB: nccl-tests / hbench", known[size] * 1e6, "us",
                      wanted[size] / known[size], 0.99) for size in sorted(known.keys() & wanted.keys())]
    return rows
