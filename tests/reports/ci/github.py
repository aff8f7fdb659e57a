"""Runs a workflow of GitHub's actions from its YAML, as far as the ready workflow goes: expressions, conditions, steps of a
shell, and the five actions that it uses. Anything else is an error, so that nothing is passed over in silence."""

import json
import re
import shutil

import ruamel.yaml

TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<sign>\|\||&&|==|!=|!|\(|\))|(?P<name>[A-Za-z_][\w.-]*))")
SIGNS = {"||": " or ", "&&": " and ", "!": " not "}
STATUS = ("always", "cancelled", "success", "failure")


class Expressions:
    """`contexts` holds `github`, `env`, `steps` ... as nested dictionaries; what they lack is null, here ''."""

    def __init__(self, contexts, failed):
        self.contexts, self.failed = contexts, failed

    def _get(self, path):
        value = self.contexts
        for part in path.split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        return value

    def evaluate(self, text):
        python, at = "", 0
        while at < len(text.rstrip()):
            token = TOKEN.match(text, at)
            assert token, f"not understood: {text[at:]}"
            at = token.end()
            if token["text"]:
                python += repr(token["text"][1:-1].replace("''", "'"))
            elif token["sign"]:
                python += SIGNS.get(token["sign"], token["sign"])
            else:
                python += token["name"] if token["name"] in STATUS else f"get({token['name']!r})"
        status = {"always": lambda: True, "cancelled": lambda: False, "success": lambda: not self.failed,
                  "failure": lambda: self.failed}
        return eval(python, {"__builtins__": {}, "get": self._get} | status)

    def fill(self, text):
        """The text with its `${{ }}`."""
        def value(match):
            found = self.evaluate(match[1])
            return str(found).lower() if isinstance(found, bool) else str(found)
        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def holds(self, condition):
        """Of an `if:`, which is `success()` too where it does not speak of the status."""
        text = re.sub(r"^\s*\$\{\{(.*)\}\}\s*$", r"\1", condition)
        asks = any(f"{name}(" in text for name in STATUS)
        return bool(self.evaluate(text)) and (asks or not self.failed)


class Github:
    """A repository's caches and artifacts over workflow runs, and its pull requests' comments."""

    def __init__(self, workflow, machine):
        self.workflow = ruamel.yaml.YAML(typ="safe").load(workflow)
        self.machine = machine
        self.caches = []  # of (scope, key, file)
        self.artifacts = {}
        self.variables = {}  # of the repository
        self.run_id = 0
        self.comments = machine.folder / "comments.json"
        self.comments.write_text("[]")

    def run(self, event_name, commit, ref_name="main", head_ref="", event=None, inputs=None):
        """A workflow run: by job, whether it succeeded, the exit code that ended it and its log."""
        self.run_id += 1
        self.artifacts = {}
        triggers = self.workflow[True] if True in self.workflow else self.workflow["on"]
        assert event_name in triggers, f"the workflow does not run on {event_name}"
        github = {"event_name": event_name, "event": event or {}, "head_ref": head_ref, "ref_name": ref_name,
                  "sha": commit, "repository": "team/project", "run_id": self.run_id, "run_attempt": 1, "token": "t"}
        done = {}
        for name, job in self.workflow["jobs"].items():
            needs = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
            job = Job(self, name, job, github, {each: done[each] for each in needs})
            job.contexts["inputs"] = inputs or {}
            done[name] = job.run()
        return done


class Job:
    def __init__(self, github, name, job, event, needs):
        self.server, self.machine, self.name, self.job, self.event = github, github.machine, name, job, event
        self.steps, self.outputs = {}, {}
        self.result, self.code, self.log, self.summary = "success", 0, "", ""
        self.contexts = {"github": event, "env": github.workflow.get("env", {}), "steps": self.steps, "vars": github.variables,
                         "needs": {each: {"result": of.result, "outputs": of.outputs} for each, of in needs.items()}}

    def _expressions(self):
        return Expressions(self.contexts, self.result == "failure")

    def run(self):
        if any(each["result"] != "success" for each in self.contexts["needs"].values()):
            self.result = "failure"  # as success() sees it
        wanted = self._expressions().holds(self.job.get("if", "success()"))
        self.result = "success"
        if not wanted:
            self.result = "skipped"
            return self
        for step in self.job["steps"]:
            self._run_step(step)
        self.outputs = {key: self._expressions().fill(value) for key, value in self.job.get("outputs", {}).items()}
        return self

    def _run_step(self, step):
        name = step.get("id", step["name"])
        if not self._expressions().holds(step.get("if", "success()")):
            self.steps[name] = {"outcome": "skipped"}
            return
        code = self._run_shell(step) if "run" in step else self._run_action(step)
        self.steps[name] = {"outcome": "failure" if code else "success"}
        if code and self.result == "success":
            self.result, self.code = "failure", code

    def _run_shell(self, step):
        shell = step.get("shell", self.server.workflow["defaults"]["run"]["shell"])
        assert shell == "bash", shell
        assert "${{" not in step["run"], "text from outside is a part of a script"
        summary = self.machine.folder / "summary.md"
        summary.write_text("")
        fill = self._expressions().fill
        own = {key: fill(value) for key, value in step.get("env", {}).items()}
        event = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_SHA": self.event["sha"],
                 "GITHUB_REPOSITORY": self.event["repository"], "COMMENTS": str(self.server.comments)}
        environment = self.machine.environment(**event, **self.contexts["env"], **own)
        code, log = self.machine.shell(["bash", "--noprofile", "--norc", "-eo", "pipefail"], step["run"], environment)
        self.log += log
        self.summary += summary.read_text()
        return code

    def _run_action(self, step):
        action = step["uses"].partition("@")[0]
        given = {key: self._expressions().fill(value) for key, value in step.get("with", {}).items()}
        return {"actions/checkout": self._check_out, "actions/cache/restore": self._restore,
                "actions/cache/save": self._save, "actions/upload-artifact": self._upload,
                "actions/download-artifact": self._download}[action](given)

    def _check_out(self, _given):
        self.machine.check_out(self.event["sha"])
        return 0

    def _scopes(self):
        """Where caches may be read from: a pull request has its own, and sees those of main."""
        return [self._scope(), "main"]

    def _scope(self):
        return self.event["ref_name"]

    def _restore(self, given):
        prefixes = [given["key"], *given.get("restore-keys", "").split()]
        for prefix in prefixes:
            for scope, key, file in reversed(self.server.caches):
                if scope in self._scopes() and key.startswith(prefix):
                    shutil.copy(file, self.machine.workspace / given["path"])
                    return 0
        return 0

    def _save(self, given):
        copy = self.machine.folder / f"cache-{len(self.server.caches)}"
        assert given["key"] not in [key for _, key, _ in self.server.caches], "a cache is never written twice"
        shutil.copy(self.machine.workspace / given["path"], copy)
        self.server.caches.append((self._scope(), given["key"], copy))
        return 0

    def _upload(self, given):
        if given.get("if-no-files-found") == "error" and not (self.machine.workspace / given["path"]).exists():
            return 1
        folder = self.machine.folder / f"artifact-{self.server.run_id}-{given['name']}"
        shutil.copytree(self.machine.workspace / given["path"], folder)
        self.server.artifacts[given["name"]] = folder
        return 0

    def _download(self, given):
        if given["name"] not in self.server.artifacts:
            return 1
        shutil.rmtree(self.machine.workspace, ignore_errors=True)  # another machine
        shutil.copytree(self.server.artifacts[given["name"]], self.machine.workspace / given["path"])
        return 0
