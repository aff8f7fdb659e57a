"""What is known of each step, over several calls; and the table that is kept in bench/gpu."""
import dataclasses
import datetime
import json

from checks import Ratio

# NOT_HERE: this machine is of another kind than the step is about, which is no failure.
PASSED, FAILED, NOT_RUN, NOT_HERE = "passed", "FAILED", "NOT RUN", "not here"


@dataclasses.dataclass
class Outcome:
    """`sources` is a digest of the sources that ran."""
    state: str
    why: str = ""
    seconds: float = 0
    sources: str = ""
    ratios: list = dataclasses.field(default_factory=list)


class Results:
    """Outcomes by step, in a file that every change rewrites: what is known survives whatever ends the program."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}
        if path.exists():
            for name, known in json.loads(path.read_text())["steps"].items():
                known["ratios"] = [Ratio(**ratio) for ratio in known["ratios"]]
                self.outcomes[name] = Outcome(**known)

    def keep(self, name, outcome):
        self.outcomes[name] = outcome
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"steps": {key: dataclasses.asdict(each) for key, each in self.outcomes.items()}},
                                  indent=1))
        new.replace(self.path)

    def is_settled(self, name, sources):
        """Whether there is nothing to gain by another run of the same sources here."""
        known = self.outcomes.get(name)
        return known is not None and known.state in (PASSED, NOT_HERE) and known.sources == sources


def row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def markdown(machine, command, stages, results):
    """The whole table: what ran, how it ended, and every ratio beside its bar."""
    lines = [f"# {machine['name']}, {datetime.date.today()}", "",
             "; ".join(f"{key} {value}" for key, value in machine.items() if key != "name" and value), "",
             f"Repeat with: `{command}`", "", row("stage", "step", "state", "seconds", "sources", "why"),
             "|---|---|---|---:|---|---|"]
    for stage in stages:
        for step in stage.steps:
            known = results.outcomes.get(step.name, Outcome(NOT_RUN, "not asked for yet"))
            seconds = f"{known.seconds:.0f}" if known.seconds else ""
            lines.append(row(stage.name, step.name, known.state, seconds, known.sources, known.why))
    for stage in stages:
        for step in stage.steps:
            known = results.outcomes.get(step.name)
            if known is None or not known.ratios:
                continue
            lines += ["", f"## {step.name}", row("what", known.ratios[0].unit, "share", "bar", ""), "|---|---:|---:|---:|---|"]
            for ratio in known.ratios:
                bar = "" if ratio.bar is None else f"{ratio.bar:g}"
                below = "below" if ratio.bar is not None and ratio.share < ratio.bar else ""
                lines.append(row(ratio.what, f"{ratio.value:.1f}", f"{ratio.share:.3f}", bar, below))
    return "\n".join(lines) + "\n"
