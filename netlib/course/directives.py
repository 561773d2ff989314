"""The book's directives: figures, players, exercises, agreements, registry tables, take-aways and generated text.

Each is loaded by netlib.course.sphinx. What a directive shows is computed by other modules of netlib, imported when the
directive is used; a failure there is a warning with the page and the line.
"""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from netlib import hardware
from netlib.units import show

TAKEAWAY_LINES, TAKEAWAY_LETTERS = 3, 300  # three lines on a desktop screen

log = logging.getLogger(__name__)


class Computed(SphinxDirective):
    """A directive whose content netlib computes; a failure is a warning with file and line."""

    def run(self) -> list[nodes.Node]:
        try:
            return self.compute()
        except Exception as error:
            log.warning("%s: %s", self.name, error, location=self.get_location())
            return []

    def compute(self) -> list[nodes.Node]:
        raise NotImplementedError

    def markdown(self, text: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(text)


class Explorer(Computed):
    """`{explorer} ring-or-tree`: the figure, baked over its whole grid."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        bake = import_module("netlib.course.explorer").bake
        return [nodes.raw("", bake(self.arguments[0]), format="html")]


class Player(Computed):
    """`{player} all-reduce-steps`: a schedule step by step, baked for every setting of its knobs."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        bake = import_module("netlib.course.player").bake
        return [nodes.raw("", bake(self.arguments[0]), format="html")]


class Exercise(Computed):
    """`{exercise} ring-01`: the question with its hints and explanation."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        html = import_module("netlib.course.exercises").exercise_html(self.arguments[0])
        self.env.metadata[self.env.docname].setdefault("exercises", []).append(self.arguments[0])
        return [nodes.raw("", html, format="html")]

    @staticmethod
    def mention(id: str) -> nodes.Node:
        """The exercise's name; `link_exercises` makes it a link when some page holds the exercise."""
        return nodes.literal("", id, classes=["nx-mention"])


class Exercises(Computed):
    """`{exercises} collectives`: the chapter's sheet, with stars and minutes and their sum."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        sheet = list(import_module("netlib.course.exercises").sheet(self.arguments[0]))
        if not sheet:
            raise ValueError(f"chapter {self.arguments[0]!r} has no exercises")
        rows = {
            f"sheet-{e.id}": [
                [Exercise.mention(e.id)],
                *([nodes.Text(t)] for t in (e.skill, stars(e.stars), minutes(*e.minutes))),
            ]
            for e in sheet
        }
        total = minutes(sum(e.minutes[0] for e in sheet), sum(e.minutes[1] for e in sheet))
        rows["sheet-total"] = [[nodes.strong("", f"all {len(sheet)}")], [], [], [nodes.strong("", total)]]
        return [table(("exercise", "skill", "level", "minutes"), rows, "nx-sheet")]


def stars(count: int) -> str:
    """Difficulty in a form that is also read aloud: ★★☆ (2 of 3)."""
    return f"{'★' * count}{'☆' * (3 - count)} ({count} of 3)"


def minutes(low: float, high: float) -> str:
    """A range of minutes: `5-10`, or `5` when both ends agree."""
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


class Agreement(Computed):
    """`{agreement} fat-tree-size`, under a formula: the same number found another way, compared now. Names one or more
    ids. Where the two ways part, the badge says so and the build warns."""

    required_arguments = 1
    optional_arguments = 20

    def compute(self) -> list[nodes.Node]:
        mechanism = import_module("netlib.fidelity.agreement")
        find = import_module("netlib.fidelity.agreements").find
        badges = []
        for id in self.arguments:
            checked = mechanism.check(find(id))
            if not checked.holds:
                log.warning("agreement: %s: %s", id, checked.sentence, location=self.get_location())
            badges.append(badge(checked))
        return [nodes.raw("", "".join(badges), format="html")]


class AgreementTable(Computed):
    """`{agreement-table}`: every algorithm in three engines on random cases, run now. A row whose engines part is
    marked, and the build warns."""

    def compute(self) -> list[nodes.Node]:
        engines = import_module("netlib.fidelity.engine_table")
        for each in engines.all_compared():
            if not each.holds:
                told = (each.algorithm.id, each.verdict)
                log.warning("agreement-table: %s: %s", *told, location=self.get_location())
        return self.markdown(engines.table())


def badge(checked: Any) -> str:
    """The HTML of one checked agreement: the sentence, and on opening it both functions and all cases."""
    agreement, mark = checked.agreement, "✓" if checked.holds else "✗"
    style = "nx-agreement" if checked.holds else "nx-agreement nx-parts"
    both = " and ".join(f"<code>{escape(name)}</code>" for name in checked.names)
    told = f"{escape(agreement.what[0].upper() + agreement.what[1:])}, by {both}."
    cases = "; ".join(map(escape, checked.shown_cases))
    return (
        f'<details class="{style}" id="agreement-{escape(agreement.id)}"><summary>'
        f'<span aria-hidden="true">{mark}</span> {escape(checked.sentence)}</summary>'
        f"<p>{told} Cases: {cases}.</p></details>"
    )


class RegistryTable(Computed):
    """`{registry-table} nvlink`: the hardware facts of one kind (or `nodes`), one anchor each."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        kind = self.arguments[0]
        if kind == "nodes":
            heads: tuple[str, ...] = ("node", "GPUs", "NVLink, each", "NICs", "network, each", "source")
            rows = {f"node-{node.id}": self.node(node) for node in hardware.nodes()}
        else:
            heads = ("fact", "value", "of one", "printed as", "source")
            rows = {f"fact-{fact.id}": self.fact(fact) for fact in hardware.facts(kind)}
        return [table(heads, rows, "nx-registry")]

    def fact(self, fact: hardware.Fact) -> list[list[nodes.Node]]:
        direction = "" if fact.direction == "not-applicable" else f", {fact.direction.replace('-', ' ')}"
        texts = (fact.text.removesuffix(", one way"), fact.scope, fact.printed + direction)
        unusual = [nodes.emphasis("", f"{standing(fact)}. ")] if standing(fact) else []
        return [
            called(fact.name, fact.id),
            *([nodes.Text(text)] for text in texts),
            unusual + self.source(fact),
        ]

    def node(self, node: hardware.Node) -> list[list[nodes.Node]]:
        texts = (str(node.gpus), show(node.up, "GB/s"), str(node.nics), show(node.out, "GB/s"))
        unusual = [nodes.emphasis("", "announced. ")] if node.status == "announced" else []
        return [
            called(node.name, node.id),
            *([nodes.Text(text)] for text in texts),
            unusual + self.source(node),
        ]

    def source(self, found: hardware.Fact | hardware.Node) -> list[nodes.Node]:
        cited, _ = self.parse_inline(f"{{cite:t}}`{found.source}`")
        return [
            *cited,
            nodes.Text("".join(f", {words}" for words in (found.locator, f"read {found.as_of}") if words)),
        ]


def called(name: str, id: str) -> list[nodes.Node]:
    """A name with the id that prose and code use."""
    return [nodes.Text(f"{name} "), nodes.literal("", id)]


def standing(fact: hardware.Fact) -> str:
    """How a fact differs from a shipping product's data sheet that was read; empty when it does not."""
    words = (fact.basis, fact.status, "unconfirmed" if fact.confidence != "primary" else "nominal")
    return ", ".join(word for word in words if word not in ("nominal", "shipping"))


def table(heads: Sequence[str], rows: Mapping[str, Sequence[Sequence[nodes.Node]]], style: str) -> nodes.table:
    """A table whose rows carry anchors."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in heads), cols=len(heads))
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph("", head)) for head in heads)))
    body = nodes.tbody()
    for anchor, cells in rows.items():
        body += nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells), ids=[anchor])
    group += body
    return nodes.table("", group, classes=[style])


class Takeaway(SphinxDirective):
    """`{takeaway}`: what to keep, in three lines at most."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = [line for line in self.content if line.strip()]
        letters = sum(len(line) for line in lines)
        if not lines or len(lines) > TAKEAWAY_LINES or letters > TAKEAWAY_LETTERS:
            limit = f"1 to {TAKEAWAY_LINES} lines and {TAKEAWAY_LETTERS} letters"
            log.warning(
                "takeaway: %d lines, %d letters; it holds %s",
                len(lines),
                letters,
                limit,
                location=self.get_location(),
            )
        box = nodes.admonition("", nodes.title("", "Take-away"), classes=["nx-takeaway"])
        for line in lines:
            box += self.parse_text_to_nodes(line)
        return [box]


class Generated(Computed):
    """`{generated} netlib.fidelity.page`: the MyST Markdown that a function of netlib returns."""

    required_arguments = 1

    def compute(self) -> list[nodes.Node]:
        module, _, function = self.arguments[0].rpartition(".")
        if module.split(".")[0] != "netlib":
            raise ValueError(f"{self.arguments[0]!r} is not a function of netlib")
        return self.markdown(getattr(import_module(module), function)())


DIRECTIVES: dict[str, type[SphinxDirective]] = {
    "explorer": Explorer,
    "player": Player,
    "exercise": Exercise,
    "exercises": Exercises,
    "agreement": Agreement,
    "agreement-table": AgreementTable,
    "registry-table": RegistryTable,
    "takeaway": Takeaway,
    "generated": Generated,
}
