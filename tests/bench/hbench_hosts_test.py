"""Tests of bench/submit/spark without an engine: tasks are threads of this process."""

import contextlib
import io
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bench" / "submit" / "spark"
sys.dont_write_bytecode = True
sys.path.insert(0, str(FOLDER))
import hbench_driver  # noqa: E402
import hbench_hosts  # noqa: E402
import hbench_keeper  # noqa: E402
from hbench_driver import Failure, Wanted  # noqa: E402


class FakeWriter:
    def __init__(self, address):
        self.address = address

    def get_extra_info(self, what):
        return {"peername": (self.address, 40000)}[what]


def task(index, name, machine, address="10.0.0.9", gpus=()):
    hello = {"index": index, "name": name, "machine": machine, "gpus": list(gpus)}
    return hbench_hosts.Task(hello, None, FakeWriter(address))


def said(work):
    """What `work` says on standard error, and what it returns."""
    words = io.StringIO()
    with contextlib.redirect_stderr(words):
        result = work()
    return words.getvalue(), result


class HostFile(unittest.TestCase):
    def test_gives_a_host_the_slots_of_all_its_tasks_in_the_order_of_their_numbers(self):
        tasks = [task(2, "b", "B"), task(1, "a", "A"), task(0, "b", "B")]
        hosts = hbench_hosts.group_by_host(tasks, 4)
        self.assertEqual(hbench_hosts.host_file(hosts), "b slots=8\na slots=4\n")
        self.assertEqual([each.index for each in hosts[0].tasks], [0, 2])

    def test_names_hosts_by_address_where_their_names_say_nothing(self):
        tasks = [
            task(0, "localhost.localdomain", "A", "10.0.0.1"),
            task(1, "vm", "B", "10.0.0.2"),
            task(2, "vm", "C", "10.0.0.3"),
            task(3, "other", "D", "10.0.0.4"),
        ]
        self.assertEqual(
            hbench_hosts.host_file(hbench_hosts.group_by_host(tasks, 1)),
            "10.0.0.1 slots=1\n10.0.0.2 slots=1\n10.0.0.3 slots=1\nother slots=1\n",
        )

    def test_finds_the_host_that_mpirun_names_without_its_domain(self):
        hosts = hbench_hosts.group_by_host(
            [task(0, "a.x.org", "A"), task(1, "b.x.org", "B"), task(2, "b.y.org", "C")], 1
        )
        self.assertEqual(hbench_hosts.find_host(hosts, "a.x.org").name, "a.x.org")
        self.assertEqual(hbench_hosts.find_host(hosts, "a").name, "a.x.org")
        self.assertEqual(hbench_hosts.find_host(hosts, "b.y.org").name, "b.y.org")
        self.assertIsNone(hbench_hosts.find_host(hosts, "b"), "two hosts have this name")
        self.assertIsNone(hbench_hosts.find_host(hosts, "c"))

    def test_gives_ranks_the_gpus_of_all_tasks_of_the_host(self):
        (host,) = hbench_hosts.group_by_host([task(0, "a", "A", gpus=["10", "2"]), task(1, "a", "A", gpus=["0"])], 2)
        self.assertEqual(host.environment(), {"CUDA_VISIBLE_DEVICES": "0,2,10"})
        (without,) = hbench_hosts.group_by_host([task(0, "a", "A")], 2)
        self.assertEqual(without.environment(), {})


class FreeSlots(unittest.TestCase):
    def test_are_said_at_once_and_when_their_number_changes(self):
        counts = iter([0, 0, 1, 2])
        words, _ = said(lambda: hbench_driver.wait_for_slots(lambda: next(counts), Wanted(2, 4, [], 60), "cure"))
        self.assertRegex(
            words,
            r"^hbench: 0 of 2 task slots free, waiting up to 60 s for the others\n"
            r"hbench: 1 of 2 task slots free, waiting up to [56]\d s for the others\n"
            r"hbench: 2 task slots free, 2 needed\n$",
        )

    def test_that_stay_too_few_end_with_the_cure(self):
        with self.assertRaises(Failure) as raised, contextlib.redirect_stderr(io.StringIO()):
            hbench_driver.wait_for_slots(lambda: 1, Wanted(3, 4, [], 0.3), "start more")
        self.assertEqual(str(raised.exception), "1 of 3 task slots free after 0.3 s (--timeout): start more")
        self.assertEqual(raised.exception.code, 3)


class Reason(unittest.TestCase):
    def test_is_the_line_of_a_page_that_says_it(self):
        barrier = (
            "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n"
            ": org.apache.spark.SparkException: Job aborted due to stage failure: ResultStage 0 has failed the maximum "
            "allowable number of times: 1. Most recent failure reason: Stage failed because barrier task "
            "ResultTask(0, 1) finished unsuccessfully.\n"
        )
        for page, reason in (
            (
                "An error occurred while calling o1.\n: org.apache.spark.SparkException: Job 0 cancelled\n\tat a.b.c",
                "Job 0 cancelled",
            ),
            (
                barrier + "ExecutorLostFailure (executor 1 exited) Reason: worker lost\n\tat a.b.c",
                "ExecutorLostFailure (executor 1 exited) Reason: worker lost",
            ),
            (
                barrier + "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
                "  File \"a.py\", line 1, in be_host\nOSError: n3 cannot dial\n\n\tat a.b.c",
                "n3 cannot dial",
            ),
            ("one line\nand another", "one line"),
            ("", "RuntimeError"),
        ):
            with self.subTest(page):
                self.assertEqual(hbench_driver.reason_of(RuntimeError(page)), reason)


class Arguments(unittest.TestCase):
    def test_end_where_the_command_begins(self):
        options = hbench_driver.parse_arguments(["--tasks", "2", "--slots", "4", "--", "mpirun", "--", "-n"], "1")
        self.assertEqual((options.tasks, options.slots, options.timeout), (2, 4, 120))
        self.assertEqual(options.command, ["mpirun", "--", "-n"])

    def test_that_make_no_sense_are_refused_in_one_line(self):
        for words, why in (
            (["--tasks", "2"], "no command; write it after --"),
            (["--"], "no command; write it after --"),
            (["--tasks", "0", "--", "true"], "argument --tasks: invalid positive value: '0'"),
            (["--what", "--", "true"], "unrecognized arguments: --what"),
        ):
            errors = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as ended:
                hbench_driver.parse_arguments(words, "1")
            self.assertEqual(ended.exception.code, 2)
            self.assertEqual(errors.getvalue().splitlines()[-1], "hbench_hosts_test.py: error: " + why)


def start_tasks(count, before=lambda invitation: None):
    """An engine whose tasks are threads; `before` is done first."""

    def start(invitation):
        before(invitation)
        tasks = [
            threading.Thread(target=hbench_keeper.be_host, args=(invitation.address, invitation.token, index, []))
            for index in range(count)
        ]
        for each in tasks:
            each.start()
        for each in tasks:
            each.join()

    return start


def run(command, tasks=2, start=None, time_limit=0.0, start_limit=20.0):
    """What is said, and the exit code."""
    wanted = Wanted(tasks, 3, command, start_limit, time_limit)
    start = start or start_tasks(tasks)
    return said(lambda: hbench_driver.run(wanted, lambda: tasks, "", start, "127.0.0.1", "127.0.0.1"))


def exists(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def read_process(file):
    wait_until(lambda: os.path.exists(file) and os.path.getsize(file) > 0)
    with open(file) as written:
        return int(written.read())


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name):
        return os.path.join(self.folder, name)

    def script(self, text):
        return ["sh", "-c", text, "sh", self.folder]

    def host(self):
        return socket.gethostname() if not socket.gethostname().startswith("localhost") else "127.0.0.1"

    def test_gives_the_command_a_host_file_and_an_agent_that_runs_what_mpirun_asks_for(self):
        words, code = run(
            self.script(
                f'cp $OMPI_MCA_orte_default_hostfile $1/hosts; $OMPI_MCA_plm_rsh_agent -x {self.host()} "echo to users;" exit 9 '
                '2> $1/said; echo $? > $1/code; exit 4'
            )
        )
        self.assertEqual(code, 4, words)
        read = {name: pathlib.Path(self.folder, name).read_text() for name in ("hosts", "said", "code")}
        self.assertEqual(read, {"hosts": f"{self.host()} slots=6\n", "said": "to users\n", "code": "9\n"})
        self.assertIn(f"hbench: hosts: {self.host()} (6 slots)\n", words)

    def test_tells_mpirun_of_a_host_that_is_not_there(self):
        _, code = run(self.script('$OMPI_MCA_plm_rsh_agent nowhere true 2> $1/said'))
        self.assertEqual(code, 255)
        self.assertEqual(
            pathlib.Path(self.folder, "said").read_text(),
            f"hbench: there is no host nowhere among {self.host()} (6 slots)\n",
        )

    def test_refuses_who_does_not_know_the_token(self):
        answers = []

        def intrude(invitation):
            for hello in (hbench_keeper.line_of(token="guess", index=0), b"no json\n", b"[]\n"):
                with socket.create_connection(invitation.address) as link:
                    link.sendall(hello)
                    answers.append(link.recv(1))

        words, code = run(["true"], start=start_tasks(2, intrude))
        self.assertEqual((code, answers), (0, [b""] * 3), words)
        self.assertEqual(words.count("hbench: refused a connection from 127.0.0.1, which did not know the token\n"), 3)

    def test_leaves_no_daemon_of_a_host_behind_though_it_has_detached_itself(self):
        _, code = run(
            self.script(
                f'$OMPI_MCA_plm_rsh_agent {self.host()} "setsid sh -c \'echo \\$\\$ > $1/daemon; trap : TERM; '
                'while :; do sleep 1; done\' > /dev/null 2>&1 &"; while [ ! -s $1/daemon ]; do sleep 0.05; done'
            )
        )
        self.assertEqual(code, 0)
        daemon = read_process(self.file("daemon"))
        self.assertTrue(wait_until(lambda: not exists(daemon)), "the daemon lives on")

    def test_names_the_host_that_is_lost_and_ends_the_command(self):
        def lose(invitation):
            def come_and_go():
                with socket.create_connection(invitation.address) as link:
                    link.sendall(
                        hbench_keeper.line_of(token=invitation.token, index=1, gpus=[], name="goner", machine="G")
                    )
                    read_process(self.file("command"))

            threading.Thread(target=come_and_go).start()

        began = time.monotonic()
        words, code = run(
            self.script("trap '' TERM; echo $$ > $1/command; while :; do sleep 1; done"),
            start=lambda invitation: (lose(invitation), start_tasks(1)(invitation)),
        )
        self.assertEqual(code, 5, words)
        self.assertIn("hbench: lost host goner: its task has ended or cannot be reached\n", words)
        self.assertFalse(exists(read_process(self.file("command"))), "the command lives on")
        self.assertLess(time.monotonic() - began, 20)

    def test_says_what_the_engine_says_of_tasks_that_do_not_start(self):
        def refuse(invitation):
            raise RuntimeError("no such queue\nand a page of advice")

        words, code = run(["true"], start=refuse)
        self.assertEqual(
            (words, code), ("hbench: 2 task slots free, 2 needed\nhbench: the tasks did not start: no such queue\n", 3)
        )

    def test_says_who_did_not_come_in_time(self):
        words, code = run(["true"], tasks=2, start=start_tasks(1), start_limit=2)
        self.assertEqual(
            (words, code),
            (
                f"hbench: 2 task slots free, 2 needed\nhbench: not all of 2 tasks have dialled within 2 s (--timeout), but "
                f"{socket.gethostname()}\n",
                3,
            ),
        )

    def test_ends_the_command_when_its_time_is_up(self):
        words, code = run(self.script("echo $$ > $1/command; exec sleep 600"), time_limit=1)
        self.assertEqual(code, 5)
        self.assertIn("hbench: ending the command after 1 s (--time-limit)\n", words)
        self.assertFalse(exists(read_process(self.file("command"))))

    def test_says_which_command_is_not_there(self):
        driver = subprocess.run(
            [sys.executable, FOLDER / "hbench_keeper.py", "command", "hbench-nowhere"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(
            driver.stderr.decode(), "hbench: hbench-nowhere cannot be started: No such file or directory\n"
        )
        self.assertEqual(driver.returncode, 127)

    def test_ends_with_the_signal_after_the_command_has_ended(self):
        threading.Timer(0, lambda: (read_process(self.file("command")), os.kill(os.getpid(), signal.SIGTERM))).start()
        words, code = run(self.script("echo $$ > $1/command; exec sleep 600"))
        self.assertEqual(code, 143, words)
        self.assertIn("hbench: SIGTERM: ending the command\n", words)
        self.assertFalse(exists(read_process(self.file("command"))))


class Keeper(unittest.TestCase):
    def keep(self, *words):
        keeper = subprocess.Popen(
            [sys.executable, FOLDER / "hbench_keeper.py", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(keeper.stdout.close)
        self.addCleanup(keeper.wait)
        self.addCleanup(keeper.stdin.close)
        return keeper

    def test_passes_on_the_output_and_the_exit_code_of_a_command(self):
        keeper = self.keep("command", "sh", "-c", "echo out; kill -9 $$")
        self.assertEqual(keeper.stdout.read(), b"out\n")
        self.assertEqual(keeper.wait(), 137)

    def test_ends_its_command_when_its_starter_is_killed(self):
        starter = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import subprocess, sys, time; subprocess.Popen([sys.executable, sys.argv[1], 'command',"
                " 'sh', '-c', 'echo $$; exec sleep 600'], stdin=subprocess.PIPE); time.sleep(600)",
                str(FOLDER / "hbench_keeper.py"),
            ],
            stdout=subprocess.PIPE,
        )
        self.addCleanup(starter.stdout.close)
        command = int(starter.stdout.readline())
        self.assertTrue(exists(command))
        starter.kill()
        starter.wait()
        self.assertTrue(wait_until(lambda: not exists(command)), "the command lives on")

    def test_fails_where_the_driver_cannot_be_dialled(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            address = closed.getsockname()
        with self.assertRaisesRegex(
            OSError,
            rf"cannot dial the driver at 127.0.0.1:{address[1]}: Connection refused; " r"is a firewall between\?$",
        ):
            hbench_keeper.be_host(address, "token", 0, [])


if __name__ == "__main__":
    unittest.main()
