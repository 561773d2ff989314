"""check, hint, predict, explain: calm with any input, and a journal that survives."""

import decimal
import fractions
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netlib.collectives import ring_allreduce_time
from netlib.course import journal
from netlib.course.answers import counting_word, parts_of, read, said, scale, spell
from netlib.course.checks import ask, check, explain, hint, predict
from netlib.course.exercises import Exercise, Law, ids, load
from netlib.course.judge import Reply, judge
from netlib.course.slips import BITS, EXCESS, GIBI, PERCENT, REST, SIGN, UPSIDE_DOWN, looks_like
from netlib.units import parse

STATUSES = {"right", "wrong", "not answered yet", "unreadable"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Each test has its own folder and a fresh session; the journal is on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NETLIB_JOURNAL", raising=False)
    monkeypatch.delenv("NETLIB_BOOK", raising=False)
    journal.forget()
    yield
    journal.forget()


@pytest.mark.parametrize("answer", [5e-324, 1e-320, -1e-320, 1e300])
def test_a_number_beyond_all_ratios_is_only_wrong(answer):
    assert looks_like(answer, 1e12) == ""
    assert check("rest-01", answer).status == "wrong"


def test_a_long_list_is_not_read_to_its_end():
    class Long(list):
        def __iter__(self):
            raise MemoryError

    reply = check("build-01", lambda *given: Long([0.0] * 20_000))
    assert "instead of a list of numbers" in reply.message


# --- reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        0.25,
        np.float64(0.25),
        np.float32(0.25),
        np.array(0.25),
        np.array([0.25]),
        fractions.Fraction(1, 4),
        decimal.Decimal("0.25"),
        parse("250 ms"),
        "0.25",
        "0.25 s",
        " .25s ",
        "250 ms",
        "250000 us",
        "250,000 µs",
        "2.5e-1 seconds",
        "about 250 milliseconds",
        "250 Milliseconds.",
        np.str_("0.25 s"),
    ],
    ids=str,
)
def test_one_time_in_many_clothes(answer):
    reading = read(answer, "s")
    assert reading.status == ""
    assert reading.value == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("0,35 s", "write decimals with a point"),
        ("3,2 ms", "write decimals with a point"),
        ("fast", "does not start with a number"),
        ("5 parsecs", "is not known"),
        ("5 gb", "ambiguous"),
        ("9" * 500, "too long"),
        ("1e99999", "too large"),
        ("1e999", "must be finite"),
        (10**400, "too large"),
        (math.nan, "must be finite"),
        (-math.inf, "must be finite"),
        (True, "not True or False"),
        (np.bool_(False), "not True or False"),
        (1 + 2j, "not a complex one"),
        ([1, 2], "one number is asked for"),
        (np.arange(3), "one number is asked for"),
        (np.arange(0), "one number is asked for"),
        ({"a": 1}, "one number is asked for"),
        (len, "call it and pass its result"),
        (object(), "cannot be read as a number"),
        (b"0.35", "cannot be read as a number"),
    ],
    ids=lambda value: said(value)[:20],
)
def test_what_cannot_be_read_says_why(answer, note):
    reading = read(answer, "s")
    assert reading.status == "unreadable"
    assert note in reading.note


def test_a_control_is_no_answer():
    class Slider:
        __module__ = "ipywidgets.widgets.widget_float"
        value = 0.35

    assert "a control's position is no answer" in check("rails-01", Slider()).message


def test_counting_words_and_units():
    assert counting_word("ranks")
    assert not counting_word("s")
    assert scale("GiB") == (2.0**30, "bytes")
    for text in ("10", "10 GPUs", "10 gpu", "10 x GPUs"):
        assert read(text, "GPUs").value == 10
    assert read("10 ranks", "GPUs").status == "unreadable"
    assert read("1.75 s", "S").note == "the question asks for a number of S; 1.75 s is a time"
    assert spell(2 / 3, "") == "0.667"
    assert spell(0.895, "%") == "89.5 %"


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 hops", "", 5), ("2,048 GPUs", "hosts", 2048), ("18 ASICs", "switches", 18),
        ("1,296 NVLinks", "links", 1296),
        ("400k", "modules", 4e5), ("0.6 million transceivers", "modules", 6e5), ("1/8", "", 0.125), ("3:1", "x", 3),
        ("3.33 to 1", "x", 3.33), ("10/3", "x", 10 / 3), ("38.5 percent", "%", 0.385), ("38.5 per cent", "", 0.385),
        ("16-fold", "x", 16), ("1.39 times faster", "x", 1.39),
    ],
)  # fmt: skip
def test_what_people_write_for_counts_ratios_and_shares(text, unit, value):
    assert read(text, unit).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit"), [("1/0", ""), ("3:1", "s"), ("5 nodes", "GPUs"), ("4k", "s"), ("5 hops", "s")]
)
def test_what_is_no_count_of_the_asked_stays_unread(text, unit):
    assert read(text, unit).status in {"unreadable", "wrong"}


def test_parts_by_name_or_in_order():
    names = ["a", "b"]
    assert parts_of({"b": 1}, names) == {"a": ..., "b": 1}
    assert parts_of(np.array([1.0, 2.0]), names) == {"a": 1.0, "b": 2.0}
    assert parts_of((1, 2, 3), names).note == "2 parts are asked for; answer with a dict of a, b"
    assert parts_of(3, names).status == "unreadable"


def test_parts_are_judged_one_by_one():
    reply = check("ring-01", {"n8": 1.75, "n1024": ...})
    assert reply.status == "not answered yet"
    assert reply.message.split("\n") == ["n8: Right.", "n1024: Not answered yet."]
    reply = check("ring-01", (14, 1.998))
    assert reply.status == "wrong"
    assert reply.message.startswith("n8: Not yet: that is the number of steps")
    assert check("ring-01", {"n9": 1}).message == "Cannot read this: there is no part 'n9'; the parts are n8, n1024."


# --- slips --------------------------------------------------------------------------------------------------------


def test_slips_by_name():
    assert looks_like(8, 1).startswith(BITS)
    assert looks_like(2**30, 1e9) == GIBI
    assert looks_like(-3, 3) == SIGN
    assert PERCENT in looks_like(56.4, 0.564, dimension="1")
    assert looks_like(56.4, 0.564) == ""
    assert looks_like(0.105, 0.895, dimension="1") == REST
    assert looks_like(1 / 1.389, 1.389, dimension="1") == UPSIDE_DOWN
    assert looks_like(38.9, 1.389, dimension="1") == EXCESS
    assert "(n-1)/n" in looks_like(7, 8, ranks=8)
    assert looks_like(4.78, 5.01, "1") == looks_like(2, 1, "classes") == looks_like(16, 2, "flows") == ""
    assert looks_like(2, 1, "m").startswith("one direction and both")
    assert looks_like(8, 1, "s").startswith(BITS)
    assert looks_like(0, 1) == looks_like(1, 0) == looks_like(3.3, 1) == ""


# --- odd input ----------------------------------------------------------------------------------------------------


class Rude:
    """Raises from every method one might call."""

    def _no(self, *_):
        raise RuntimeError("no")

    __float__ = __repr__ = __str__ = __len__ = __iter__ = __eq__ = __bool__ = __int__ = __index__ = _no
    __hash__ = None
    shape = property(_no)
    value = property(_no)


class Deep:
    def __float__(self):
        return float(self)


class Quits:
    def __float__(self):
        raise SystemExit(3)

    __repr__ = __float__


LOOP: list = []
LOOP.append(LOOP)
KNOT: dict = {}
KNOT["n8"] = KNOT

ODD = [Rude(), Deep(), Quits(), LOOP, KNOT, object, type, Rude, print, np.nan, "∞", "\x00", "s" * 10**6, -0.0]
ODD += [np.array([[1.0]]), np.array("x"), np.datetime64("2026-01-01"), {...}, iter([1]), range(2), "1" * 199, 2**20000]


@pytest.mark.parametrize("id", ids())
def test_nothing_raises_and_every_reply_is_short(id):
    for odd in ODD:
        reply = check(id, odd)
        assert reply.status in STATUSES - {"right"}
        assert 0 < len(reply.message) < 1200
        assert "Traceback" not in reply.message
        assert repr(reply)
        assert reply._repr_html_()
        assert predict(id, odd).status in {"prediction", "unreadable", "not answered yet"}


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=30)
    | st.binary(max_size=5)
    | st.sampled_from([..., len, object()])
    | st.from_regex(r"\A[0-9.,eE+-]{1,8} ?[a-zA-Z%/]{0,6}\Z"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3) | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(anything, st.sampled_from(ids()))
def test_fuzz(answer, id):
    reply = judge(load(id), answer)
    assert reply.status in STATUSES
    assert isinstance(repr(reply), str)
    assert isinstance(said(answer), str)
    assert len(said(answer)) <= 80


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-9, 1e9), st.sampled_from(["s", "ms", "us", "GB", "GiB", "MB", "GB/s", "Gb/s", "Gbit/s", "TiB"]))
def test_reading_back_what_is_written(value, unit):
    factor, dimension = scale(unit)
    base = {"s": "s", "bytes": "B", "bytes/s": "B/s"}[dimension]
    assert read(f"{value!r} {unit}", base).value == pytest.approx(value * factor, rel=1e-12)
    assert read(value, unit).value == pytest.approx(value * factor, rel=1e-12)


@pytest.mark.parametrize("id", ["ring-1", "rign-01", "", None, 3, Rude(), "x" * 1000, "../ring-01", "_page"])
def test_unknown_ids(id):
    for reply in (check(id, 1), hint(id), predict(id, 1), explain(id), ask(id)):
        assert reply.status == "unreadable"
        assert "o exercise is called" in reply.message
    assert "did you mean ring-01" in check("rign-01", 1).message
    assert check("rign-01", 1).message.endswith("?")
    assert check(3, 3).message == "No exercise is called so: its id is text such as 'ring-01', not 3."
    assert hint("nope").message.endswith(
        "an id is a word and two digits, such as ring-01, and stands above its question."
    )


# --- functions ----------------------------------------------------------------------------------------------------


def test_functions_that_misbehave():
    def raises(*_):
        raise ZeroDivisionError("division by zero")

    def rude(*_):
        raise type("Odd", (Exception,), {"__str__": lambda self: 1 / 0})

    def unfinished(*_):
        raise NotImplementedError

    def quits(*_):
        raise SystemExit

    assert (
        "raised ZeroDivisionError: division by zero in the small case size = 100, n = 1"
        in check("ring-02", raises).message
    )
    assert "raised Odd in the small case" in check("ring-02", rude).message
    assert "raised SystemExit in" in check("ring-02", quits).message
    assert check("ring-02", unfinished).status == "not answered yet"
    assert "raised TypeError" in check("ring-02", lambda: 1).message
    assert "returned nan instead of one number" in check("ring-02", lambda *_: math.nan).message
    assert "instead of one number" in check("ring-02", lambda *_: "0").message
    assert "instead of one number" in check("ring-02", lambda *_: [1, 2]).message
    assert check("ring-02", 3).status == "unreadable"
    assert "the book's own function" in check("ring-02", ring_allreduce_time).message


def test_the_returned_value_is_the_learners_and_not_ours():
    reply = check("ring-02", lambda size, n, alpha, bandwidth: 42)
    assert reply.message.endswith(
        "Small case: size = 100, n = 1, alpha = 1, bandwidth = 10; your function returned 42."
    )


def several(says: str, holds, *cases: tuple) -> Exercise:
    """An exercise that asks for a function of a list, and for a list."""
    law = Law(says, ("sizes", "up"), cases, holds, several=True)
    return replace(load("ring-02"), id="list-01", laws=(law,))


def test_functions_that_return_a_list():
    def doubled(f, sizes, up):
        return f(sizes, up) == tuple(2 * each for each in sizes)

    each = several("every size is doubled", doubled, ((1, 2.5), True), ((), False))
    for right in (
        lambda sizes, up: [2 * size for size in sizes],
        lambda sizes, up: tuple(2 * size for size in sizes),
        lambda sizes, up: 2 * np.array(sizes),
        lambda sizes, up: [np.float32(2 * size) for size in sizes],
    ):
        assert judge(each, right).ok
    wrong = judge(each, lambda sizes, up: [1, 2, 3]).message
    assert wrong == (
        "Not yet. This does not hold: every size is doubled. "
        "Small case: sizes = [1, 2.5], up = True; your function returned [1, 2, 3]."
    )
    for odd in (lambda *_: 3, lambda *_: {"a": 1}, lambda *_: "12", lambda *_: ["1"], lambda *_: [math.inf]):
        assert "instead of a list of numbers" in judge(each, odd).message
    for stub in (lambda *_: None, lambda *_: ..., lambda *_: [..., ...]):
        assert judge(each, stub).status == "not answered yet"
    cruel = type("Cruel", (), {"shape": property(lambda self: 1 / 0)})
    assert "raised ZeroDivisionError" in judge(each, lambda *_: cruel()).message


def test_a_function_that_spoils_its_arguments_spoils_no_case():
    each = several("nothing changes", lambda f, sizes, up: f(sizes, up) == (1, 2) == f(sizes, up), ((1, 2), True))

    def spoils(sizes, up):
        return [sizes.pop(0), sizes.pop(0)]

    assert judge(each, spoils).ok


# --- the reply ----------------------------------------------------------------------------------------------------


def test_a_reply_says_its_verdict_in_words_in_both_forms():
    reply = check("busbw-01", 480)
    assert repr(reply) == "busbw-01: Not yet: that is busbw itself, as the log prints it."
    html = reply._repr_html_()
    assert "Not yet: that is busbw itself" in html
    assert 'class="nx-reply nx-wrong"' in html
    assert Reply("a-01", "wrong", "<b>&")._repr_html_().count("<b>") == 0


def test_a_multiple_may_be_said_in_percent():
    assert read("175 %", "S").value == read("175 % of S", "S").value == read("175 percent", "S").value == 1.75
    assert read("175 % of N", "S").status
    assert read("50 %", "GPUs").status == "unreadable" or read("50 %", "GPUs").status == "wrong"
    assert check("ring-01", ("175 %", "199.8 % of S")).ok


def test_an_example_fits_its_unit():
    for unit, example in (("B", "100 kB"), ("s", "0.5 s"), ("GPUs", "2 GPUs"), ("", "0.5")):
        assert f"write for example {example!r}" in read("lots", unit).note


def test_options_stand_once_and_say_for_what():
    text = ask("nccl-02").message
    assert text.count("a) no effect") == ask("nccl-02")._repr_html_().count("a) no effect") == 1
    assert "\ntimeout, retry, qps, channels, gdr, algo:\na) no effect" in text
    topo = ask("topo-01").message
    assert "\npairs:\na) those with" in topo
    assert "\nnic:\na) NIC0" in topo
    assert '<p class="nx-part">nic:</p>' in ask("topo-01")._repr_html_()
    assert "assumption:" not in ask("rails-02").message  # one list needs no name


def test_a_conversion_is_shown():
    assert "(read as 1,790,000 B)" in check("hands-01", "1.79 MB").message
    assert "(read as 34.2857 GB/s)" in check("busbw-01", "274.2857 Gb/s").message
    assert "read as" not in check("busbw-01", 34.28).message


def test_ask_shows_the_question():
    assert 'Answer with check("ring-01", {"n8": ..., "n1024": ...})' in ask("ring-01").message
    assert "8159.5" in ask("log-01").message
    assert "c) latency is left out" in ask("rails-02").message
    assert "<pre" in ask("log-01")._repr_html_()


# --- hints, explanations, predictions -----------------------------------------------------------------------------


def test_hints_come_one_by_one_and_the_last_stays():
    firsts = [hint("busbw-01").message[:13] for _ in range(4)]
    assert firsts == ["Hint 1 of 3: ", "Hint 2 of 3: ", "Hint 3 of 3: ", "Hint 3 of 3: "]
    assert hint("busbw-01", 1).message.startswith("Hint 1 of 3")
    assert hint("log-01").message.startswith("Hint 1 of 3")
    for odd in (0, 4, True, "1", None.__class__):
        assert hint("busbw-01", odd).status == "unreadable"


def test_explanations_open_after_a_right_answer():
    assert explain("busbw-01").status == "locked"
    check("busbw-01", 480)
    assert explain("busbw-01").status == "locked"
    assert check("busbw-01", 274.3).message == 'Right. explain("busbw-01") says why.'
    assert "274.3 GB/s" in explain("busbw-01").message


def test_giving_up_is_said_aloud():
    assert explain("busbw-01", give_up="yes").status == "locked"
    assert explain("busbw-01", give_up=True).status == "explanation"
    assert explain("busbw-01").status == "explanation"


def test_a_prediction_is_compared_only_after_the_own_right_answer():
    assert predict("rails-02", "4.5x").status == "prediction"
    assert "4.5" not in check("rails-02", {"speedup": 2, "assumption": "a"}).message
    predict("rails-02", {"speedup": 0.56})
    message = check("rails-02", {"speedup": 0.564, "assumption": "a"}).message
    assert "You predicted speedup = 4.50x; it is 0.564x." in message


def test_the_first_prediction_is_the_one_that_counts():
    assert "Kept. It is compared" in predict("busbw-01", "about 500 GB/s").message
    assert "the one that will be compared" in predict("busbw-01", 274).message
    assert "You predicted 500 GB/s; it is 274 GB/s." in check("busbw-01", 274.3).message


def test_an_emptied_cell_says_what_was_predicted_before():
    assert "No prediction yet" in predict("busbw-01").message
    predict("busbw-01", "500 GB/s")
    assert "Kept from before: 500 GB/s." in predict("busbw-01").message
    assert "below zero" not in predict("rails-02", "4.5x").message
    predict("rails-02", 3)
    assert "Kept from before: speedup = 4.5x." in predict("rails-02").message
    assert [entry.kind for entry in journal.entries()] == ["prediction"] * 3


def test_what_is_no_prediction_is_not_kept():
    assert predict("busbw-01", "lots").message.startswith("Cannot keep this: the text does not start with a number")
    assert predict("busbw-01").status == "not answered yet"
    assert predict("ring-02", 3).status == "unreadable"
    assert predict("ring-01", {"n8": "many"}).status == "unreadable"
    assert predict("rails-02", ("4.5x", "b")).status == "prediction"
    assert [entry.exercise for entry in journal.entries()] == ["rails-02"]


@pytest.mark.parametrize(
    ("id", "guess", "says"),
    [
        ("hands-01", "-3 kB", "Cannot keep this: the answer cannot be below zero."),
        ("rails-02", {"speedup": -5}, "Cannot keep this: speedup cannot be below zero."),
        ("hands-02", 0.3, "3 numbers are asked for; give {'ring': ..., 'rails': ..., 'serial': ...}."),
        ("hands-02", {"ring": 0.3}, "Cannot keep this: rails and serial are missing; guess all."),
        ("hands-02", {"ring": 0.3, "rails": 0.2}, "Cannot keep this: serial is missing; guess all."),
    ],
)
def test_a_prediction_that_cannot_be_is_refused(id, guess, says):
    reply = predict(id, guess)
    assert (reply.status, says in reply.message) == ("unreadable", True), reply.message
    assert not journal.entries(id)


def test_a_nonsense_prediction_can_be_replaced():
    predict("busbw-01", "5 GB/s")
    assert "with instead=True it is this one" in predict("busbw-01", "500 GB/s").message
    assert "Kept in place of your first prediction" in predict("busbw-01", "300 GB/s", instead=True).message
    predict("busbw-01", "274 GB/s")
    assert "Kept from before: 300 GB/s." in predict("busbw-01").message
    assert "You predicted 300 GB/s; it is 274 GB/s." in check("busbw-01", 274.3).message
    values = [entry.value for entry in journal.entries() if entry.kind == "prediction"]
    assert values == ["5 GB/s", "500 GB/s", "300 GB/s", "274 GB/s"]


def test_replacing_nothing_is_a_first_prediction():
    assert predict("busbw-01", 500, instead=True).message.startswith("Kept. It is compared")


def test_counts_are_compared_in_full():
    predict("domain-04", 72)
    assert "You predicted 72.0 GPUs; it is 10 GPUs." in check("domain-04", 10).message


# --- the journal --------------------------------------------------------------------------------------------------


def lines() -> list[dict]:
    return [json.loads(line) for line in Path(journal.FILE).read_text(encoding="utf-8").splitlines()]


def test_the_journal_holds_answers_in_order_and_no_repeats():
    check("busbw-01", ...)
    assert not Path(journal.FILE).exists()
    check("busbw-01", 480)
    check("busbw-01", 480)
    check("busbw-01", "274.3 GB/s")
    assert [(line["kind"], line["value"], line["status"]) for line in lines()] == [
        ("answer", "480", "wrong"),
        ("answer", "274.3 GB/s", "right"),
    ]
    assert {line["schema"] for line in lines()} == {1}


@pytest.mark.parametrize("name", ["NETLIB_JOURNAL", "NETLIB_BOOK"])
def test_builds_and_tests_write_nothing(name, monkeypatch):
    monkeypatch.setenv(name, "off" if name == "NETLIB_JOURNAL" else "1")
    predict("busbw-01", 500)
    hint("busbw-01")
    assert "You predicted 500 GB/s" in check("busbw-01", 274.3).message
    assert hint("busbw-01").message.startswith("Hint 2")
    assert os.listdir() == []


def test_a_half_written_last_line_is_survived():
    predict("busbw-01", 500)
    with open(journal.FILE, "a", encoding="utf-8") as file:
        file.write('{"exercise": "busbw-01", "kind": "answ')
    check("busbw-01", 480)
    raw = Path(journal.FILE).read_text(encoding="utf-8").splitlines()
    assert len(raw) == 3
    assert [entry.kind for entry in journal.entries()] == ["prediction", "answer"]


def test_foreign_lines_are_passed_over():
    foreign = [
        "",
        "null",
        "[]",
        "3",
        '{"exercise": 3, "kind": "answer"}',
        '{"kind": "answer"}',
        "[" * 100000,
        "\xff",
        '{"exercise": "a-01", "kind": "answer", "value": {"a": 1}}',
    ]
    Path(journal.FILE).write_bytes("\n".join(foreign).encode("latin-1"))
    assert journal.entries() == []
    assert check("busbw-01", 274.3).ok
    assert [entry.status for entry in journal.entries("busbw-01")] == ["right"]


def test_a_restarted_kernel_remembers():
    predict("busbw-01", 500)
    hint("busbw-01")
    journal.forget()
    assert hint("busbw-01").message.startswith("Hint 2")
    assert "You predicted 500 GB/s" in check("busbw-01", 274.3).message


def test_an_unwritable_folder_is_mentioned_once():
    Path(journal.FILE).mkdir()  # root may write anywhere, so a folder stands in the file's place
    first, second = check("busbw-01", 480), check("busbw-01", 240)
    assert "Your work is not kept after this session" in first.message
    assert "not kept" not in second.message
    assert check("busbw-01", 274.3).ok
    assert explain("busbw-01").status == "explanation"


def test_odd_text_is_kept_as_valid_json():
    check("busbw-01", "480 \ud800 \n GB")
    check("busbw-01", "5\u20286")
    assert len(journal.entries("busbw-01")) == 2


def test_two_writers_do_not_cut_each_others_lines():
    def work(writer):
        for i in range(25):
            journal.keep(f"{writer}-01", "answer", "x" * 60 + str(i), "wrong")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))
    assert len(lines()) == len(journal.entries()) == 100


def test_a_folder_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert check("busbw-01", 274.3).ok
    assert explain("busbw-01").status == "explanation"


def test_a_full_disk_is_mentioned_and_nothing_is_lost(monkeypatch):
    monkeypatch.setattr(journal.os, "write", lambda descriptor, data: len(data) - 1)
    assert "cannot be written here, no space left on device" in check("busbw-01", 274.3).message
    assert explain("busbw-01").status == "explanation"


@pytest.mark.parametrize("level", [0, 4, True, 1.0, "1", [], float("nan"), 10**400])
def test_an_odd_hint_level_is_answered(level):
    assert hint("busbw-01", level).message == "There are three hints: level is 1, 2 or 3."
