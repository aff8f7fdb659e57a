"""Runs commands for another process and ends them, and all that they have started, however that process ends.

A task of an engine (Spark) becomes a host of mpirun by `be_host`, which starts this file as a process of its own:
it dials the driver and runs what the driver says, such as Open MPI's daemon. The driver keeps its own command so too. A
task that is cancelled or killed cannot clean up behind itself; this process outlives it by a moment, and does.

    hbench_keeper.py host                 dials the driver, which its standard input names, and obeys its orders
    hbench_keeper.py command COMMAND...   one command with the same output; ends with its exit code

Everything is ended when standard input ends (who started this has gone), when the driver cannot be reached for some
seconds, and on SIGTERM, SIGINT and SIGHUP: SIGTERM to the commands, after `GRACE` seconds SIGKILL to all descendants.

Between host and driver go lines of JSON. From the host: {"token", "index", "name", "machine", "gpus"} once, then for
each order {"number", "output"} while it runs and {"number", "code"} at its end. From the driver: {"number", "command",
"environment"}. Nothing here needs more than the standard library of Python 3.8.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import Any

GRACE = 3.0  # seconds that commands have to end after SIGTERM
HOPELESS = 10.0  # seconds after which a process that survives SIGKILL (of another user, or stuck in the kernel) is left


def be_host(address: tuple[str, int], token: str, index: int, gpus: list[str]) -> None:
    """Makes the calling task a host of the driver at `address` until either ends. Raises OSError: nobody is there."""
    # Its output is read here: a task's standard output may carry the engine's own protocol.
    with subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "host"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as keeper:
        keeper.stdin.write(line_of(address=address, token=token, index=index, gpus=gpus))
        keeper.stdin.flush()
        obstacle = keeper.stdout.read().decode()
    if obstacle:
        raise OSError(obstacle)


def keep_link_alive(link: socket.socket) -> None:
    """Makes a link whose other end is out of reach (a pulled cable, a dead host) fail within four seconds."""
    for level, option, value in (
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1),
        (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
        (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 4000),
    ):
        link.setsockopt(level, option, value)


def line_of(**fields: Any) -> bytes:
    """One message of the protocol."""
    return (json.dumps(fields) + "\n").encode()


def machine() -> str:
    """The same for all that mpirun takes for one host: one kernel, one network, one name."""
    with open("/proc/sys/kernel/random/boot_id") as boot:
        return " ".join((boot.read().strip(), os.readlink("/proc/self/ns/net"), socket.gethostname()))


class Keeper:
    """Commands of one process, all of whose descendants are known to it."""

    def __init__(self, link: socket.socket | None) -> None:
        """`link`: to the driver, which gives orders; None where the one command's output is ours."""
        self._link = link
        self._heard = b""
        self._commands: dict[int, tuple[int, subprocess.Popen]] = {}  # by process
        self._selector = selectors.DefaultSelector()
        self._ending = False
        self.code = 128 + signal.SIGTERM  # of the last command that ended by itself
        adopt_orphans()
        woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        self._selector.register(woken, selectors.EVENT_READ, lambda: woken.recv(4096))
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, self._hear_starter)
        if link is not None:
            self._selector.register(link, selectors.EVENT_READ, self._hear_driver)

    def start(self, number: int, argv: list[str], environment: dict[str, str]) -> None:
        """Starts a command, in its own session: Ctrl-C on a terminal is for the starter, who says what it means."""
        output = None if self._link is None else subprocess.PIPE
        command = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output and subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        self._commands[command.pid] = (number, command)
        if output:
            os.set_blocking(command.stdout.fileno(), False)
            self._selector.register(command.stdout, selectors.EVENT_READ, lambda: self._pass_on(number, command))

    def serve(self) -> None:
        """Returns when everything has ended."""
        try:
            while not self._ending:
                for key, _ in self._selector.select():
                    key.data()
                self._bury()
        finally:
            if self._link is not None:
                # First, so that the driver hears at once of the host that ends first, and before all others.
                self._link.close()
            end_all()

    def _end(self, *_: object) -> None:
        self._ending = True

    def _hear_starter(self) -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            self._end()

    def _hear_driver(self) -> None:
        try:
            heard = self._link.recv(65536)
        except OSError:
            heard = b""
        if not heard:
            self._end()
        *lines, self._heard = (self._heard + heard).split(b"\n")
        for line in lines:
            order = json.loads(line)
            self.start(order["number"], ["/bin/sh", "-c", order["command"]], order["environment"])

    def _tell(self, **fields: Any) -> None:
        try:
            self._link.sendall(line_of(**fields))
        except OSError:
            self._end()

    def _pass_on(self, number: int, command: subprocess.Popen) -> None:
        """Passes on what there is of a command's output."""
        output = b""
        try:
            while piece := os.read(command.stdout.fileno(), 65536):
                output += piece
            self._selector.unregister(command.stdout)
            command.stdout.close()
        except BlockingIOError:
            pass
        if output:
            self._tell(number=number, output=output.decode(errors="replace"))

    def _bury(self) -> None:
        """Says which commands have ended; orphans are buried without a word."""
        for process, code in reap()[0]:
            if process not in self._commands:
                continue
            number, command = self._commands.pop(process)
            command.returncode = self.code = code
            if self._link is None:
                self._end()
                continue
            if not command.stdout.closed:
                self._pass_on(number, command)
            self._tell(number=number, code=code)


def adopt_orphans() -> None:
    """What a descendant leaves behind becomes a child of this process, not of init: daemons are found at the end."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def reap() -> tuple[list[tuple[int, int]], bool]:
    """The children that have ended, each with its exit code as a shell gives it, and whether any is left."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if process == 0:
            return ended, True
        ended.append((process, 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))


def children_by_parent() -> dict[int, list[int]]:
    """All processes that can be seen."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", errors="replace") as stat:
                # The name, in parentheses, may hold anything.
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(name))
    return children


def descendants() -> list[int]:
    children, found = children_by_parent(), [os.getpid()]
    for process in found:
        found.extend(children.get(process, []))
    return found[1:]


def send(number: int, processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            pass  # it has ended, or belongs to another user


def end_all() -> None:
    """Ends all descendants; returns when none is left. Each child has time to end those that it has started itself."""
    began = time.monotonic()
    send(signal.SIGTERM, children_by_parent().get(os.getpid(), []))
    while reap()[1] and time.monotonic() < began + GRACE:
        time.sleep(0.02)
    while reap()[1] and time.monotonic() < began + GRACE + HOPELESS:
        send(signal.SIGKILL, descendants())
        time.sleep(0.02)


def serve_as_host() -> None:
    invitation = json.loads(sys.stdin.buffer.readline())
    # No child of the task: engines kill the children of a task with it, before they could clean up.
    if os.fork() != 0:
        os._exit(0)
    address = tuple(invitation["address"])
    try:
        link = socket.create_connection(address, timeout=30)
    except OSError as error:
        print(
            f"{socket.gethostname()} cannot dial the driver at {address[0]}:{address[1]}: {error.strerror or error}; is a "
            "firewall between?",
            end="",
            flush=True,
        )
        return
    link.settimeout(None)
    keep_link_alive(link)
    link.sendall(
        line_of(
            token=invitation["token"],
            index=invitation["index"],
            gpus=invitation["gpus"],
            name=socket.gethostname(),
            machine=machine(),
        )
    )
    Keeper(link).serve()


def serve_command(argv: list[str]) -> int:
    keeper = Keeper(None)
    try:
        keeper.start(0, argv, {})
    except OSError as error:
        print(f"hbench: {argv[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 127
    keeper.serve()
    return keeper.code


if __name__ == "__main__":
    sys.exit(serve_as_host() if sys.argv[1:] == ["host"] else serve_command(sys.argv[2:]))
