#!/usr/bin/env python3
"""NCCL's all-reduce through hbench beside NCCL's own benchmark: a line for each size that both have timed in place.

Usage: beside_nccl_tests.py OURS.json THEIRS.txt: what `hbench collective --json` and `all_reduce_perf` have printed.
"""
import json
import sys


def ours(path):
    document = json.load(open(path))
    return {row["size"]: row["in_place_seconds"] for row in document["results"] if row["in_place_seconds"]}


def theirs(path):
    """Columns: size, count, type, redop, root, then time (us), algbw, busbw, #wrong out of place and in place."""
    rows = [line.split() for line in open(path)]
    return {int(row[0]): float(row[9]) / 1e6 for row in rows if len(row) >= 13 and row[0].isdigit()}


def main(own, other):
    try:
        known, wanted = ours(own), theirs(other)
    except ValueError as error:
        return print(f"nccl-tests: NOT RUN: {own} or {other} is not what was expected: {error}")
    both = sorted(known.keys() & wanted.keys())
    if not both:
        print("nccl-tests: NOT RUN: no size that both have timed")
    for size in both:
        what = f"ncclAllReduce, {size >> 20} MiB: nccl-tests / hbench"
        print(f"{what:44} {wanted[size] / known[size]:8.3f}  (bar 0.99)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
