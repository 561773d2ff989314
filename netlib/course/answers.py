"""Reading what a learner answers: a number, a text with a unit, a numpy scalar, a Quantity, or several parts.

Nothing here raises, whatever it is given: the outcome is a `Reading` that holds a number or says in one
sentence why not.
"""

import math
import numbers
import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netlib.units import Quantity, parse, show

_THOUSANDS = re.compile(r"^[+-]?[1-9]\d{0,2}(,\d{3})+(?![\d,])")
_NUMBER = re.compile(r"^([+-]?(?:\d[\d,_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)$", re.DOTALL)
_RATIO = re.compile(r"^(?:/|:|to)\s*(\d+(?:\.\d+)?)\s*(x?)$")  # the rest of 1/8, 3:1 and "2 to 1"
_SPOKEN = re.compile(r"^(?:per ?cent|-? ?fold|times (?:faster|slower|as (?:fast|much|many|long)))$", re.IGNORECASE)
_SHARE = re.compile(r"^(?:%|per ?cent)\s*(?:of\s+)?(\w*)$", re.IGNORECASE)
_MANY = re.compile(r"^(k|thousand|million)\b", re.IGNORECASE)
_TIMES = {"k": 1e3, "thousand": 1e3, "million": 1e6}
_ALIKE = (  # words for one thing; "" is a plain number of whatever the question counts
    {"gpu", "host", "endpoint"},
    {"switch", "switche", "asic", "chip"},
    {"link", "cable", "nvlink"},
    {"module", "transceiver"},
    {"", "hop", "switch", "switche", "link", "gpu", "host"},
)
_NAMES = {
    "bytes": "an amount of bytes",
    "bytes/s": "a bandwidth (bytes per second)",
    "s": "a time",
    "1": "a plain number",
    "flop/s": "a computing rate",
    "transfers/s": "a transfer rate",
    "W": "a power",
    "m": "a length",
}


@dataclass(frozen=True)
class Reading:
    """What was read: `value` in SI when `status` is "", otherwise `note` says in one sentence what stopped the reading.

    `status` is "", "unanswered", "unreadable", or "wrong" (a number, but of another kind than asked for).
    """

    value: float = math.nan
    status: str = ""
    note: str = ""
    bare: bool = True


def scale(unit: str) -> tuple[float, str]:
    """Factor to SI and dimension of a unit; a word that is no unit (ranks, S) counts itself.

    >>> scale("GB/s"), scale("ranks"), scale("")
    ((1000000000.0, 'bytes/s'), (1.0, 'ranks'), (1.0, '1'))
    """
    if counting_word(unit):
        return 1.0, unit
    quantity = parse(f"1 {unit}")
    return quantity.value, quantity.dimension


def counting_word(unit: str) -> bool:
    """Whether an exercise counts things that are no unit: ranks, nodes, multiples of S.

    >>> counting_word("ranks"), counting_word("GB/s"), counting_word("x")
    (True, False, False)
    """
    try:
        parse(f"1 {unit}")
    except ValueError:
        return True
    return False


def read(answer: object, unit: str) -> Reading:
    """The number in `answer`; a bare number is taken in `unit`.

    >>> read("250 ms", "s").value, read(0.25, "s").value, read("350 GB", "s").note
    (0.25, 0.25, 'the question asks for a time in s; 350 GB is an amount of bytes')
    >>> read(..., "s").status, read("a lot", "s").status
    ('unanswered', 'unreadable')
    """
    try:
        return _read(answer, unit)
    except (Exception, SystemExit):  # a learner's object may raise anything from any of its methods
        return Reading(status="unreadable", note=f"a {_kind(answer)} cannot be read as a number")


def spell(value: float, unit: str, exact: bool = False) -> str:
    """`value` (SI) as the exercise writes it: three digits, or all of them for a count.

    >>> spell(0.34966, "s"), spell(1.998046875, "S"), spell(10, "", exact=True), spell(1.1512, "x")
    ('0.350 s', '2.00 S', '10', '1.15x')
    """
    if exact:
        return f"{value / scale(unit)[0]:,.10g} {unit}".strip()
    return f"{show(value)} {unit}" if counting_word(unit) else show(value, unit).replace(" x", "x")


def said(answer: object) -> str:
    """A short text of any answer, for the journal; never raises.

    >>> said("0.35 s"), said(0.35), said(len)
    ('0.35 s', '0.35', '<function len>')
    """
    try:
        if isinstance(answer, str):
            return answer if len(answer) <= 80 else answer[:79] + "…"
        if callable(answer):
            return f"<function {str(getattr(answer, '__name__', _kind(answer)))[:60]}>"
        if isinstance(answer, numbers.Number):
            return str(answer)[:80]
        return reprlib.repr(answer)[:80] if type(answer) in (list, tuple, dict) else f"<{_kind(answer)}>"
    except (Exception, SystemExit):
        return f"<{_kind(answer)}>"


def plain(value: float) -> str:
    """A number in at most six digits, never as a power of ten where a person would write it out.

    >>> plain(1791666.67), plain(0.000125), plain(34.285714), plain(2.5e17)
    ('1,791,670', '0.000125', '34.2857', '2.5e+17')
    """
    if value and not 1e-6 <= abs(value) < 1e15:
        return f"{value:.6g}"
    return f"{float(f'{value:.6g}'):,.12f}".rstrip("0").rstrip(".")


def parts_of(answer: object, names: Sequence[str]) -> dict[str, object] | Reading:
    """The parts of an answer by name: from a dict, or in order from a tuple, list or array. Missing parts are `...`.

    >>> parts_of((1.75, 1.998), ["n8", "n1024"])
    {'n8': 1.75, 'n1024': 1.998}
    >>> parts_of({"n7": 1}, ["n8", "n1024"]).note
    "there is no part 'n7'; the parts are n8, n1024"
    """
    listed = ", ".join(names)
    try:
        if _empty(answer):
            return Reading(status="unanswered")
        if isinstance(answer, Mapping):
            unknown = [said(key) for key in answer if key not in names]
            if unknown:
                return Reading(status="unreadable", note=f"there is no part {unknown[0]!r}; the parts are {listed}")
            return {name: answer.get(name, ...) for name in names}
        listable = isinstance(answer, (list, tuple)) or len(getattr(answer, "shape", ())) == 1
        if listable and len(answer) == len(names):  # type: ignore[arg-type]
            return dict(zip(names, answer, strict=True))  # type: ignore[call-overload]
    except (Exception, SystemExit):
        return Reading(status="unreadable", note=f"a {_kind(answer)} cannot be read as the parts {listed}")
    return Reading(status="unreadable", note=f"{len(names)} parts are asked for; answer with a dict of {listed}")


def _example(unit: str) -> str:
    """An answer of that unit, as a person would write one."""
    if counting_word(unit):
        return f"2 {unit}"
    return "100 kB" if scale(unit) == (1.0, "bytes") else f"0.5 {unit}".strip()


def _kind(answer: object) -> str:
    return type(answer).__name__[:40]


def _empty(answer: object) -> bool:
    if isinstance(answer, str):
        return answer.strip() in {"", "...", "…", "?"}
    return answer is None or answer is Ellipsis


def _read(answer: object, unit: str) -> Reading:
    if _empty(answer):
        return Reading(status="unanswered")
    if type(answer).__module__.split(".")[0] == "ipywidgets":
        return Reading(status="unreadable", note="a control's position is no answer; type the number you read there")
    if isinstance(answer, str):
        return _read_text(answer, unit)
    if isinstance(answer, Quantity):
        return _of_dimension(answer.value, answer.dimension, unit, f"{answer.value:g} {answer.dimension}")
    shape = getattr(answer, "shape", ())
    if shape and math.prod(shape) == 1:
        answer, shape = answer.item(), ()  # type: ignore[attr-defined]
    if isinstance(answer, (list, tuple, set, dict)) or shape:
        return Reading(status="unreadable", note=f"one number is asked for, not a {_kind(answer)} of several")
    if _kind(answer).startswith("bool"):
        return Reading(status="unreadable", note="a number is asked for, not True or False")
    if isinstance(answer, numbers.Complex) and not isinstance(answer, numbers.Real):
        return Reading(status="unreadable", note="a real number is asked for, not a complex one")
    if callable(answer) and not hasattr(answer, "__float__"):
        return Reading(status="unreadable", note="a number is asked for, not a function; call it and pass its result")
    if isinstance(answer, (bytes, bytearray, memoryview)):
        return Reading(status="unreadable", note=f"a {_kind(answer)} cannot be read as a number")
    try:
        value = float(answer)  # type: ignore[arg-type]
    except OverflowError:
        return Reading(status="unreadable", note="the number is too large to read")
    return _finite(value * scale(unit)[0], bare=True)


def _read_text(text: str, unit: str) -> Reading:
    if len(text) > 200:
        return Reading(status="unreadable", note="the text is too long for one number with a unit")
    cleaned = " ".join(text.replace("−", "-").replace("–", "-").split())
    cleaned = re.sub(r"^(about|around|roughly|approx\.?|[~≈=])\s*", "", cleaned, flags=re.IGNORECASE)
    match = _NUMBER.match(cleaned)
    if not match:
        note = f"the text does not start with a number; write for example {_example(unit)!r}"
        return Reading(status="unreadable", note=note)
    number, word = match.group(1), match.group(2).strip().rstrip(".")
    if "," in number and not _THOUSANDS.match(number):
        return Reading(status="unreadable", note="write decimals with a point, not a comma")
    if re.search(r"e[+-]?\d{4,}", number, re.IGNORECASE):
        return Reading(status="unreadable", note="the number is too large to read")
    value = float(number.replace(",", "").replace("_", ""))
    if not word:
        return _finite(value * scale(unit)[0], bare=True)
    if scale(unit)[1] == "1" and (ratio := _RATIO.match(word)) and float(ratio[1]):
        return _finite(value / float(ratio[1]) * scale(ratio[2])[0], bare=True)
    if counting_word(unit) and len(unit) == 1 and (share := _SHARE.match(word)) and share[1] in ("", unit):
        return _finite(value / 100, bare=False)  # 175 % of S
    word = _SPOKEN.sub(lambda found: "%" if "cent" in found[0] else "x", word)
    counted = counting_word(unit) or not unit
    if counted and (many := _MANY.match(word)):
        value, word = value * _TIMES[many[1].lower()], word[many.end() :].strip()
    alike = {word.lower().rstrip("s"), unit.lower().rstrip("s")}
    if _counts(word, unit) or (counted and len(unit) != 1 and (not word or any(alike <= each for each in _ALIKE))):
        return _finite(value, bare=True)
    quantity = _unit(word)
    if isinstance(quantity, str):
        count = f"the question asks for a number of {unit}, not of {word[:40]!r}; write the number alone"
        return Reading(status="unreadable", note=count if counting_word(unit) else quantity)
    return _of_dimension(value * quantity.value, quantity.dimension, unit, cleaned[:40])


def _counts(word: str, unit: str) -> bool:
    """Whether `word` is the exercise's own counting word: "GPU" for "GPUs", "x", "x S" or "*S" for "S"."""
    if not counting_word(unit):
        return False
    core = re.sub(r"^(x|×|\*|·|times)\s*", "", word)
    if not core:
        return True
    if len(unit) == 1:
        return core == unit
    return core.lower().rstrip("s") == unit.lower().rstrip("s")


def _unit(word: str) -> Quantity | str:
    """One of the unit, also written "GB / s" or "Milliseconds"; or the sentence that says why it is none."""
    word = re.sub(r"\s*/\s*", "/", word.replace("×", "x"))
    problem = ""
    # lower case only in long words: MB and mb, or GBps and gbps, are different units
    for spelling in (word, word.lower() if len(word) > 5 else word):
        try:
            return parse(f"1 {spelling}")
        except ValueError as error:
            problem = problem or str(error)
    return problem


def _of_dimension(value: float, dimension: str, unit: str, shown: str) -> Reading:
    wanted = scale(unit)[1]
    if dimension != wanted:
        asked = _NAMES.get(wanted, f"a number of {wanted}")
        named = f"{asked} in {unit}" if unit and wanted in _NAMES and wanted != "1" else asked
        got = _NAMES.get(dimension, dimension)
        return Reading(status="wrong", note=f"the question asks for {named}; {shown} is {got}")
    return _finite(value, bare=False)


def _finite(value: float, bare: bool) -> Reading:
    if not math.isfinite(value):
        return Reading(status="unreadable", note="the number must be finite")
    return Reading(value=value, bare=bare)
