"""A machine with GPUs as a CI system sees it: a git repository, programs on the PATH, and a shell for the steps.

What is real: git, the shell and hbench. What stands in: nvidia-smi, sudo, id and gh, which write down how they were called;
and `steady_worker`, since no test may depend on how busy this machine is.
"""

import os
import pathlib
import sqlite3
import subprocess
import textwrap

HERE = pathlib.Path(__file__).resolve().parent

# Three runs of four launches suffice for the rank test.
PROJECT = textwrap.dedent("""\
    [track]
    launches = 4
    max_launches = 8
    min_runs = 3

    [[collective]]
    name = "all-reduce"
    collective = "all-reduce"
    ranks = 2
    algorithm = "ring"
    executor = "threads"
    minbytes = "64K"
    maxbytes = "64K"
    iters = 5
    warmup_iters = 1
    """)

# Prints two GPUs that can be locked, and remembers how it was called. FAIL in its folder: there is no driver.
NVIDIA_SMI = """#!/bin/sh
here=$(dirname "$0")
echo "nvidia-smi $*" >> "$here/calls"
[ ! -e "$here/FAIL" ] || exit 9
case "$1" in --query-gpu=*) printf '0, 1410\\n1, 1410\\n';; esac
"""
SUDO = """#!/bin/sh
echo "sudo $*" >> "$(dirname "$0")/calls"
[ "$1" = -n ] || exit 1
shift
exec "$@"
"""


class Machine:
    def __init__(self, folder, hbench, worker):
        self.folder = pathlib.Path(folder)
        self.bin = self.folder / "bin"
        self.repository = self.folder / "repository"
        self.workspace = self.folder / "workspace"
        self.answers = self.folder / "answers"
        self.bin.mkdir()
        self.answers.mkdir()
        self.program("nvidia-smi", NVIDIA_SMI)
        self.program("sudo", SUDO)
        self.program("id", "#!/bin/sh\necho 1000\n")
        self.program("hbench", f'#!/bin/sh\nexec "{hbench}" "$@"\n')
        self.worker = worker
        self._start_repository()

    def program(self, name, text):
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)

    def calls(self):
        """Of nvidia-smi and sudo since the last time."""
        path = self.bin / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return lines

    def git(self, *arguments, folder=None):
        return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *arguments],
                              cwd=folder or self.repository, check=True, capture_output=True, text=True).stdout.strip()

    def _start_repository(self):
        self.repository.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.git("commit", "-q", "--allow-empty", "-m", "the beginning")
        (self.repository / "hbench.toml").write_text(PROJECT)
        self.commit("as fast as it is", 1.0)

    def commit(self, message, slowness, branch="main"):
        """A commit that makes everything so many times as slow."""
        if branch not in self.git("branch", "--format=%(refname:short)").split("\n"):
            self.git("branch", "--", branch)
        self.git("checkout", "-q", branch, "--")
        (self.repository / "slowness").write_text(f"{slowness}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def merge(self, commit):
        """What CI systems check out of a pull request: a commit that no branch has."""
        return self.git("commit-tree", f"{commit}^{{tree}}", "-p", self.git("rev-parse", "main"), "-p", commit, "-m", "merge")

    def check_out(self, commit):
        """A clean work tree."""
        subprocess.run(["rm", "-rf", self.workspace], check=True)
        self.git("clone", "-q", "--no-checkout", self.repository, self.workspace)
        self.git("fetch", "-q", "origin", commit, folder=self.workspace)
        self.git("checkout", "-q", "--detach", commit, folder=self.workspace)

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ}
        return kept | {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder), "LC_ALL": "C.UTF-8",
                       "HBENCH_WORKER": str(HERE / "steady_worker"), "STEADY_WORKER": str(self.worker),
                       "STEADY_ANSWERS": str(self.answers), "STEADY_SLOWNESS": str(self.workspace / "slowness")} | more

    def shell(self, argv, script, environment):
        """Exit code and log of a script in the workspace. `argv` is the shell as the CI system starts it."""
        path = self.folder / "script.sh"
        path.write_text(script)
        done = subprocess.run([*argv, path], cwd=self.workspace, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout


def runs_in(database):
    """The labels of the runs of a database, oldest first."""
    with sqlite3.connect(database) as connection:
        runs = [row[0] for row in connection.execute("SELECT id FROM run ORDER BY id")]
        labels = {run: {} for run in runs}
        for run, name, value in connection.execute("SELECT run_id, key, value FROM label"):
            labels[run][name] = value
    return [labels[run] for run in runs]
