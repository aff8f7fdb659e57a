"""The results database of hbench in pandas:

    import hbench
    points = hbench.points("hbench.db")   # a row for each result: step, throughput, efficiency
    steps = hbench.steps("hbench.db")     # a row for each launch, rank and iteration

Needs pandas. The tables are documented in analysis/store of hbench's sources; intervals, warnings and collectives'
bandwidths are in what `hbench export --json` prints.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import pathlib
import sqlite3
import statistics
from typing import Any

APPLICATION, OLDEST = 1751281251, 9  # PRAGMA application_id, and the least user_version whose columns are known

# As `Store::results()`: of each question at each place the newest answer that was done, or the newest that failed.
NEWEST = """
SELECT id FROM (SELECT same.id AS id, row_number() OVER (PARTITION BY same.question, same.place
  ORDER BY same.status = 'done' DESC, same.run_id IN (SELECT run_id FROM label WHERE key IN ('tuning', 'pair')),
  its.started_at DESC, same.id DESC) AS nth
  FROM scaling_case AS same JOIN run AS its ON its.id = same.run_id WHERE same.benchmark = '') WHERE nth = 1"""

# What a case and its baseline share: the fields of the part `work`, the place, the code and the run.
SHARED = ("run_id", "place", "implementation", "workload", "device", "precision", "batch_per_gpu", "image_size",
          "single_gpu_rate")


def points(db: Any = "hbench.db", history: bool = False):
    """A row for each result, the newest of every case, or with `history` all; the columns of a case (`fields.md`), and
    `run`, `started_at`, `version`, `step_seconds`, `throughput` (samples/s of all GPUs), `throughput_per_gpu` and
    `efficiency`, as `hbench export` has them. What a result does not have is NaN."""
    import pandas
    return pandas.DataFrame(rows_of_points(db, history))


def steps(db: Any = "hbench.db", metric: str = "step_seconds"):
    """A row for each stored value of `metric`, warm-up included: of training steps `step_seconds`, of collectives
    `in_place_seconds`, or another metric of the database; `case_id` is the `id` of points(history=True)."""
    import pandas
    return pandas.DataFrame(rows_of_steps(db, metric))


def rows_of_points(db: Any = "hbench.db", history: bool = False) -> list[dict]:
    """What points() has, without pandas."""
    with _opened(db) as database:
        which = "" if history else f"AND one.id IN ({NEWEST})"
        cases = [dict(row) for row in database.execute(
            "SELECT one.run_id AS run, one.*, run.started_at, run.version FROM scaling_case AS one "
            f"JOIN run ON run.id = one.run_id WHERE one.benchmark = '' {which} ORDER BY one.id")]
        return [{**{name: value for name, value in case.items() if name not in ("run_id", "exit_code", "benchmark")},
                 **_figures(database, case)} for case in cases]


def rows_of_steps(db: Any = "hbench.db", metric: str = "step_seconds") -> list[dict]:
    """What steps() has, without pandas."""
    with _opened(db) as database:
        return [{**dict(row), "warmup": bool(row["warmup"])} for row in database.execute(
            "SELECT case_id, one.run_id AS run, evidence, workload, collective, bytes, gpus, algorithm, profile, launch, "
            "rank, iteration, warmup, value, unit FROM sample JOIN scaling_case AS one ON one.id = case_id "
            "WHERE metric = ? ORDER BY case_id, seq", (metric,))]


def _opened(db: Any) -> contextlib.closing:
    path = pathlib.Path(os.fspath(db)).absolute()
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    # For writing where that is allowed: what an interrupted writer left is rolled back.
    database = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)
    try:
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA query_only = 1")
        if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise ValueError(f"{path} is no results database of hbench")
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version < OLDEST:
            raise ValueError(f"{path} has tables of version {version}; any verb of hbench that stores something there "
                             f"brings them to version {OLDEST} or later")
    except sqlite3.DatabaseError as error:
        database.close()
        raise ValueError(f"{path}: {error}") from error
    except ValueError:
        database.close()
        raise
    return contextlib.closing(database)


def _figures(database: sqlite3.Connection, case: dict) -> dict:
    """Step, throughput and efficiency, as analysis/points has them."""
    step, efficiency = math.nan, math.nan
    alone = _value(database, case, "baseline_throughput")
    workers = case["gpus"] * max(case["processes_per_gpu"], 1)
    samples = workers * case["batch_per_gpu"]
    if case["status"] != "done" or case["collective"]:
        pass
    elif case["evidence"] == "published":
        efficiency = _value(database, case, "efficiency")
        throughput = _value(database, case, "throughput")
        if math.isnan(throughput):
            throughput = efficiency * alone * case["gpus"]
        elif math.isnan(efficiency):
            efficiency = throughput / (alone * case["gpus"]) if alone > 0 else math.nan
        step = samples / throughput if throughput > 0 else math.nan
    elif case["evidence"] == "simulated":
        step = _value(database, case, "step_seconds")
        efficiency = case["batch_per_gpu"] / (step * alone)
    else:
        launches = _launches(database, case["id"], "step_seconds")
        step = statistics.median(launches.values()) if launches else math.nan
        efficiency = _measured_efficiency(database, case, launches, step, alone)
    throughput = samples / step
    return {"step_seconds": step, "throughput": throughput, "throughput_per_gpu": throughput / case["gpus"],
            "efficiency": efficiency}


def _measured_efficiency(database: sqlite3.Connection, case: dict, launches: dict, step: float, alone: float) -> float:
    sharing = max(case["processes_per_gpu"], 1)
    if alone > 0:  # emulated
        return case["batch_per_gpu"] / alone / step
    beside = _launches(database, case["id"], "paired_baseline_seconds")
    ratios = [math.log(beside[launch] / launches[launch]) for launch in beside if launch in launches]
    if ratios:  # Hodges and Lehmann's estimate
        pairs = itertools.combinations_with_replacement(ratios, 2)
        return sharing * math.exp(statistics.median((one + other) / 2 for one, other in pairs))
    same = " AND ".join(f"{name} = ?" for name in SHARED)
    base = database.execute(f"SELECT id FROM scaling_case WHERE algorithm = 'none' AND status = 'done' AND {same} "
                            "ORDER BY id DESC", [case[name] for name in SHARED]).fetchone()
    base_launches = _launches(database, base["id"], "step_seconds") if base else {}
    return sharing * statistics.median(base_launches.values()) / step if base_launches else math.nan


def _value(database: sqlite3.Connection, case: dict, metric: str) -> float:
    row = database.execute("SELECT value FROM sample WHERE case_id = ? AND metric = ? ORDER BY seq LIMIT 1",
                           (case["id"], metric)).fetchone()
    return row[0] if row else math.nan


def _launches(database: sqlite3.Connection, case: int, metric: str) -> dict:
    """By launch the median over its timed iterations of the mean over ranks."""
    values: dict = {}
    for launch, value in database.execute(
            "SELECT launch, avg(value) FROM sample WHERE case_id = ? AND metric = ? AND NOT warmup "
            "GROUP BY launch, iteration", (case, metric)):
        values.setdefault(launch, []).append(value)
    return {launch: statistics.median(of_launch) for launch, of_launch in values.items()}
