"""The results database of hbench in pandas:

    import hbench
    points = hbench.points("hbench.db")   # a row for each result: step, throughput, efficiency
    steps = hbench.steps("hbench.db")     # a row for each launch, rank and iteration

Needs pandas. The tables are documented in analysis/store of hbench's sources; intervals, warnings and collectives'
bandwidths are in what `hbench export --json` prints.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import sqlite3
from typing import Any

APPLICATION, OLDEST = 1751281251, 13  # PRAGMA application_id, and the least user_version that has the view `point`

# As `Store::results()`: of each question at each place the newest answer that was done, or the newest that failed.
NEWEST = """
SELECT id FROM (SELECT same.id AS id, row_number() OVER (PARTITION BY same.question, same.place
  ORDER BY same.status = 'done' DESC, same.run_id IN (SELECT run_id FROM label WHERE key IN ('tuning', 'pair')),
  its.started_at DESC, same.id DESC) AS nth
  FROM scaling_case AS same JOIN run AS its ON its.id = same.run_id WHERE same.benchmark = '') WHERE nth = 1"""

FIGURES = ("step_seconds", "throughput", "throughput_per_gpu", "efficiency")


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
            f"SELECT one.run_id AS run, one.*, run.started_at, run.version, {', '.join(FIGURES)} "
            "FROM scaling_case AS one JOIN run ON run.id = one.run_id LEFT JOIN point ON point.case_id = one.id "
            f"WHERE one.benchmark = '' {which} ORDER BY one.id")]
        return [{name: math.nan if name in FIGURES and value is None else value for name, value in case.items()
                 if name not in ("run_id", "exit_code", "benchmark")} for case in cases]


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

