"""Runs a command on the driver of Spark with the engine's tasks as the hosts of the command's mpirun.

An engine starts tasks that call `hbench_keeper.be_host`, which dial this process; nothing listens in them. `run` waits
for them, writes Open MPI's host file, and runs the command with an environment in which any `mpirun` uses these hosts:
its daemons are started by hbench_agent.py, which asks this process over a unix socket. So what the command does, such
as `hbench sweep`, is the same as with ssh. Exit codes are those of hbench: the command's own, 3 where the hosts do not
come, 5 where one is lost or time is up, 128 + signal after a signal.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from typing import Callable, NamedTuple

import hbench_keeper
from hbench_hosts import HERE, Host, Task, counted, find_host, group_by_host, hosts_in_words, mpirun_environment
from hbench_hosts import write_files

ENVIRONMENT, LOST = 3, 5  # exit codes
LONGEST_LINE = 1 << 20  # bytes of a message; mpirun's commands grow with the number of hosts


class Invitation(NamedTuple):
    """What a task needs to be a host: `hbench_keeper.be_host(invitation.address, invitation.token, index, gpus)`."""

    address: tuple[str, int]
    token: str


class Wanted(NamedTuple):
    """What is to run, and on how much."""

    tasks: int
    slots: int  # ranks of a task
    command: list[str]
    start_limit: float  # seconds until all tasks have come
    time_limit: float = 0  # seconds of the command; 0: none


class Failure(Exception):
    """Ends the run with one line and an exit code."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def parse_arguments(words: list[str], slots: str) -> argparse.Namespace:
    """The command line of an engine's file; `slots` says what those of a task are where they are not given."""
    parser = argparse.ArgumentParser(usage="%(prog)s [OPTION...] -- COMMAND [ARGUMENT...]")
    parser.add_argument(
        "--tasks", type=positive, default=1, metavar="N", help="how many, and so at most as many hosts (1)"
    )
    parser.add_argument("--slots", type=positive, metavar="N", help=f"of each task, for ranks ({slots})")
    parser.add_argument(
        "--timeout", type=float, default=120, metavar="SECONDS", help="until all tasks have started (120)"
    )
    parser.add_argument("--time-limit", type=float, default=0, metavar="SECONDS", help="of the command (none)")
    dashes = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:dashes])
    options.command = words[dashes + 1 :]
    if not options.command:
        parser.error("no command; write it after --")
    return options


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def say(words: str) -> None:
    try:
        print("hbench: " + words, file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody reads any more; what is to be cleaned up still is


def wait_for_slots(free: Callable[[], int], wanted: Wanted, cure: str) -> None:
    """Says at once how many tasks can start, and again when that changes, until all can. Raises Failure."""
    deadline, known = time.monotonic() + wanted.start_limit, -1
    while (now := free()) < wanted.tasks:
        if time.monotonic() >= deadline:
            raise Failure(
                ENVIRONMENT,
                f"{now} of {counted(wanted.tasks, 'task slot')} free after "
                f"{wanted.start_limit:g} s (--timeout): {cure}",
            )
        if now != known:
            left = deadline - time.monotonic()
            say(f"{now} of {counted(wanted.tasks, 'task slot')} free, waiting up to {left:.0f} s for the others")
            known = now
        time.sleep(0.2)
    say(f"{now} task slots free, {wanted.tasks} needed")


class Driver:
    """The tasks, and what mpirun asks of them. Lives in one event loop."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.token = secrets.token_hex(16)
        self.hosts: list[Host] = []
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()  # the name of the first host
        self._tasks: dict[int, Task] = {}
        self._all_came = asyncio.Event()
        self._answers: dict[int, asyncio.StreamWriter] = {}  # agents, by number of their order
        self._orders = 0

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one who dials, for as long as the link holds: a task that knows the token."""
        hbench_keeper.keep_link_alive(writer.get_extra_info("socket"))
        task = await self._admit(reader, writer)
        if task is None:
            writer.close()
            return
        self._tasks[task.index] = task
        if len(self._tasks) == self.wanted.tasks:
            self.hosts = group_by_host(self._tasks.values(), self.wanted.slots)
            self._all_came.set()
        await self._listen(task)

    async def all_came(self) -> None:
        await self._all_came.wait()

    def who_came(self) -> str:
        return ", ".join(sorted({task.name for task in self._tasks.values()})) or "none"

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Task | None:
        """The task that dials; None where it is a stranger."""
        try:
            hello = json.loads(await asyncio.wait_for(reader.readline(), 10))
            known = hmac.compare_digest(str(hello["token"]).encode(), self.token.encode())
            if known and hello["index"] not in self._tasks:
                return Task(hello, reader, writer)
        except (ValueError, KeyError, TypeError, OSError, asyncio.TimeoutError):
            pass
        say(f"refused a connection from {writer.get_extra_info('peername')[0]}, which did not know the token")
        return None

    async def _listen(self, task: Task) -> None:
        try:
            while line := await task.reader.readline():
                answer = json.loads(line)
                agent = self._answers.get(answer["number"])
                if agent is None:
                    continue
                agent.write(line)
                if "code" in answer:
                    del self._answers[answer["number"]]
                    agent.close()
        except (OSError, ValueError):
            pass
        if not self.lost.done():
            self.lost.set_result(next((host.name for host in self.hosts if task in host.tasks), task.name))

    async def serve_agent(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one hbench_agent.py: passes its command to the host; `_listen` passes the answers back."""
        asked = json.loads(await reader.readline())
        host = find_host(self.hosts, asked["host"])
        if host is None:
            words = f"hbench: there is no host {asked['host']} among {hosts_in_words(self.hosts)}\n"
            writer.write(hbench_keeper.line_of(output=words))
            writer.write(hbench_keeper.line_of(code=255))
            writer.close()
            return
        self._orders += 1
        self._answers[self._orders] = writer
        host.tasks[0].writer.write(
            hbench_keeper.line_of(number=self._orders, command=asked["command"], environment=host.environment())
        )

    def dismiss(self) -> None:
        """Ends the tasks, and with them all that runs on hosts."""
        for task in self._tasks.values():
            task.writer.close()


def reason_of(error: BaseException) -> str:
    """One line of what an engine says, which may be pages of Java and Python."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told = next((number for number, line in enumerate(lines) if "Exception: " in line), 0)
    if lines[told].endswith("finished unsuccessfully.") and told + 1 < len(lines):
        told += 1  # below Spark's word for barrier stages is the reason
    if lines[told].endswith("Traceback (most recent call last):"):
        below = range(told + 1, len(lines))
        told = next((number for number in below if re.match(r"[\w.]*(Error|Exception): ", lines[number])), told)
    return re.sub(r"^.*(Error|Exception): ", "", lines[told])


def in_thread(work: Callable[[], object]) -> asyncio.Future[BaseException | None]:
    """Runs what blocks, in a thread that ends with the process; the result is what it has raised."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[BaseException | None] = loop.create_future()

    def finish(raised: BaseException | None) -> None:
        if not done.done():
            done.set_result(raised)

    def run_work() -> None:
        raised = None
        try:
            work()
        except BaseException as error:  # py4j raises what is no Exception, too
            raised = error
        try:
            loop.call_soon_threadsafe(finish, raised)
        except RuntimeError:
            pass  # the loop has ended: nobody waits

    threading.Thread(target=run_work, daemon=True).start()
    return done


async def gather_hosts(driver: Driver, job: asyncio.Future, stop: asyncio.Future) -> None:
    """Returns when all tasks have dialled. Raises Failure."""
    came = asyncio.ensure_future(driver.all_came())
    await asyncio.wait(
        {came, job, stop, driver.lost}, timeout=driver.wanted.start_limit, return_when=asyncio.FIRST_COMPLETED
    )
    if stop.done():
        raise Failure(128 + stop.result(), f"{signal.Signals(stop.result()).name}, before all tasks had come")
    if job.done():
        why = reason_of(job.result() or RuntimeError("their job has ended"))
        raise Failure(ENVIRONMENT, f"the tasks did not start: {why}")
    if driver.lost.done():
        raise Failure(LOST, f"host {driver.lost.result()} was lost before the command was started")
    if not came.done():
        raise Failure(
            ENVIRONMENT,
            f"not all of {counted(driver.wanted.tasks, 'task')} have dialled within "
            f"{driver.wanted.start_limit:g} s (--timeout), but {driver.who_came()}",
        )


async def find_failure(
    driver: Driver, job: asyncio.Future, stop: asyncio.Future, ended: asyncio.Future
) -> Failure | None:
    """Waits for the end of the command, or for what must end it."""
    await asyncio.wait(
        {ended, job, stop, driver.lost}, timeout=driver.wanted.time_limit or None, return_when=asyncio.FIRST_COMPLETED
    )
    if ended.done() and ended.result() == 0:
        return None
    if ended.done():
        # mpirun may notice that a host is lost before we do.
        await asyncio.wait({driver.lost, job}, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
    if driver.lost.done() or job.done():
        # The engine's own word for it comes a moment later, or the host that it is about.
        await asyncio.wait({driver.lost, job}, timeout=1)
        who = f"host {driver.lost.result()}" if driver.lost.done() else "the tasks"
        why = reason_of(job.result()) if job.done() and job.result() else "its task has ended or cannot be reached"
        return Failure(LOST, f"lost {who}: {why}")
    if stop.done():
        return Failure(128 + stop.result(), f"{signal.Signals(stop.result()).name}: ending the command")
    if not ended.done():
        return Failure(LOST, f"ending the command after {driver.wanted.time_limit:g} s (--time-limit)")
    return None


async def run_command(driver: Driver, job: asyncio.Future, stop: asyncio.Future, environment: dict[str, str]) -> int:
    """Runs the command to its end, or until there is a reason to end it; an exit code."""
    keeper = await asyncio.create_subprocess_exec(
        sys.executable,
        os.path.join(HERE, "hbench_keeper.py"),
        "command",
        *driver.wanted.command,
        stdin=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    ended = asyncio.ensure_future(keeper.wait())
    failure = await find_failure(driver, job, stop, ended)
    if failure is None:
        return ended.result()
    say(str(failure))
    keeper.stdin.close()
    await asyncio.wait({ended}, timeout=hbench_keeper.GRACE + 2)
    return failure.code


def watch_signals() -> asyncio.Future[int]:
    """The first signal that asks this process to end."""
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[int] = loop.create_future()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda number=number: stop.done() or stop.set_result(number))
    return stop


def listen(address: str) -> socket.socket:
    """A free port of the interface that has `address`, which may be a name."""
    family, _, _, _, place = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
    return socket.create_server(place[:2], family=family, backlog=1024)


async def serve(wanted: Wanted, start: Callable[[Invitation], object], host: str, bind: str) -> int:
    """As `run`, in an event loop."""
    stop, driver = watch_signals(), Driver(wanted)
    links = listen(bind)
    # Not in TMPDIR, of which neither a unix socket nor mpirun takes any name.
    folder = tempfile.mkdtemp(prefix="hbench-", dir="/tmp")
    server = await asyncio.start_server(driver.greet, sock=links, limit=LONGEST_LINE)
    agents = await asyncio.start_unix_server(driver.serve_agent, folder + "/socket", limit=LONGEST_LINE)
    invitation = Invitation((host, links.getsockname()[1]), driver.token)
    job = in_thread(lambda: start(invitation))
    try:
        await gather_hosts(driver, job, stop)
        write_files(folder, driver.hosts)
        say(f"hosts: {hosts_in_words(driver.hosts)}")
        return await run_command(driver, job, stop, mpirun_environment(folder))
    except Failure as failure:
        say(str(failure))
        return failure.code
    finally:
        server.close()
        agents.close()
        driver.dismiss()
        shutil.rmtree(folder, ignore_errors=True)
        await asyncio.wait({job}, timeout=hbench_keeper.GRACE + 2)


def run(
    wanted: Wanted, free: Callable[[], int], cure: str, start: Callable[[Invitation], object], host: str, bind: str
) -> int:
    """Runs the command on the tasks that `start` starts; an exit code.

    `free` says how many tasks could start now, and `cure` what to do where that stays too few. `start` is called in a
    thread: it starts `wanted.tasks` tasks that call `hbench_keeper.be_host`, and returns when all have ended. It raises
    what the engine says where one fails. Tasks dial `host`, a name of this machine that they know, of which `bind` is
    the interface.
    """
    try:
        wait_for_slots(free, wanted, cure)
    except Failure as failure:
        say(str(failure))
        return failure.code
    return asyncio.run(serve(wanted, start, host, bind))
