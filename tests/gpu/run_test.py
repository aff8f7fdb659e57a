#!/usr/bin/env python3
"""tests/gpu/run without a GPU: a scripted nvidia-smi, and scripts in place of the programs.

As `run_test.py --run ARGUMENTS` it is tests/gpu/run itself with the stages below, for what must be seen from outside.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import lzma
import os
import pathlib
import signal
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import checks  # noqa: E402
import fatbin  # noqa: E402
import machine  # noqa: E402
from stages import STAGES, Stage, Step, benchmark, tests  # noqa: E402

loader = importlib.machinery.SourceFileLoader("gpu_run", str(HERE / "run"))
spec = importlib.util.spec_from_loader("gpu_run", loader)
run = importlib.util.module_from_spec(spec)
loader.exec_module(run)

GOOD = 'echo "[  PASSED  ] 3 tests."'
SKIPS = 'echo "[  SKIPPED ] Cuda.Kernels (0 ms)"; echo "[  SKIPPED ] 1 test, listed below:"; echo "[  PASSED  ] 2 tests."'
SLEEPS = 'sleep 300 & echo $! > "$0.child"; wait'
CSV = """printf 'a line before\\nname,iterations,GB/s,of_copy,error_occurred,error_message\\n"a/iterations:3",3,100,0.95,,\\n"b",3,50,0.5,,\\n' \
  > "${1#--benchmark_out=}" """


def stages(*steps):
    return (Stage("kernels", "of a test", tuple(steps)),)


def bars(*names):
    return benchmark("ratios", "ratios", {name: 0.9 for name in names})


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script("nvidia-smi", """case "$*" in *list-gpus*) echo "GPU 0: Scripted";; *) echo "Scripted GPU";; esac""")
        self.script("nvcc", "echo release 13.0")
        self.script("python3", "exit 1")
        changes = mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        changes.start()
        self.addCleanup(changes.stop)
        for place in (mock.patch.object(run, "BUILD", self.folder / "build"), mock.patch.object(run, "GRACE", 1)):
            place.start()
            self.addCleanup(place.stop)
        machine.count.cache_clear()

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\necho run >> '{self.folder}/{name}.runs'\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def runs_of(self, name):
        path = self.folder / f"{name}.runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def call(self, steps, *arguments):
        """(exit code, standard output)"""
        out = io.StringIO()
        with mock.patch.object(run, "STAGES", stages(*steps)), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(io.StringIO()):
            code = run.main(["--prebuilt", str(self.folder), "--results", str(self.folder / "results.json"),
                             *arguments])
        return code, out.getvalue()

    def state(self, name):
        known = json.loads((self.folder / "results.json").read_text())["steps"][name]
        return known["state"], known["why"]

    def test_what_passed_is_not_run_again_until_it_is_named_or_the_sources_change(self):
        self.script("good", GOOD)
        self.assertEqual(self.call([tests("one", "x/good")])[0], 0)
        self.assertEqual(self.call([tests("one", "x/good")])[0], 0)
        self.assertEqual(self.runs_of("good"), 1)
        self.call([tests("one", "x/good")], "kernels")
        self.assertEqual(self.runs_of("good"), 2)
        with mock.patch.object(run, "digest_of_sources", lambda: "other"):
            self.call([tests("one", "x/good")])
        self.assertEqual(self.runs_of("good"), 3)

    def test_a_stage_or_one_step_of_it_can_be_named(self):
        self.script("good", GOOD)
        steps = [tests("one", "x/good"), tests("two", "x/good")]
        self.assertEqual(self.call(steps, "kernels/two")[0], 0)
        self.assertEqual(self.runs_of("good"), 1)
        self.assertEqual(self.call(steps, "kernels")[0], 0)
        self.assertEqual(self.runs_of("good"), 3)

    def test_a_bundle_brings_programs_and_libraries_and_is_unpacked_once(self):
        self.script("carried", f'{GOOD}; echo "$LD_LIBRARY_PATH $PATH" > "{self.folder}/paths"')
        bundle = self.folder / "bundle"
        bundle.mkdir()
        with tarfile.open(bundle / "tree.tar.xz", "w:xz") as tree:
            tree.add(self.folder / "carried", "bin/carried")
        (self.folder / "carried").unlink()
        for _ in range(2):
            with mock.patch.object(run, "STAGES", stages(tests("one", "x/carried"))), \
                    mock.patch.dict(os.environ), contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(run.main(["--bundle", str(bundle), "--again", "--results",
                                           str(self.folder / "results.json")]), 0)
        self.assertEqual(self.runs_of("carried"), 2)
        place = self.folder / "build" / "bundle"
        libraries, programs = (self.folder / "paths").read_text().split()
        self.assertIn(str(place / "bin"), libraries)
        self.assertTrue(programs.startswith(str(place / "mpi" / "bin")))

    def test_a_skipped_test_is_a_failure_and_the_next_step_goes_on(self):
        self.script("skips", SKIPS)
        self.script("nothing", "true")
        self.script("good", GOOD)
        code, table = self.call([tests("one", "x/skips"), tests("two", "x/nothing"), tests("three", "x/good")])
        self.assertEqual(code, 1)
        self.assertEqual(self.state("one"), ("FAILED", "skipped: Cuda.Kernels"))
        self.assertEqual(self.state("two"), ("FAILED", "no test was run"))
        self.assertEqual(self.state("three")[0], "passed")
        self.assertIn("| kernels | one | FAILED |", table)

    def test_a_step_that_hangs_is_ended_with_what_it_started(self):
        self.script("sleeps", SLEEPS)
        self.script("good", GOOD)
        code, _ = self.call([Step("one", "x/sleeps", limit=1), tests("two", "x/good")])
        self.assertEqual(code, 1)
        self.assertIn("still running after 1 s", self.state("one")[1])
        self.assertEqual(self.state("two")[0], "passed")
        child = int((self.folder / "sleeps.child").read_text())
        self.assertFalse(self.lives(child))

    @staticmethod
    def lives(pid):
        for _ in range(50):
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return False
            except OSError:
                return False
            time.sleep(0.1)
        return True

    def test_a_crash_is_told_by_its_signal_and_an_exit_code_by_its_message_or_last_line(self):
        self.script("crashes", "kill -SEGV $$")
        self.script("refuses", "echo out of order >&2; echo ------- >&2; exit 3")
        self.script("launched", "echo 'hbench: no GPU' >&2; echo 'Exit code: 3' >&2; exit 3")
        self.call([Step("one", "x/crashes"), Step("two", "x/refuses"), Step("three", "x/refuses", codes=(0, 3)),
                   Step("four", "x/launched")])
        self.assertIn("SIGSEGV", self.state("one")[1])
        self.assertEqual(self.state("two"), ("FAILED", "exit code 3: out of order"))
        self.assertEqual(self.state("three")[0], "passed")
        self.assertEqual(self.state("four")[1], "exit code 3: hbench: no GPU")

    def test_when_time_runs_out_the_next_call_goes_on_with_the_rest(self):
        self.script("slow", "sleep 2; " + GOOD)
        self.script("good", GOOD)
        steps = [tests("one", "x/slow", limit=5), tests("two", "x/good", limit=5)]
        with mock.patch.object(run, "SHORTEST", 1):
            code, table = self.call(steps, "--time", "3.5")
        self.assertEqual(code, 1)
        self.assertEqual((self.state("one")[0], self.state("two")[0]), ("passed", "NOT RUN"))
        self.assertIn("time ran out", table)
        self.assertEqual(self.call(steps)[0], 0)
        self.assertEqual((self.runs_of("slow"), self.runs_of("good")), (1, 1))

    def test_ratios_are_read_by_name_and_what_is_missing_is_a_failure(self):
        self.script("ratios", CSV)
        code, table = self.call([bars("a", "b")])
        self.assertEqual(code, 0)
        self.assertIn("| a | 100.0 | 0.950 | 0.9 |  |", table)
        self.assertIn("| b | 50.0 | 0.500 | 0.9 | below |", table)
        self.assertEqual(self.call([bars("a", "c")], "kernels")[0], 1)
        self.assertEqual(self.state("ratios"), ("FAILED", "not measured: c"))
        self.script("ratios", CSV.replace("0.5,,", ",true,out of memory"))
        self.call([bars("a")], "kernels")
        self.assertEqual(self.state("ratios"), ("FAILED", "failed: b: out of memory"))

    def test_what_does_not_build_or_is_not_here_says_so(self):
        self.script("good", GOOD)
        with mock.patch.object(run.Builder, "_shell", lambda *_, **__: "kernel.cu:7: error: expected ';'"):
            code, table = self.call([Step("one", "x/missing"), tests("two", "x/good"),
                                     Step("three", "x/good", needs=(machine.SEVERAL_GPUS,)),
                                     Step("four", "no-such-program")])
        self.assertEqual(code, 1)
        self.assertEqual(self.state("one"), ("FAILED", "not built: kernel.cu:7: error: expected ';'"))
        self.assertEqual(self.state("two")[0], "passed")
        self.assertEqual(self.state("three")[0], "not here")
        self.assertEqual(self.state("four")[0], "NOT RUN")

    def test_a_newer_nccl_is_unpacked_for_the_step_that_asks_for_it(self):
        self.script("good", GOOD)
        self.script("shows", 'cat "$LD_LIBRARY_PATH/libnccl.so.2" && ' + GOOD)
        plain = tests("one", "x/good")
        asks = tests("two", "x/shows", needs=(machine.NEWER_NCCL,), environment=(("LD_LIBRARY_PATH", "{nccl}"),))
        self.call([plain, asks])
        self.assertEqual(self.state("two"), ("not here", "no NCCL was brought (--nccl)"))
        packed = self.folder / "libnccl.so.2.xz"
        packed.write_bytes(lzma.compress(b"a library\n")[:-9])
        self.call([plain, asks], "--nccl", str(packed), "kernels")
        self.assertEqual((self.state("one")[0], self.state("two")[0]), ("passed", "FAILED"))
        packed.write_bytes(lzma.compress(b"a library\n"))
        self.call([plain], "--nccl", str(packed), "kernels")
        self.assertFalse((run.BUILD / "nccl" / "libnccl.so.2").exists())
        self.assertEqual(self.call([plain, asks], "--nccl", str(packed))[0], 0)

    def test_an_interrupted_call_leaves_the_table_and_no_process(self):
        self.script("sleeps", SLEEPS)
        command = [sys.executable, __file__, "--run", str(self.folder), "--prebuilt", str(self.folder), "--results",
                   str(self.folder / "results.json")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        child = self.folder / "sleeps.child"
        for _ in range(200):
            if child.exists() and child.read_text().strip():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        table, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("interrupted by SIGTERM", table)
        self.assertFalse(self.lives(int(child.read_text())))

    def test_without_a_gpu_nothing_runs(self):
        self.script("nvidia-smi", "exit 9")
        self.script("good", GOOD)
        self.assertEqual(self.call([tests("one", "x/good")])[0], 3)
        self.assertEqual(self.runs_of("good"), 0)

    def test_every_step_has_a_name_of_its_own_and_an_unknown_stage_is_refused(self):
        names = [step.name for stage in STAGES for step in stage.steps]
        self.assertEqual(len(names), len(set(names)))
        with self.assertRaises(SystemExit) as refused, contextlib.redirect_stderr(io.StringIO()):
            run.main(["kernel"])
        self.assertEqual(refused.exception.code, 2)


class Judges(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "harness.log"

    @staticmethod
    def point(**more):
        return {"evidence": "measured", "device": "gpu", "algorithm": "ring", "gpus": 1, "throughput": 970,
                "efficiency": 0.97, **more}

    def test_a_sweep_that_trained_on_cores_did_not_train_on_the_gpu(self):
        self.log.write_text(json.dumps([self.point(), self.point(algorithm="none", throughput=1000)]))
        self.assertIsNone(checks.trained_on_the_gpu(self.log, self.folder))
        self.assertEqual([(ratio.share, ratio.bar) for ratio in checks.harness_rows(self.folder)], [(0.97, 0.99)])
        (self.folder / "eager.log").write_text("1250.0\n")
        self.assertEqual([ratio.share for ratio in checks.eager_rows(self.folder)], [0.8])
        self.log.write_text(json.dumps([self.point(device="cpu"), self.point(device="cpu", algorithm="none")]))
        self.assertIn("nothing", checks.trained_on_the_gpu(self.log, self.folder))
        self.log.write_text("")
        self.assertIn("not the JSON", checks.trained_on_the_gpu(self.log, self.folder))

    def test_a_calibrated_report_is_measured_on_the_gpu_and_simulated_to_128(self):
        rows = [self.point(), self.point(evidence="simulated", gpus=128)]
        self.log.write_text(json.dumps(rows))
        self.assertIsNone(checks.simulated_from_the_gpu(self.log, self.folder))
        self.log.write_text(json.dumps(rows[1:]))
        self.assertIn("nothing was measured", checks.simulated_from_the_gpu(self.log, self.folder))
        self.log.write_text(json.dumps(rows[:1]))
        self.assertIn("to 0 GPUs", checks.simulated_from_the_gpu(self.log, self.folder))

    def test_nccl_is_compared_where_both_have_the_size(self):
        (self.folder / "ours").write_text(json.dumps({"results": [
            {"size": 64 << 20, "in_place_seconds": 2e-3}, {"size": 128 << 20, "in_place_seconds": 4e-3}]}))
        (self.folder / "theirs").write_text(
            "# size count type redop root time algbw busbw wrong time algbw busbw wrong\n"
            f"{64 << 20} 16777216 float sum -1 1990.0 33.5 58.6 0 1980.0 33.5 58.7 0\n")
        found = checks.nccl_rows("ours", "theirs")(self.folder)
        self.assertEqual([(ratio.what, round(ratio.share, 6)) for ratio in found],
                         [("ncclAllReduce, 64 MiB: nccl-tests / hbench", 0.99)])


class ThinLibrary(unittest.TestCase):
    @staticmethod
    def entry(kind, capability, payload):
        return struct.pack("<HHIQ12xI32x", kind, 0, 64, len(payload), capability) + payload

    def library(self):
        """A section of two images with zeros between them, and what a device linker has read."""
        images = [self.entry(2, 80, b"a" * 16) + self.entry(2, 90, b"b" * 24), self.entry(1, 90, b"c" * 8)]
        fat = (b"\0" * 8).join(struct.pack("<IHHQ", fatbin.IMAGE, 1, 16, len(image)) + image for image in images)
        bodies = {"": b"", ".nv_fatbin": fat, "__nv_relfatbin": b"r" * 40, ".text": b"t" * 8}
        names = b"".join(name.encode() + b"\0" for name in [*bodies, ".shstrtab"])
        bodies[".shstrtab"] = names
        at, headers, content = 64, b"", b""
        for name, body in bodies.items():
            where = names.index(name.encode() + b"\0") if name else 0
            headers += struct.pack("<IIQQQQ24x", where, 0, 0, 0, at + len(content), len(body))
            content += body
        start = struct.pack("<40xQ10xHHH", at + len(content), 64, len(bodies), len(bodies) - 1)
        return bytearray(start.ljust(64, b"\0") + content + headers)

    def test_keeps_the_code_of_one_capability_and_every_offset(self):
        whole = self.library()
        thin = bytearray(whole)
        self.assertEqual(fatbin.thin(thin, 90), 1)
        self.assertEqual(len(thin), len(whole))
        self.assertEqual([thin.count(letter) - whole.count(letter) for letter in b"acr"], [-16, -8, -40])
        self.assertEqual(thin.replace(b"\0", b""), whole.replace(b"a" * 16, b"").replace(b"c" * 8, b"")
                         .replace(b"r" * 40, b"").replace(b"\0", b""))
        self.assertEqual(fatbin.thin(bytearray(whole), 75), 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run.BUILD, run.GRACE, run.STAGES = pathlib.Path(sys.argv[2]) / "build", 1, stages(Step("one", "x/sleeps"))
        sys.exit(run.main(sys.argv[3:]))
    unittest.main()
