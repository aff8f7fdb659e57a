"""The ready CI files of reports/ci do what they say: story_test.py FILE KIND HBENCH WORKER

The steps' own shell is run, from FILE, against a scratch repository: nights make a history; a pull request that is as fast
passes, one that is slower fails with 10, and neither changes the history; a night that is slower fails and is kept, and
passes once it has been accepted.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import junitparser

import github
import gitlab
import jenkins
import machine

FILE, KIND, HBENCH, WORKER = sys.argv[1:5]
LOCKED = ["--id=0 --lock-gpu-clocks=1410", "--id=1 --lock-gpu-clocks=1410"]
# A branch's name may be all of this.
HOSTILE = "topic-$(touch${IFS}pwned)`touch${IFS}pwned`';touch${IFS}pwned;'\"<b>@name"


class Story(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.machine = machine.Machine(self.folder, HBENCH, WORKER)
        self.machine.program("gh", f'#!/bin/sh\nexec "{sys.executable}" "{machine.HERE / "gh"}" "$@"\n')
        self.fast = self.machine.git("rev-parse", "main")
        self.topic = self.machine.commit("is as fast", 1.0, HOSTILE)
        self.slower = self.machine.commit("is slower", 1.2, HOSTILE)
        self.main_slower = self.machine.commit("is slower on main", 1.1)
        self.server = self.start(pathlib.Path(FILE).read_text())

    def expect_clocks_released(self):
        """Both were locked, by sudo, and the last thing was to let go of them."""
        asked = [each.removeprefix("sudo -n nvidia-smi ") for each in self.machine.calls() if each.startswith("sudo")]
        self.assertEqual(asked, [*LOCKED, "--reset-gpu-clocks"])

    def expect_runs(self, database, labels):
        self.assertEqual([(each["branch"], each["commit"]) for each in machine.runs_in(database)], labels)

    def expect_junit(self, text, failures):
        file = self.folder / "junit.xml"
        file.write_text(text)
        self.assertEqual(junitparser.JUnitXml.fromfile(str(file)).failures, failures)

    def expect_nothing_was_run_by_a_name(self):
        self.assertEqual(list(self.folder.rglob("pwned")), [])


class GithubStory(Story):
    def start(self, text):
        return github.Github(text, self.machine)

    def pull(self, commit, repository="team/project"):
        event = {"pull_request": {"number": 12, "head": {"sha": commit, "repo": {"full_name": repository}}}}
        done = self.server.run("pull_request", self.machine.merge(commit), ref_name="12/merge", head_ref=HOSTILE, event=event)
        return done["track"], done["comment"]

    def comments(self):
        return json.loads(self.server.comments.read_text())

    def history(self):
        return self.server.caches[-1][2]

    def test_story(self):
        for night in (1, 2, 3):
            done = self.server.run("schedule", self.fast)
            self.assertEqual((done["track"].code, done["comment"].result), (0, "skipped"), done["track"].log)
            self.expect_runs(self.history(), [("main", self.fast)] * night)
            self.expect_clocks_released()
        nights = [("main", self.fast)] * 3
        self.assertTrue((self.server.artifacts["hbench-track"] / "hbench.db").exists())

        with self.subTest("a pull request that is as fast"):
            track, comment = self.pull(self.topic)
            self.assertEqual((track.result, comment.result), ("success", "success"), track.log + comment.log)
            self.assertIn("1 pass", track.summary)
            self.assertNotIn("::error", track.log)
            reports = self.server.artifacts["hbench-track"]
            self.assertEqual(sorted(each.name for each in reports.iterdir()), ["check.md", "history.html", "junit.xml"])
            self.assertIn("branch=topic", (reports / "check.md").read_text())
            self.expect_junit((reports / "junit.xml").read_text(), 0)
            self.assertEqual([each["body"] for each in self.comments()],
                             ["<!-- hbench track -->\n" + (reports / "check.md").read_text()])
            self.expect_clocks_released()

        with self.subTest("a pull request that is slower"):
            # A comment of somebody else, who took the mark, is not touched.
            others = {"id": 1, "user": {"login": "x"}, "body": "<!-- hbench track --> mine"}
            self.server.comments.write_text(json.dumps([others, *self.comments()]))
            track, comment = self.pull(self.slower)
            self.assertEqual((track.result, track.code, comment.result), ("failure", 10, "success"), track.log)
            self.assertRegex(track.log, "(?m)^::error title=regressed%3A all-reduce of 64KiB")
            self.assertIn("1 regressed", track.summary)
            self.expect_junit((self.server.artifacts["hbench-track"] / "junit.xml").read_text(), 1)
            self.assertEqual(self.comments()[0], others)
            self.assertEqual(len(self.comments()), 2)
            self.assertIn("1 regressed", self.comments()[1]["body"])
            self.expect_clocks_released()
        self.expect_runs(self.history(), nights)
        self.expect_nothing_was_run_by_a_name()

        with self.subTest("a night that is slower"):
            done = self.server.run("schedule", self.main_slower)
            self.assertEqual(done["track"].code, 10, done["track"].log)
            self.expect_runs(self.history(), [*nights, ("main", self.main_slower)])
            self.expect_clocks_released()

        with self.subTest("the same, accepted"):
            done = self.server.run("workflow_dispatch", self.main_slower, inputs={"accept": "checks more, `pwned`"})
            self.assertEqual(done["track"].code, 0, done["track"].log)
            self.expect_runs(self.history(), [*nights, *[("main", self.main_slower)] * 2])
            self.expect_clocks_released()

    def test_code_from_forks_is_not_run(self):
        track, comment = self.pull(self.slower, repository="somebody/project")
        self.assertEqual((track.result, comment.result), ("skipped", "skipped"))
        self.assertFalse(self.machine.workspace.exists())

    def test_what_cannot_be_measured_is_neither_judged_nor_kept(self):
        self.machine.program("hbench", "#!/bin/sh\nexit 3\n")
        done = self.server.run("schedule", self.fast)
        self.assertEqual(done["track"].code, 3)
        self.assertEqual((self.server.caches, self.server.artifacts), ([], {}))
        self.expect_clocks_released()

    def test_a_machine_without_a_gpu_measures_all_the_same(self):
        (self.machine.bin / "FAIL").touch()
        done = self.server.run("schedule", self.fast)
        self.assertEqual(done["track"].code, 0, done["track"].log)
        self.assertIn("::warning title=hbench::nvidia-smi does not list GPUs", done["track"].log)


class GithubPairStory(Story):
    """A repository whose program prints a figure that is made up. Nothing is kept, so there are no nights."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.machine = machine.Machine(self.folder, HBENCH, WORKER)
        self.machine.program("gh", f'#!/bin/sh\nexec "{sys.executable}" "{machine.HERE / "gh"}" "$@"\n')
        self.machine.program("curl", '#!/bin/sh\necho "curl $*" >> "$(dirname "$0")/calls"\n: > "$HOME/hbench.deb"\n')
        self.machine.program("apt-get", '#!/bin/sh\nfor last; do :; done\ntest "$last" = update -o -e "$last"\n')
        self.machine.git("rm", "-q", "hbench.toml")
        self.machine.commit("has no file", 1.0)
        (self.machine.repository / "hbench.toml").write_text('[[command]]\nname = "step"\nrun = "sh step"\n')
        (self.machine.repository / "step").write_text(
            """awk -v slow="$(cat slowness)" -v n="$(date +%N)" """
            """'BEGIN { printf "{\\"step_ms\\": %.4f}\\n", 10 * slow * (1 + 0.001 * (n % 7)) }'\n""")
        self.first = self.machine.commit("has one", 1.0, "first")
        self.first_merge = self.machine.merge(self.first)
        self.machine.git("checkout", "-q", "main")
        self.machine.git("merge", "-q", "first")
        self.topic = self.machine.commit("is as fast", 1.0, HOSTILE)
        self.slower = self.machine.commit("is slower", 1.2, HOSTILE)
        self.server = github.Github(pathlib.Path(FILE).read_text(), self.machine)
        self.server.variables["HBENCH_PACKAGE"] = "https://example.org/hbench.deb"

    def judged(self, merge, repository="team/project"):
        event = {"pull_request": {"number": 12, "head": {"repo": {"full_name": repository}}}}
        done = self.server.run("pull_request", merge, ref_name="12/merge", head_ref=HOSTILE, event=event)
        return done["pair"], done["comment"]

    def test_a_pull_request_that_is_as_fast_and_one_that_is_slower(self):
        pair, comment = self.judged(self.machine.merge(self.topic))
        self.assertEqual((pair.result, comment.result), ("success", "success"), pair.log + comment.log)
        self.assertIn("1 pass: the head against the base, in 12 pairs of launches.", pair.summary)
        self.expect_junit((self.server.artifacts["hbench-track"] / "junit.xml").read_text(), 0)
        self.assertEqual(self.machine.calls()[0].split()[-1], "https://example.org/hbench.deb")

        pair, comment = self.judged(self.machine.merge(self.slower))
        self.assertEqual((pair.result, pair.code, comment.result), ("failure", 10, "success"), pair.log)
        self.assertRegex(pair.log, r"(?m)^::error title=regressed%3A step step_ms::regressed by (19|20)\.\d %25: 12\.")
        self.expect_junit((self.server.artifacts["hbench-track"] / "junit.xml").read_text(), 1)
        (said,) = json.loads(self.server.comments.read_text())
        self.assertRegex(said["body"], r"step step\\_ms regressed by (19|20)\.\d %")
        self.expect_nothing_was_run_by_a_name()

        with self.subTest("of a fork, whose jobs may write no comment"):
            pair, comment = self.judged(self.machine.merge(self.topic), repository="somebody/project")
            self.assertEqual((pair.result, comment.result), ("success", "skipped"), pair.log)

    def test_the_first_pull_request_with_a_file_is_not_judged(self):
        pair, comment = self.judged(self.first_merge)
        self.assertEqual((pair.result, comment.result), ("success", "success"), pair.log + comment.log)
        self.assertIn("is not judged", self.server.comments.read_text())

    def test_a_repository_without_a_package_is_told_so(self):
        self.server.variables.clear()
        pair, comment = self.judged(self.machine.merge(self.topic))
        self.assertEqual((pair.code, comment.result), (3, "skipped"))
        self.assertIn("::error title=hbench::set the variable HBENCH_PACKAGE", pair.log)


class GitlabStory(Story):
    def start(self, text):
        return gitlab.Gitlab(text, self.machine)

    def night(self, commit, source="schedule", **more):
        return self.server.pipeline(commit, CI_PIPELINE_SOURCE=source, CI_COMMIT_BRANCH="main", CI_COMMIT_REF_NAME="main",
                                    CI_DEFAULT_BRANCH="main", CI_COMMIT_REF_PROTECTED="true", **more)

    def merge_request(self, commit, project="7"):
        return self.server.pipeline(
            self.machine.merge(commit), CI_PIPELINE_SOURCE="merge_request_event", CI_COMMIT_REF_NAME=HOSTILE, CI_DEFAULT_BRANCH="main",
            CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=HOSTILE, CI_MERGE_REQUEST_SOURCE_PROJECT_ID=project, CI_PROJECT_ID="7",
            CI_COMMIT_REF_PROTECTED="false")

    def history(self):
        ((_, files),) = self.server.caches.items()
        return files["hbench.db"]

    def test_story(self):
        for night in (1, 2, 3):
            job = self.night(self.fast)
            self.assertEqual((job.name, job.code), ("hbench-nightly", 0), job.log)
            self.expect_runs(self.history(), [("main", self.fast)] * night)
            self.expect_clocks_released()
        nights = [("main", self.fast)] * 3
        self.assertEqual(job.paths, ["hbench-track", "hbench.db"])

        with self.subTest("a merge request that is as fast"):
            job = self.merge_request(self.topic)
            self.assertEqual((job.name, job.code, job.paths), ("hbench-merge-request", 0, ["hbench-track"]), job.log)
            self.expect_junit(job.reports["junit"], 0)
            self.assertIn('hbench_track_cases{verdict="pass"} 1\n', job.reports["metrics"])
            self.assertTrue((self.machine.workspace / "hbench-track/history.html").exists())
            self.assertEqual(machine.runs_in(self.machine.workspace / "hbench.db")[-1]["branch"], HOSTILE)
            self.expect_clocks_released()

        with self.subTest("a merge request that is slower"):
            job = self.merge_request(self.slower)
            self.assertEqual(job.code, 10, job.log)
            self.expect_junit(job.reports["junit"], 1)
            self.assertIn('hbench_track_cases{verdict="regressed"} 1\n', job.reports["metrics"])
            self.expect_clocks_released()
        self.expect_runs(self.history(), nights)
        self.expect_nothing_was_run_by_a_name()

        with self.subTest("a night that is slower"):
            self.assertEqual(self.night(self.main_slower).code, 10)
            self.expect_runs(self.history(), [*nights, ("main", self.main_slower)])
            self.expect_clocks_released()

        with self.subTest("the same, accepted"):
            job = self.night(self.main_slower, "web", HBENCH_ACCEPT="checks more, `pwned`")
            self.assertEqual(job.code, 0, job.log)
            self.expect_runs(self.history(), [*nights, *[("main", self.main_slower)] * 2])
            self.expect_clocks_released()

    def test_code_from_forks_is_not_run(self):
        self.assertIsNone(self.merge_request(self.slower, project="8"))

    def test_other_pipelines_run_nothing(self):
        self.assertIsNone(self.server.pipeline(self.fast, CI_PIPELINE_SOURCE="push", CI_COMMIT_BRANCH="main",
                                               CI_DEFAULT_BRANCH="main"))


class JenkinsStory(Story):
    def start(self, text):
        return jenkins.Jenkins(text, self.machine)

    def test_story(self):
        for night in (1, 2, 3):
            self.assertEqual(self.server.build(self.fast, "main"), 0, self.server.log)
            self.expect_runs(self.server.archived["main"], [("main", self.fast)] * night)
            self.expect_clocks_released()
        nights = [("main", self.fast)] * 3

        with self.subTest("a pull request that is as fast"):
            self.assertEqual(self.server.build(self.machine.merge(self.topic), "PR-12", HOSTILE), 0, self.server.log)
            self.expect_junit(self.server.reports["junit"], 0)
            self.assertEqual(self.server.reports["files"], ["check.html", "history.html", "junit.xml"])
            self.expect_clocks_released()

        with self.subTest("a pull request that is slower"):
            self.assertEqual(self.server.build(self.machine.merge(self.slower), "PR-12", HOSTILE), 10, self.server.log)
            self.expect_junit(self.server.reports["junit"], 1)
            self.expect_clocks_released()
        self.assertEqual(list(self.server.archived), ["main"])
        self.expect_runs(self.server.archived["main"], nights)
        self.expect_nothing_was_run_by_a_name()

        with self.subTest("a night that is slower"):
            self.assertEqual(self.server.build(self.main_slower, "main"), 10)
            self.expect_runs(self.server.archived["main"], [*nights, ("main", self.main_slower)])
            self.expect_clocks_released()

        with self.subTest("the same, accepted"):
            self.assertEqual(self.server.build(self.main_slower, "main", accept="checks more, `pwned`"), 0)
            self.expect_runs(self.server.archived["main"], [*nights, *[("main", self.main_slower)] * 2])
            self.expect_clocks_released()


if __name__ == "__main__":
    story = {"github": GithubStory, "github-pair": GithubPairStory, "gitlab": GitlabStory, "jenkins": JenkinsStory}[KIND]
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(story)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(tests).wasSuccessful())
