"""Runs the shell steps of a declarative Jenkinsfile, as far as the ready one goes. Without Jenkins its Groovy is not run: the
steps `copyArtifacts`, `junit` and `archiveArtifacts` are found in the text and done as the file says."""

import re
import shutil

SHELL = re.compile(r"\bsh (?:'''(?P<long>.*?)'''|'(?P<short>[^'\n]*)')", re.S)
STEP = re.compile(SHELL.pattern + r"|(?P<copy>copyArtifacts\(.*?optional: true\))|(?P<junit>junit\(.*?\))"
                  r"|(?P<archive>archiveArtifacts\(.*?\))", re.S)


class Jenkins:
    def __init__(self, text, machine):
        self.machine = machine
        self.stages, self.post = text.split("\n  post {\n    always {\n")
        assert "lock(resource: 'hbench-gpu')" in text
        self.base = re.search(r"BASELINE = '(\w+)'", text)[1]
        (self.rule,) = re.findall(r"def database = (.*)", self.post)
        self.archived = {}  # by branch, the newest database
        self.reports = {}

    def build(self, commit, branch, change_branch=None, accept=""):
        """Exit code of the stage that failed, or 0."""
        self.machine.check_out(commit)
        self.branch, self.reports, self.log = branch, {}, ""
        change = {"CHANGE_BRANCH": change_branch} if change_branch else {}
        self.environment = self.machine.environment(BRANCH_NAME=branch, BASELINE=self.base, ACCEPT=accept, **change)
        code = 0
        for step in STEP.finditer(self.stages):
            code = self._run(step)
            if code:
                break
        for step in STEP.finditer(self.post):
            assert self._run(step) == 0, self.log
        return code

    def _run(self, step):
        if step["copy"]:
            assert "env.BASELINE" in step["copy"] and "filter: 'hbench.db'" in step["copy"]
            if self.base in self.archived:
                shutil.copy(self.archived[self.base], self.machine.workspace / "hbench.db")
            return 0
        if step["junit"]:
            path = self.machine.workspace / re.search(r"testResults: '([^']+)'", step["junit"])[1]
            self.reports["junit"] = path.read_text() if path.exists() else ""
            return 0
        if step["archive"]:
            return self._archive(step["archive"])
        # As Groovy reads the text: a backslash at the end of a line joins it with the next.
        script = (step["long"] or step["short"]).replace("\\\n", "")
        assert "\\" not in script and "${env" not in script, script
        code, log = self.machine.shell(["sh", "-xe"], script, self.environment)
        self.log += log
        return code

    def _archive(self, text):
        assert "'hbench-track/*' + database" in text
        assert self.rule == "env.BRANCH_NAME == env.BASELINE ? ', hbench.db' : ''", self.rule
        database = self.machine.workspace / "hbench.db"
        if self.branch == self.base and database.exists():
            self.archived[self.branch] = shutil.copy(database, self.machine.folder / f"archived-{self.branch}.db")
        self.reports["files"] = sorted(each.name for each in (self.machine.workspace / "hbench-track").glob("*"))
        return 0
