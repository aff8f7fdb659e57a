"""Runs jobs of a GitLab CI file from its YAML, as far as the ready file goes: `extends`, rules, the shell, one cache, and
artifacts with their reports. Anything else is an error, so that nothing is passed over in silence."""

import re
import shutil

import ruamel.yaml

KNOWN = {"extends", "stage", "tags", "resource_group", "timeout", "variables", "cache", "before_script", "script",
         "after_script", "artifacts", "rules"}


def merged(base, more):
    """As `extends` merges: tables within tables, everything else is replaced."""
    if isinstance(base, dict) and isinstance(more, dict):
        return base | {key: merged(base.get(key), value) for key, value in more.items()}
    return more


def holds(rule, variables):
    """Of `rules:if`: comparisons of variables and texts, joined by &&."""
    def value(word):
        return word[1:-1] if word.startswith('"') else variables.get(word.removeprefix("$"), "")
    comparisons = [each.split(" == ") for each in rule.split(" && ")]
    assert all(len(each) == 2 for each in comparisons), rule
    return all(value(left) == value(right) for left, right in comparisons)


class Gitlab:
    def __init__(self, text, machine):
        self.jobs = ruamel.yaml.YAML(typ="safe").load(text)
        self.machine = machine
        self.caches = {}

    def pipeline(self, commit, **variables):
        """Runs the job that the variables choose: none, or one."""
        chosen = [Job(self, name, variables) for name in self.jobs if not name.startswith(".")]
        chosen = [job for job in chosen if job.wanted()]
        assert len(chosen) <= 1, [job.name for job in chosen]
        return chosen[0].run(commit) if chosen else None


class Job:
    def __init__(self, server, name, variables):
        self.server, self.machine, self.name = server, server.machine, name
        own = server.jobs[name]
        self.job = merged(server.jobs[own["extends"]], own) if "extends" in own else own
        assert set(self.job) <= KNOWN, set(self.job) - KNOWN
        self.variables = variables

    def wanted(self):
        return any(holds(rule["if"], self.variables) for rule in self.job["rules"])

    def run(self, commit):
        self.machine.check_out(commit)
        cache = self.job["cache"]
        # Branches that are not protected have caches of their own, where the file does not say otherwise.
        key = (cache["key"], bool(cache.get("unprotect")) or self.variables["CI_COMMIT_REF_PROTECTED"])
        for path, copy in self.server.caches.get(key, {}).items():
            shutil.copy(copy, self.machine.workspace / path)
        environment = self.machine.environment(**self.variables, CI_COMMIT_SHA=commit)
        start = ["bash", "-eo", "pipefail"]
        self.code, self.log = self.machine.shell(
            start, "\n".join(self.job["before_script"] + self.job["script"]), environment)
        _, after = self.machine.shell(start, "\n".join(self.job["after_script"]), environment)
        self.log += after
        if "push" in cache.get("policy", "pull-push") and (self.code == 0 or cache.get("when") == "always"):
            self._push(key, cache["paths"])
        self._collect()
        return self

    def _push(self, key, paths):
        kept = self.server.caches[key] = {}
        for path in paths:
            copy = self.machine.folder / re.sub(r"\W", "-", f"cache-{key}-{path}")
            shutil.copy(self.machine.workspace / path, copy)
            kept[path] = copy

    def _collect(self):
        artifacts = self.job["artifacts"]
        assert self.code == 0 or artifacts["when"] == "always"
        self.paths = [path for path in artifacts["paths"] if (self.machine.workspace / path).exists()]
        reports = {kind: self.machine.workspace / path for kind, path in artifacts["reports"].items()}
        self.reports = {kind: path.read_text() for kind, path in reports.items() if path.exists()}
