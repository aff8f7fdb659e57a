"""Tests of workloads/recorder: recorder_test.py PROGRAM SOURCES, of what needs no torch; with --torch of the rest, which
ends with 77, and the reason, where no interpreter has torch (HBENCH_TEST_PYTHON names one)."""

import contextlib
import copy
import io
import json
import math
import os
import pathlib
import pickle
import re
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
PROGRAM, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCES / "workloads" / "recorder"))
import hbench  # noqa: E402
import hbench_recorder  # noqa: E402
from hbench_recorder import AFTER, BEGIN, CALLED, END, STEP, Gradient, Recorder, Unclear, understand  # noqa: E402


def hbench_says(*words):
    return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout


def seconds_between(first, second):
    return second - first


def simulated(file, folder):
    """What a sweep of the workload says, by GPUs."""
    hbench_says("sweep", "--workload", str(file), "--gpus", "1..8", "--evidence", "simulated", "--profile", "aws-p3-25gbe",
                "--algorithm", "ring", "--db", f"{folder}/sweep.db", "--report", f"{folder}/report", "--quiet")
    points = json.loads(hbench_says("export", "--json", "--db", f"{folder}/sweep.db"))
    return {point["gpus"]: point for point in points}


class WorkloadFile(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def test_is_read_by_hbench(self):
        text = hbench_recorder.format_workload(
            'Na"me \\ \x7f \u00e9 \U0001f600', "a\nb\t\x01", 32, 0.010, 0.020,
            [Gradient("first", 2000, 0.020), Gradient('se"cond', 1000, 0.005), Gradient("late", 3, 0.0200001)])
        file = pathlib.Path(self.folder, "own.toml")
        file.write_text(text, encoding="utf-8")
        points = simulated(file, self.folder)
        self.assertEqual(list(points), [1, 2, 4, 8])
        self.assertEqual(points[1]["batch_per_gpu"], 32)
        # One GPU sends nothing: 32 samples in 30 ms.
        self.assertAlmostEqual(points[1]["throughput"], 32 / 0.030, places=6)

    def test_of_the_interface_have_hbenchs_version(self):
        project = (SOURCES / "CMakeLists.txt").read_text()
        self.assertIn(f"project(hbench VERSION {hbench_recorder.__version__} ", project)


class AFile(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_replaces_what_a_link_names_and_keeps_the_mode_and_other_files(self):
        real, link, bait = self.folder / "real", self.folder / "link", self.folder / "link.part"
        real.write_text("old")
        real.chmod(0o600)
        link.symlink_to("real")
        bait.symlink_to("victim")
        hbench_recorder.replace_file(str(link), "new")
        self.assertEqual((real.read_text(), real.stat().st_mode & 0o777, link.is_symlink()), ("new", 0o600, True))
        self.assertEqual({each.name for each in self.folder.iterdir()}, {"real", "link", "link.part"})

    def test_that_is_a_pipe_a_device_or_a_folder_is_left_as_it_is(self):
        os.mkfifo(self.folder / "pipe")
        os.mkfifo(self.folder / "free.part")  # an older recorder waited for its reader
        for name in (str(self.folder / "pipe"), str(self.folder), "/dev/null"):
            with self.subTest(name=name), self.assertRaisesRegex(Unclear, "no regular file"):
                hbench_recorder.replace_file(name, "new")
        hbench_recorder.replace_file(str(self.folder / "free"), "new")
        self.assertEqual({each.name for each in self.folder.iterdir()}, {"pipe", "free", "free.part"})

    def test_that_cannot_be_written_leaves_nothing(self):
        with unittest.mock.patch("os.replace", side_effect=OSError("full")), self.assertRaises(OSError):
            hbench_recorder.replace_file(str(self.folder / "own.toml"), "new")
        self.assertEqual(list(self.folder.iterdir()), [])


class Turns(unittest.TestCase):
    def test_have_each_gradient_once_and_the_first_always(self):
        for count, most in ((1, 16), (16, 16), (17, 16), (80, 16), (161, 24), (1000, 37)):
            with self.subTest(count=count, most=most):
                order = [(7 * place) % count for place in range(count)] if count % 7 else list(range(count))
                turns = hbench_recorder.turns_of(order, most)
                self.assertTrue(all(len(turn) <= most + 1 and order[0] in turn for turn in turns))
                others = sorted(number for turn in turns for number in turn if number != order[0])
                self.assertEqual(others, sorted(order[1:]))
                self.assertEqual(len(turns), math.ceil(count / most))


class AStep(unittest.TestCase):
    def test_begins_its_backward_pass_at_the_models_output(self):
        step = understand([(STEP, 0), (CALLED, 1), (BEGIN, 10), (0, 12), (1, 15), (END, 16), (AFTER, 16), (STEP, 20)],
                          seconds_between)
        self.assertEqual(step, (10, 6, 0, 1, 1, {0: 2, 1: 5}, 4))

    def test_is_without_what_it_waited_for(self):
        step = understand([(STEP, 0), (BEGIN, 10), (0, 12), (END, 13), (AFTER, 20), (STEP, 21)], seconds_between)
        self.assertEqual((step.forward, step.backward, step.waited, step.update), (10, 3, 7, 1))

    def test_with_accumulated_gradients_has_those_of_the_last_pass(self):
        log = [(STEP, 0), (BEGIN, 10), (0, 12), (1, 13), (END, 14), (AFTER, 15), (BEGIN, 20), (0, 22), (1, 24), (END, 25),
               (AFTER, 25), (STEP, 30)]
        self.assertEqual(understand(log, seconds_between), (19, 5, 1, 0, 2, {0: 2, 1: 4}, 5))

    def test_with_two_losses_begins_with_the_first_and_leaves_out_waits_between(self):
        log = [(STEP, 0), (BEGIN, 10), (0, 12), (END, 13), (AFTER, 15), (BEGIN, 20), (1, 22), (END, 23), (AFTER, 24),
               (STEP, 30)]
        self.assertEqual(understand(log, seconds_between), (10, 11, 3, 0, 2, {0: 2, 1: 10}, 6))

    def test_keeps_the_update_in_the_backward_pass_where_it_may_be_waiting(self):
        log = [(STEP, 0), (BEGIN, 10), (0, 12), (END, 13), (AFTER, 13), (STEP, 21)]
        self.assertEqual(understand(log, seconds_between)[1::5], (3, 8))
        self.assertEqual(understand(log, seconds_between, waits_known=False)[1::5], (11, 0))

    def test_of_fsdp2_has_its_last_gradients_before_it_waits(self):
        log = [(STEP, 0), (BEGIN, 10), (0, 12), (END, 13), (1, 14), (AFTER, 18), (STEP, 21)]
        self.assertEqual(understand(log, seconds_between)[1::5], (3, 3))
        self.assertEqual(understand(log, seconds_between, waits_known=False)[1::5], (6, 0))

    def test_whose_last_pass_nobody_saw_has_no_update(self):
        log = [(STEP, 0), (BEGIN, 10), (0, 12), (END, 13), (AFTER, 13), (1, 15), (STEP, 21)]
        self.assertEqual(understand(log, seconds_between)[1::5], (11, 0))

    def test_without_gradients_is_none(self):
        self.assertIsNone(understand([(STEP, 0), (CALLED, 1), (STEP, 2)], seconds_between))

    def test_whose_backward_pass_nobody_saw_begin_is_refused(self):
        with self.assertRaisesRegex(Unclear, r"recorder.watch\(loss\)"):
            understand([(STEP, 0), (0, 2), (STEP, 3)], seconds_between)


class Results(unittest.TestCase):
    """What is read into pandas, against what hbench says itself; as rows, since pandas may not be there."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.db = f"{self.folder}/hbench.db"

    def test_have_the_figures_of_an_export(self):
        hbench_says("sweep", "--workload", "resnet50", "--gpus", "1..16", "--evidence", "simulated,published", "--profile",
                    "hkbu-10gbe", "--db", self.db, "--report", f"{self.folder}/report", "--quiet")
        # Beside them two pairs of measured launches of an iteration, and of one launch that is beside none.
        with contextlib.closing(hbench.sqlite3.connect(self.db)) as database:
            self.measured(database, "none", 1, {"step_seconds": {0: 1.0, 1: 1.0}})
            self.measured(database, "ring", 2, {"step_seconds": {0: 1.25, 1: 2.0},
                                                "paired_baseline_seconds": {0: 1.0, 1: 1.0}})
            self.measured(database, "ring", 4, {"step_seconds": {0: 4.0}})
            database.commit()
        exported = json.loads(hbench_says("export", "--json", "--db", self.db))
        rows = hbench.rows_of_points(self.db)
        self.assertEqual(len(rows), len(exported))
        self.assertEqual({row["evidence"] for row in rows}, {"simulated", "published", "measured"})
        for row, point in zip(rows, exported):
            for name in ("workload", "gpus", "algorithm", "evidence", "profile", "run"):
                self.assertEqual(row[name], point[name])
            for name in ("step_seconds", "throughput", "throughput_per_gpu", "efficiency"):
                with self.subTest(name=name, row=row):
                    if point[name] is None:
                        self.assertTrue(math.isnan(row[name]))
                    else:
                        self.assertAlmostEqual(row[name], point[name], delta=1e-9 * abs(point[name]))
        # By hand: the middle of ln 0.8, ln 0.5 and their mean; and 1 s / 4 s.
        efficiency = {row["gpus"]: row["efficiency"] for row in rows if row["evidence"] == "measured"}
        self.assertAlmostEqual(efficiency[2], math.sqrt(0.8 * 0.5))
        self.assertAlmostEqual(efficiency[4], 0.25)
        self.assertEqual([row["value"] for row in hbench.rows_of_steps(self.db) if row["evidence"] == "measured"],
                         [1.0, 1.0, 1.25, 2.0, 4.0])

    def measured(self, database, algorithm, gpus, metrics):
        """A copy of a simulated case as a measured one."""
        database.row_factory = hbench.sqlite3.Row
        case = dict(database.execute("SELECT * FROM scaling_case WHERE evidence = 'simulated'").fetchone())
        case.update(id=None, evidence="measured", profile="local", algorithm=algorithm, gpus=gpus, place="here",
                    overlap=int(algorithm != "none"), question=f"{algorithm} {gpus}", source="", placement="", fusion="",
                    compressor="", servers=0, server_mode="", machine="", preset="", nodes=0)
        cursor = database.execute(f"INSERT INTO scaling_case ({', '.join(case)}) VALUES ({', '.join('?' * len(case))})",
                                  list(case.values()))
        samples = [(metric, launch, value) for metric, launches in metrics.items() for launch, value in launches.items()]
        for seq, (metric, launch, value) in enumerate(samples):
            database.execute("INSERT INTO sample VALUES (?, ?, ?, 0, 0, 0, ?, ?, 's')",
                             (cursor.lastrowid, seq, launch, metric, value))

    def test_of_another_file_are_refused_by_its_name(self):
        other = pathlib.Path(self.folder, "other.db")
        with self.assertRaisesRegex(FileNotFoundError, "other.db"):
            hbench.rows_of_points(other)
        other.write_text("this is text, and long enough to be taken for a page of a database" * 20)
        with self.assertRaisesRegex(ValueError, "other.db"):
            hbench.rows_of_points(other)


def train(model, called, steps=8, recorder=None, micro_batches=1, watch=False, torch=None):
    """The losses of a small training, of which `called` is the model or what wraps it."""
    torch.manual_seed(1)
    optimizer = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
    x, y, losses = torch.randn(4, 8), torch.randint(0, 3, (4,)), []
    for _ in range(steps):
        optimizer.zero_grad()
        for _ in range(micro_batches):
            loss = torch.nn.functional.cross_entropy(called(x), y)
            if watch:
                recorder.watch(loss)
            loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if recorder is not None:
            recorder.step()
    return losses


def tensors_of(file):
    return re.findall(r'^  \["(.*)", (\d+), ([0-9.]+)\],$', pathlib.Path(file).read_text(), re.M)


class Recording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import torch
        cls.torch = torch
        torch.set_num_threads(1)

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.out = f"{self.folder}/my_model.toml"
        self.model, self.losses = self.network(), None
        self.losses = self.trained(self.network())

    def network(self):
        nn = self.torch.nn
        self.torch.manual_seed(0)
        layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
        layers[2].bias.requires_grad = False
        return layers

    def trained(self, model, called=None, **options):
        return train(model, called or model, torch=self.torch, **options)

    def recorder(self, model, **options):
        return Recorder(model, **{"batch": 4, "out": self.out, "warmup": 2, "steps": 4, **options})

    def recorded(self, **options):
        """The file, of a training that the recorder does not change and leaves without hooks; and what it says."""
        recorder, words = self.recorder(self.model), io.StringIO()
        with contextlib.redirect_stderr(words):
            losses = self.trained(self.model, recorder=recorder, **options)
        if options.get("micro_batches", 1) == 1:
            self.assertEqual(losses, self.losses)
        self.assertEqual(len(words.getvalue().splitlines()), 1, words.getvalue())
        self.assertEqual(sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in self.model.modules()), 0)
        self.assertEqual(recorder._handles, [])
        return pathlib.Path(self.out).read_text() if os.path.exists(self.out) else "", words.getvalue()

    def test_writes_what_hbench_reads(self):
        text, words = self.recorded()
        self.assertIn("median of 4 steps after 2", text)
        self.assertRegex(text, r'\nupdate = "[1-9][0-9.]* us"\n')
        self.assertIn("5 gradients of 451 elements", words)  # 128 + 16, 256, 48 + 3; 16 are frozen
        names = [name for name, _, _ in tensors_of(self.out)]
        self.assertEqual({name[0] for name in names[:2]}, {"4"})  # the last layer first
        self.assertEqual(names[2], "2.weight")
        self.assertEqual(dict((name, int(count)) for name, count, _ in tensors_of(self.out)),
                         {"0.weight": 128, "0.bias": 16, "2.weight": 256, "4.weight": 48, "4.bias": 3})
        self.assertEqual(simulated(self.out, self.folder)[1]["batch_per_gpu"], 4)

    def test_is_not_of_copies_and_files_of_the_model(self):
        recorder = self.recorder(self.model, warmup=0)
        for copied in (copy.deepcopy(self.model), pickle.loads(pickle.dumps(self.model))):
            self.trained(copied)
        self.assertEqual(len(recorder._log), 1)  # the begin of the first step
        with contextlib.redirect_stderr(io.StringIO()):
            recorder._finish("over")

    def test_says_where_gradients_are_accumulated(self):
        self.assertIn("3 backward passes a step", self.recorded(micro_batches=3)[0])

    def test_says_which_parameters_are_not_used(self):
        self.model.add_module("unused", self.torch.nn.Identity())
        self.model.unused.register_parameter("weight", self.torch.nn.Parameter(self.torch.zeros(7)))
        text, _ = self.recorded()
        self.assertIn("1 of 6 parameters got no gradient", text)
        self.assertNotIn("unused", text)

    def test_of_a_model_that_is_not_called_is_refused_and_one_whose_loss_is_watched_is_not(self):
        called = lambda x: self.model[4](self.model[3](self.model[2](self.model[1](self.model[0](x)))))  # noqa: E731
        text, words = self.recorded(called=called)
        self.assertEqual(text, "")
        self.assertIn("recorder.watch(loss)", words)
        self.model = self.network()
        self.assertIn("4.weight", self.recorded(called=called, watch=True)[0])

    def test_that_fails_leaves_the_training_alone(self):
        for options in ({"batch": None}, {"out": f"{self.folder}/no/folder.toml"}, {"steps": 0}, {"out": 3.5}):
            with self.subTest(options=options):
                words = io.StringIO()
                model = self.network()
                with contextlib.redirect_stderr(words):
                    losses = self.trained(model, recorder=self.recorder(model, **options))
                self.assertEqual(losses, self.losses)
                self.assertEqual(words.getvalue().count("\n"), 1, words.getvalue())
                self.assertIn("nothing is recorded", words.getvalue())

    def test_of_many_gradients_in_a_short_step_watches_a_part_at_a_time(self):
        """All are in the file, in the order of the backward pass, and no step but the first has more than a few hooks."""
        nn = self.torch.nn
        layers = nn.Sequential(nn.Linear(8, 8), *[nn.Linear(8, 8) for _ in range(38)], nn.Linear(8, 3))
        recorder, words, hooks = self.recorder(layers), io.StringIO(), set()

        def count(*_):
            hooks.add(len(recorder._hooks))
        layers[0].register_forward_hook(count)
        # However slow the machine is: no step is long enough for more hooks than the fewest.
        with contextlib.redirect_stderr(words), unittest.mock.patch.object(hbench_recorder, "SHARE", 0):
            self.trained(layers, recorder=recorder, steps=40)
        self.assertIn("80 gradients of 2,835 elements", words.getvalue())
        self.assertEqual(max(hooks), 80 if hasattr(layers[0].weight, "register_post_accumulate_grad_hook") else 160)
        per_gradient = max(hooks) // 80
        self.assertLessEqual(sorted(hooks)[-2], 17 * per_gradient)
        self.assertIn("median of 15 steps", words.getvalue())
        names = [int(name.split(".")[0]) for name, _, _ in tensors_of(self.out)]
        self.assertEqual(len(names), 80)
        # Neighbours are from different steps, which are not of one length: late layers come sooner on the whole, by 40
        # places where all steps are alike.
        late = [place for place, layer in enumerate(names) if layer >= 20]
        early = [place for place, layer in enumerate(names) if layer < 20]
        self.assertGreater(sum(early) / len(early) - sum(late) / len(late), 15)

    def test_that_ends_before_each_gradient_had_its_turn_has_all_from_the_first_step(self):
        nn = self.torch.nn
        layers = nn.Sequential(nn.Linear(8, 8), *[nn.Linear(8, 8) for _ in range(38)], nn.Linear(8, 3))
        recorder, words = self.recorder(layers), io.StringIO()
        with contextlib.redirect_stderr(words):
            self.trained(layers, recorder=recorder, steps=6)
            recorder._at_exit()
        self.assertIn("80 gradients of 2,835 elements", words.getvalue())

    def test_ends_with_the_training_where_that_is_sooner(self):
        recorder, words = self.recorder(self.model), io.StringIO()
        with contextlib.redirect_stderr(words):
            self.trained(self.model, recorder=recorder, steps=5)
            recorder._at_exit()
        self.assertIn("median of 3 steps", words.getvalue())

    def test_of_two_ranks_by_ddp_is_written_by_the_first(self):
        if not (self.torch.distributed.is_available() and self.torch.distributed.is_gloo_available()):
            self.skipTest("this PyTorch has no Gloo")
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = str(listener.getsockname()[1])
        ranks = []
        for rank in range(2):
            environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                           "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
            ranks.append(subprocess.Popen([sys.executable, __file__, PROGRAM, str(SOURCES), "--rank", self.out],
                                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        outputs = [rank.communicate(timeout=300) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], outputs)
        self.assertIn("gradients of", outputs[0][1])
        self.assertNotIn("hbench_recorder:", outputs[1][1])
        text = pathlib.Path(self.out).read_text()
        self.assertIn("rank 0 of 2, by DDP over gloo", text)
        self.assertIn("of waiting after the backward pass are left out", text)
        self.assertRegex(text, r'\nupdate = "[1-9][0-9.]* us"\n')
        self.assertIn('["4.weight", 48,', text)
        self.assertEqual(simulated(self.out, self.folder)[1]["batch_per_gpu"], 4)


def rank_of_ddp(out):
    import torch
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(Recording.network(type("Of", (), {"torch": torch})))
    train(model, model, recorder=Recorder(model, batch=4, out=out, warmup=2, steps=4), torch=torch)
    torch.distributed.destroy_process_group()


def python_with_torch():
    """The first interpreter that has torch; None where there is none."""
    for python in filter(None, (os.environ.get("HBENCH_TEST_PYTHON"), sys.executable, "/usr/bin/python3")):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
                return python
    return None


def main():
    if "--rank" in sys.argv:
        return rank_of_ddp(sys.argv[-1])
    suites = [Recording] if "--torch" in sys.argv else [WorkloadFile, Turns, AStep, Results]
    if "--torch" in sys.argv and "--found" not in sys.argv:
        python = python_with_torch()
        if python is None:
            print("no python3 here has torch (Debian: apt-get install python3-torch; HBENCH_TEST_PYTHON names another)")
            sys.exit(77)
        os.execv(python, [python, __file__, *sys.argv[1:], "--found"])
    tests = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(suite) for suite in suites)
    sys.exit(0 if unittest.TextTestRunner(verbosity=1).run(tests).wasSuccessful() else 1)


if __name__ == "__main__":
    main()
