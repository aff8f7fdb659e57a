"""What ranks of frameworks share, without a framework: how many steps they take and report."""

import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/frameworks/ranks"))
sys.dont_write_bytecode = True
import hbench_rank  # noqa: E402


def steps_of(cycle=1, warmup=2, steps=5, budget=0.0):
    """The steps that a rank reports when each takes a second, as `w` for a warm-up step and `t` for a timed one."""
    reported, clock = [], [0.0]
    with mock.patch.object(hbench_rank.time, "perf_counter", lambda: clock[0]), mock.patch.object(
            hbench_rank, "say", lambda kind, **fields: reported.append(fields)):
        counted = hbench_rank.Steps({"warmup_steps": warmup, "steps": steps, "budget": budget}, [0], lambda own: own,
                                    cycle)
        while counted.go_on():
            clock[0] += cycle
            counted.end(0.0, cycle)
    assert [each["iteration"] for each in reported] == list(range(len(reported)))
    assert all(each["seconds"] == 1 for each in reported), reported
    return "".join("w" if each["warmup"] else "t" for each in reported)


class Steps(unittest.TestCase):
    def test_are_as_many_as_were_asked_for(self):
        for warmup in (0, 1, 2, 7):
            for steps in (1, 2, 5):
                self.assertEqual(steps_of(warmup=warmup, steps=steps), "w" * warmup + "t" * steps)

    def test_of_a_method_that_exchanges_once_in_a_cycle_are_whole_cycles_and_never_cold(self):
        for warmup, steps, expected in ((2, 5, "wwww" + 8 * "t"), (4, 4, "wwww" + 4 * "t"), (5, 1, 8 * "w" + 4 * "t"),
                                        (0, 9, 12 * "t")):
            self.assertEqual(steps_of(cycle=4, warmup=warmup, steps=steps), expected)

    def test_end_with_the_budget(self):
        self.assertEqual(steps_of(warmup=2, steps=100, budget=6), "ww" + 4 * "t")
        self.assertEqual(steps_of(cycle=4, warmup=2, steps=100, budget=14), "wwww" + 12 * "t")

    def test_are_one_cycle_of_each_where_the_budget_is_spent(self):
        self.assertEqual(steps_of(warmup=9, steps=100, budget=0.5), "wt")
        self.assertEqual(steps_of(cycle=4, warmup=9, steps=100, budget=0.5), "wwww" + "tttt")


if __name__ == "__main__":
    unittest.main()
