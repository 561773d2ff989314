"""Every exercise: its wrong answers fail with the intended message, its right ones pass, no message gives it away."""

import ast
import importlib.util
import inspect
import math
import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from netlib import collectives, congestion, hardware, links, topology
from netlib.collectives import training
from netlib.congestion import fluid, lossless
from netlib.course.answers import read, scale, spell
from netlib.course.exercises import Exercise, exercise, exercise_html, ids, load, ring_02, sheet
from netlib.course.judge import fits, judge
from netlib.course.slips import EXCESS, REST, UPSIDE_DOWN, factors

ALL = [load(id) for id in ids()]
NUMBERS = [(each, part) for each in ALL for part in each.parts if part.compare != "choice"]
NAMES = [f"{each.id}-{part.name}" for each, part in NUMBERS]


def answer_with(each: Exercise, part_name: str, value: object) -> object:
    """A whole answer whose other parts are right."""
    if part_name == "":
        return value
    right = {
        part.name: part.want if isinstance(part.want, str) else part.want / scale(part.unit)[0] for part in each.parts
    }
    return {**right, part_name: value}


def message_of(each: Exercise, part_name: str, value: object) -> tuple[str, str]:
    reply = judge(each, answer_with(each, part_name, value))
    lines = [line for line in reply.message.split("\n") if not part_name or line.startswith(f"{part_name}: ")]
    return reply.status, lines[0] if lines else reply.message


def tells(message: str, part, typed: object = "") -> bool:
    """Whether a message holds the answer to three digits, in any unit of its dimension or as a bare number."""
    want = part.want / scale(part.unit)[0]
    own = {token.replace(",", "") for token in re.findall(r"\d[\d,]*\.?\d*", str(typed))}
    message = re.sub(r"[a-z0-9]+-\d\d\b", "", message)  # the number in the exercise's own name is no hint
    for token in re.findall(r"\d[\d,]*\.?\d*(?:e[+-]?\d+)?", message):
        digits = token.replace(",", "").rstrip(".")
        # an answer of 2 is not told by "a factor 2"; one of 2.0 would be
        enough = max(2, min(3, len(f"{want:g}".replace(".", ""))))
        if digits in own or len(digits.replace(".", "")) < enough:
            continue
        if want and float(f"{float(digits):.2e}") == float(f"{want:.2e}"):
            return True
    return False


# --- the collection -----------------------------------------------------------------------------------------------


def test_no_wrong_answer_is_written_twice():
    """A computed key that equals another takes its place and message: 14 / 8 / (7 / 8) is 2."""
    for each in ALL:
        tree = ast.parse(inspect.getsource(import_module(f"netlib.course.exercises.{each.id.replace('-', '_')}")))
        (call,) = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and getattr(c.func, "id", "") == "exercise"]
        written = [k.value for k in call.keywords if k.arg == "wrong" and isinstance(k.value, ast.Dict)]
        wrong = [dict(part.wrong) for part in each.parts] if written and len(each.parts) > 1 else [each.wrong]
        for outer in written:
            parts = [v for v in outer.values if isinstance(v, ast.Dict)] or [outer]
            assert sum(len(part.keys) for part in parts) == sum(map(len, wrong)), each.id


def test_ids_are_unique_and_stable():
    # an id is printed in books and kept in journals: adding is free, renaming or removing breaks somebody's work
    assert set(ids()) >= {
        *("ring-01", "ring-02", "program-01", "program-02", "rails-01", "rails-02", "domain-01", "domain-02"),
        *("domain-03", "domain-04", "busbw-01", "busbw-02", "log-01", "shard-01", "layout-01", "layout-02"),
        *("bucket-01", "tree-01"),
        *("ladder-01", "nvl72-01", "tp-01", "moe-01", "flight-01", "nvls-01", "pcie-01", "roofline-01"),
    }
    assert [each.id for each in ALL] == ids()
    assert len({each.place for each in ALL}) == len(ALL)


def test_the_sheet_is_in_teaching_order_with_times():
    for chapter in ("scale-up", "collectives"):
        found = sheet(chapter)
        assert [each.place for each in found] == sorted(each.place for each in found)
        assert {each.stars for each in found} == {1, 2, 3}
    with pytest.raises(ValueError, match=r"has no exercises; use collectives or .*scale-up"):
        sheet("cooking")


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_no_answer_is_typed(each, part, monkeypatch):
    """Bend every function of the model and the registry's rates: an answer that stays was typed, not computed."""

    def bend(value):
        if isinstance(value, topology.Fabric):  # a cable short, and other rates
            short = value.without(cables=[0]) if value.cables else value
            return replace(short, capacity=short.capacity**1.1)
        if isinstance(value, collectives.Schedule):  # other ranks, and a step more
            turned = [
                replace(part.placed(np.roll(np.arange(value.n), 1)), times=part.times + 1) for part in value.phases
            ]
            return replace(value, phases=tuple(turned))
        if isinstance(value, collectives.Run):
            return replace(value, seconds=value.seconds**1.1)
        if isinstance(value, fluid.Traces):
            return replace(value, rate=value.rate**1.1, queue=value.queue**1.1)
        if isinstance(value, tuple):
            return tuple(map(bend, value))
        if isinstance(value, dict):
            return {key: bend(one) for key, one in value.items()}
        if isinstance(value, training.Flow):
            return replace(value, payload=value.payload**1.1)
        numeric = isinstance(value, (int, float, np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "iuf"
        return np.sign(value) * abs(value) ** 1.1 if numeric else value  # a negative one stays negative

    def bent(function):
        return lambda *arguments, **options: bend(function(*arguments, **options))

    for package in (collectives, training, topology, congestion, fluid, lossless):
        for name in package.__all__:
            if inspect.isfunction(getattr(package, name)):
                monkeypatch.setattr(package, name, bent(getattr(package, name)))
    monkeypatch.setattr(links, "bytes_in_flight", bent(links.bytes_in_flight))
    monkeypatch.setattr(hardware, "bandwidth", bent(hardware.bandwidth))
    original = import_module(f"netlib.course.exercises.{each.id.replace('-', '_')}")
    spec = importlib.util.spec_from_file_location("fresh_copy", original.__file__)
    fresh = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(fresh)
        after = next(other for other in fresh.EXERCISE.parts if other.name == part.name)
    except ValueError:
        return  # a bent count of tiers is no count: the answer asked for it
    assert after.want != pytest.approx(part.want, rel=1e-6)


@pytest.mark.parametrize("each", ALL, ids=ids())
def test_the_third_hint_and_the_question_do_not_hold_the_answer(each):
    for part in each.parts:
        if part.compare != "choice" and part.compare != "exact":
            assert not tells(" ".join(each.hints), part)
            assert not tells(each.ask, part)


def test_published_values():
    """The values of the source program and of an independent recomputation."""
    want = {
        "program-01": {"node": 0.272222, "rack": 0.306790, "flat": 2.797266, "hierarchical": 0.619488},
        "program-02": {"node": 0.544444, "flat": 5.594531, "hierarchical": 1.238976},
        "ring-01": {"n8": 1.75, "n1024": 1.998047},
        "rails-01": 0.349658,
        "rails-02": {"speedup": 0.349658 / 0.619488, "assumption": "a"},
        "domain-01": {"time": 0.445855, "speedup": 1.389},
        "domain-02": {"time": 0.342901, "share": 0.8947},
        "domain-03": 2.0,
        "domain-04": 10,
        "busbw-01": 274.2857e9,
        "busbw-02": 308.5714e9,
        "log-01": 230.29e9,
        "shard-01": {"ddp": 279.73e9, "fsdp": 419.59e9, "ratio": 1.5},
        "layout-01": 10,
        "layout-02": 143.36e12,
        "bucket-01": 1.152e9,
        "tree-01": 2.841e6,
        "ladder-01": {
            **{"order": "c", "nvlink3": 300e9, "nvlink4": 450e9, "nvlink5": 900e9, "pcie5": 63.015e9},
            **{"nic400": 50e9, "nic800": 100e9, "over_pcie": 14.282, "over_nic": 18, "why": "c"},
        },
        "nvl72-01": {
            **{"links": 1296, "pairs": 5184, "asics": 18, "total": 129.6e12, "one_way": 64.8e12},
            **{"bisection": 32.4e12, "aggregate": "c"},
        },
        "tp-01": {"nvlink": 0.1332, "nic": 0.5804, "rate": 207.5e9},
        "moe-01": {"domain8": 4.1104e-3, "domain72": 0.25690e-3, "ratio": 16},
        "flight-01": {"h100": 450e3, "b200": 900e3, "loads": 3516, "alone": 128e6},
        "nvls-01": {"n8": 1.5556, "n72": 1.9452, "ranks": 39},
        "pcie-01": {"gen5": 63.015e9, "idle": 0.36985, "gen6": 121e9, "limit": "b"},
        "roofline-01": {"h100": 2198.7, "b200": 2500, "nic": 19788},
    }
    for id, value in want.items():
        got = load(id).answer()
        for name in value if isinstance(value, dict) else [""]:
            one, other = (got[name], value[name]) if name else (got, value)
            assert one == (other if isinstance(other, str) else pytest.approx(other, rel=4e-4)), (id, name)
    printed = [f"{value:6.2f}".strip() for value in load("program-01").answer().values()]
    assert printed == ["0.27", "0.31", "2.80", "0.62"]


def test_a_field_out_of_range_is_refused():
    with pytest.raises(ValueError, match="stars = 4 must be 1, 2 or 3"):
        replace(load("ring-01"), stars=4)
    with pytest.raises(ValueError, match="hints must be three"):
        replace(load("ring-01"), hints=("one", "two"))
    with pytest.raises(ValueError, match="id must be a word and two digits"):
        replace(load("ring-01"), id="Ring 1")
    with pytest.raises(ValueError, match="minutes"):
        replace(load("ring-01"), minutes=(9, 3))
    with pytest.raises(ValueError, match="compare must be one of"):
        replace(load("ring-01"), compare="roughly")
    assert exercise is Exercise


# --- right and wrong answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", ALL, ids=ids())
def test_the_answer_and_every_other_right_answer_pass(each):
    exact = each.answer() if each.laws else answer_with(each, each.parts[0].name, None)
    if not each.laws:
        values = {p.name: p.want if isinstance(p.want, str) else p.want / scale(p.unit)[0] for p in each.parts}
        exact = values.get("", values)
    assert judge(each, exact).ok
    assert each.right
    for other in each.right:
        reply = judge(each, other)
        assert reply.ok, (other, reply)


@pytest.mark.parametrize("each", ALL, ids=ids())
def test_untouched_stubs_are_not_answered(each):
    stubs = [..., None, "", "..."]
    if each.laws:
        stubs += [lambda *_: ..., lambda *_: None]
    elif each.parts[0].name:
        stubs += [{part.name: ... for part in each.parts}, tuple(... for _ in each.parts), {}]
    for stub in stubs:
        assert judge(each, stub).status == "not answered yet", stub


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_every_wrong_answer_fails_with_its_message(each, part):
    assert part.wrong, "each part names the wrong answers one expects"
    for guess, says in part.wrong.items():
        status, message = message_of(each, part.name, guess)
        assert status == "wrong"
        assert says in message, (guess, message)
        assert not tells(message, part, guess)


@pytest.mark.parametrize("each", [each for each in ALL if each.options], ids=lambda each: each.id)
def test_every_wrong_choice_fails_with_its_message(each):
    for part in each.parts:
        if part.compare == "choice":
            assert set(part.wrong) | {part.want} == set(each.options[part.name])
            for letter, says in part.wrong.items():
                status, message = message_of(each, part.name, letter)
                assert status == "wrong"
                assert says in message
            for odd in ("z", 1, "a b", True):
                assert "answer with one letter of" in message_of(each, part.name, odd)[1]


@pytest.mark.parametrize("each", [each for each in ALL if each.laws], ids=lambda each: each.id)
def test_every_wrong_function_breaks_the_intended_law(each):
    for function, law in each.wrong.items():
        reply = judge(each, function)
        assert reply.status == "wrong"
        assert law in reply.message, reply
        assert f"Small case: {each.laws[0].names[0]} = " in reply.message
    broken = {says for says in (law.says for law in each.laws) if any(words in says for words in each.wrong.values())}
    assert broken == {law.says for law in each.laws}, "each law is broken by one of the wrong functions"


@pytest.mark.parametrize("n", range(1, 10))
def test_the_ring_behind_the_laws_really_adds(n):
    steps, sent, added = ring_02.executed(n)
    assert added
    assert (steps, sent) == (2 * (n - 1), pytest.approx(2 * (n - 1) / n))


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_every_slip_is_wrong_and_named(each, part):
    factor, dimension = scale(part.unit)
    want = part.want / factor
    counted = 0
    for slip in factors(dimension, part.ranks):
        got = want * slip.factor
        if fits(part, got * factor):
            continue  # a slip that lands on a legal value, like (n-1)/n with 1,024 ranks
        status, message = message_of(each, part.name, got)
        assert status == "wrong"
        same = [other.says for other in factors(dimension, part.ranks) if math.isclose(other.factor, slip.factor)]
        named = [*same, *(says for guess, says in part.wrong.items() if close(guess, got, part))]
        shapes = [shape for shape in (REST, UPSIDE_DOWN, EXCESS) if dimension == "1" and shape in message]
        assert shapes or any(says in message for says in named), (slip, message)
        assert not tells(message, part, got)
        counted += 1
    assert counted >= (15 if dimension in ("bytes", "bytes/s", "s") else 9)


def close(guess: object, got: float, part) -> bool:
    factor = scale(part.unit)[0]
    return fits(replace(part, want=read(guess, part.unit).value), got * factor)


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_both_edges_of_the_tolerance(each, part):
    factor = scale(part.unit)[0]
    span = {"exact": 0, "excess": part.want - 1, "complement": 1 - part.want}.get(part.compare, part.want)
    for side in (1, -1):
        inside, outside = (part.want + side * part.rtol * abs(span) * edge for edge in (0.99, 1.01))
        assert message_of(each, part.name, inside / factor)[0] == "right"
        outside = part.want + side * factor if part.compare == "exact" else outside
        assert message_of(each, part.name, outside / factor)[0] == "wrong"


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_values_around_the_answer_never_tell_it(each, part):
    want = part.want / scale(part.unit)[0]
    for got in want * np.concatenate([np.geomspace(1e-4, 1e4, 81), 1 + np.linspace(-0.3, 0.3, 61)]):
        status, message = message_of(each, part.name, float(got))
        assert status in ("right", "wrong")
        if status == "wrong":
            assert not tells(message, part, f"{got:.6g}"), message
            # neither which side of the answer it lies on: that would be a search by halves
            assert not re.search(r"too (large|small|high|low)|larger than|smaller than", message)


def test_common_spellings_of_one_time():
    for text in (
        "0.35",
        "0.35 s",
        "350 ms",
        "350000us",
        "349.7 milliseconds",
        ".35s",
        "350 MS",
        "~0.35 sec",
        "3.5e-1 s",
    ):
        assert judge(load("rails-01"), text).ok is (text != "350 MS"), text
    for text in ("274.3 GB/s", "274.3 GBps", "274.3 GB / s", "2194 Gb/s", "2194Gbit/s", "255.5 GiB/s", "0.2743 TB/s"):
        assert judge(load("busbw-01"), text).ok, text
    assert "bandwidth (bytes per second) in GB/s; 274.3 GB is an amount" in judge(load("busbw-01"), "274.3 GB").message


# --- the page -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ids())
def test_the_page_holds_question_hints_and_explanation(id):
    html = exercise_html(id)
    assert html.count('<details class="nx-hint">') == 3
    assert html.count('<details class="nx-explain">') == 1
    assert f'check("{id}"' in html
    assert "of 3 stars" in html
    assert html == exercise_html(id)
    assert "<script" not in html
    for tag in ("section", "details", "summary", "p", "ul", "li", "code", "strong", "span", "pre"):
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag


def test_the_page_says_how_bare_numbers_are_read():
    assert "A bare number is read in GB/s." in exercise_html("busbw-01")
    assert "A bare number is read as a multiple of S." in exercise_html("ring-01")
    assert "Bare numbers are read so: time in s, speedup as a ratio." in exercise_html("domain-01")
    assert "bare number" not in exercise_html("ring-02").lower()


@pytest.mark.parametrize(("each", "part"), NUMBERS, ids=NAMES)
def test_the_explanation_holds_the_answer(each, part):
    spelled = spell(part.want, part.unit, exact=part.compare == "exact").split()[0].rstrip("x%")
    text = each.explain()
    tokens = [float(token.replace(",", "").rstrip(".")) for token in re.findall(r"\d[\d,]*\.?\d*", text)]
    want = [float(spelled.replace(",", ""))]
    want += [100 * want[0]] if scale(part.unit)[1] == "1" else []
    assert any(math.isclose(token, value, rel_tol=6e-3) for token in tokens for value in want), (want, text)
