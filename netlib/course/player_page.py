"""Player, baked: a player as HTML that needs no kernel.

`assets/player.js` plays what is packed here. Until it runs, or without it, the figure shows the default run as a strip
of its key steps, with the table of all of them.
"""

import base64
import gzip
import html
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from netlib.course.explorer import states
from netlib.course.page import knob_row
from netlib.course.player import Player, Scene
from netlib.course.player_draw import legend, picture
from netlib.course.player_story import Story, clock, faults, label, row, sentences, story
from netlib.course.words import LADDERS, NO_VALUE, nice

STEPS_HEAD = ("step", "messages", "takes", "elapsed", "finished")
LINKS_HEAD = ("link", "bytes so far", "in all")
BUTTONS = (("start", "To start"), ("back", "Back"), ("play", "Play"), ("next", "Step"))
SPEEDS = (("slow", 2.8), ("normal", 1.5), ("fast", 0.6))  # seconds that a step is shown


def render(own: Player) -> str:
    """The player's HTML, computed afresh; the same source gives the same bytes."""
    runs = [own.at(index) for index in states(own)]
    told = _once(runs)
    text = json.dumps(specification(own, runs, told), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text = text.replace("<", "\\u003c")
    id = f"nx-{own.id}-{sha256(text.encode()).hexdigest()[:8]}"
    at = states(own).index(own.start)
    run, now, e = runs[at], told[at], html.escape
    said, failure = sentences(now), faults(now)
    speeds = "".join(f'<option value="{s}"{" selected" * (n == "normal")}>{n}</option>' for n, s in SPEEDS)
    return "\n".join(
        [
            f'<figure class="nx-figure nx-player" id="{id}" data-player="{e(own.id)}">',
            f'<div class="nx-knobs" role="group" aria-label="{e(own.title)}: knobs" hidden>',
            *(knob_row(id, k, name, own) for k, name in enumerate(own.knobs)),
            '<button type="button" class="nx-reset">Reset</button>',
            "</div>",
            f'<div class="nx-legend">{legend(any(m.add for each in told for step in each.steps for m in step))}</div>',
            f'<div class="nx-stage" hidden><svg class="nx-svg" role="img" aria-label="{e(own.alt)}"></svg></div>',
            f'<div class="nx-strip">{_strip(own, now, run.size)}</div>',
            f'<div class="nx-transport" role="group" aria-label="{e(own.title)}: steps" hidden>',
            *(f'<button type="button" data-do="{name}">{words}</button>' for name, words in BUTTONS),
            f'<label class="nx-speed">speed <select>{speeds}</select></label>',
            f'<input type="range" class="nx-step" aria-label="step" min="0" max="{len(now.steps)}" step="1" value="0">',
            '<div class="nx-time" aria-hidden="true"></div>',
            '<p class="nx-clock"></p>',
            "</div>",
            f'<p class="nx-reading" aria-live="polite">{e(said[0])}</p>',
            f'<p class="nx-failure" aria-live="polite"{"" if failure else " hidden"}>{e(failure)}</p>',
            '<details class="nx-data"><summary>All steps as a table</summary><div class="nx-tables">',
            _table(STEPS_HEAD, step_rows(now, run)),
            _table(LINKS_HEAD, link_rows(now, run.size, 0)),
            "</div></details>",
            f'<figcaption><span class="nx-title">{e(own.title)}</span> {e(own.caption)}</figcaption>',
            "<noscript><p>To play it needs JavaScript; the pictures show key steps, the table all.</p></noscript>",
            f'<script type="application/json" class="nx-spec">{text}</script>',
            "</figure>",
        ]
    )


def key_steps(told: Story) -> list[int]:
    """At most four steps that tell the story: the start, the first, one half-way, the end.

    >>> from netlib.collectives import ring_allreduce
    >>> key_steps(story(ring_allreduce(4)))
    [0, 1, 3, 6]
    """
    last = len(told.steps)
    return sorted({0, min(1, last), (last + 1) // 2, last})


def step_rows(told: Story, run: Scene) -> list[list[str]]:
    """The rows of the table of steps."""
    seconds = clock(told, run)
    total, done = int(told.needed.sum()), told.finished
    rows = [["0", "", "", nice(0, "s"), f"{done[0]} of {total}"]]
    for k, (takes, elapsed) in enumerate(zip(seconds, np.cumsum(seconds), strict=True), 1):
        rows.append([str(k), row(told, k), nice(takes, "s"), nice(elapsed, "s"), f"{done[k]} of {total}"])
    return rows


def links(told: Story) -> list[tuple[int, int]]:
    """The pairs (from, to) that a story uses, in order."""
    return sorted({(m.src, m.dst) for step in told.steps for m in step})


def link_rows(told: Story, size: float, k: int) -> list[list[str]]:
    """The rows of the table of links after step k."""

    def carried(pair: tuple[int, int], until: int) -> float:
        own = (m.chunks for step in told.steps[:until] for m in step if (m.src, m.dst) == pair)
        return size * float(sum(told.weight[list(chunks)].sum() for chunks in own))

    return [
        [
            f"{told.name(a)} → {told.name(b)}",
            nice(carried((a, b), k), "iB"),
            nice(carried((a, b), len(told.steps)), "iB"),
        ]
        for a, b in links(told)
    ]


def specification(own: Player, runs: Sequence[Scene], told: Sequence[Story]) -> dict[str, Any]:
    """What the script needs: knobs, and packed the distinct stories and each state's size and seconds."""
    different = list({id(each): each for each in told}.values())
    place = {id(each): i for i, each in enumerate(different)}
    plain = {
        "stories": [_plain(each) for each in different],
        "states": [
            [place[id(now)], run.size, [float(f"{s:.9g}") for s in clock(now, run)]]
            for run, now in zip(runs, told, strict=True)
        ],
    }
    packed = gzip.compress(json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode(), 9, mtime=0)
    return {
        "id": own.id,
        "alt": own.alt,
        "knobs": [{"texts": k.texts, "start": i} for k, i in zip(own.knobs.values(), own.start, strict=True)],
        "ladders": LADDERS,
        "gap": NO_VALUE,
        "data": base64.b64encode(packed).decode(),
    }


def _plain(told: Story) -> dict[str, Any]:
    """A story for the script: cells at first and those that change with each step, messages, words."""
    shown = told.shown
    changes = [np.argwhere(shown[k] != shown[k - 1]) for k in range(1, len(shown))]
    return {
        "n": told.n,
        "names": [told.name(r) for r in range(told.n + told.switches)],
        "called": list(told.called),
        "weight": told.weight.tolist(),
        "wanted": told.wanted.tolist(),
        "needed": told.needed.astype(int).tolist(),
        "first": shown[0].tolist(),
        "then": [[[r, c, int(shown[k][r, c])] for r, c in each.tolist()] for k, each in enumerate(changes, 1)],
        "steps": [[[m.src, m.dst, int(m.add), list(m.chunks), label(told, m)] for m in step] for step in told.steps],
        "finished": told.finished,
        "says": sentences(told),
        "rows": [row(told, k) for k in range(1, len(told.steps) + 1)],
        "fault": faults(told),
    }


def _once(runs: Sequence[Scene]) -> list[Story]:
    """The story of each run; runs of equal schedules share one."""
    known: dict[bytes, Story] = {}
    found = []
    for run in runs:
        own = run.schedule
        key = repr((own.n, own.switches, own.op)).encode() + own.weight.tobytes()
        key += own.source.tobytes() + own.target.tobytes()
        for step in own.written_out():
            key += b"|".join(a.tobytes() for a in (step.src, step.dst, step.chunk, step.add)) + b"%d;" % step.channel
        if key not in known:
            known[key] = story(own)
        found.append(known[key])
    return found


def _strip(own: Player, told: Story, size: float) -> str:
    said = sentences(told)
    frames = []
    for k in key_steps(told):
        words = "before the first step" if k == 0 else f"after step {k} of {len(told.steps)}"
        drawn = picture(told, k, size, 320, f"{own.title}: {said[k]}", ledger=False)
        frames.append(f'<div class="nx-key"><p>{words}</p>{drawn}</div>')
    return "".join(frames)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{html.escape(t)}</th>' for t in head)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>' + "".join(f"<td>{html.escape(t)}</td>" for t in rest) + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
