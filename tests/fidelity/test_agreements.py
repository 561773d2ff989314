"""Agreements: every one holds, every one is able to fail, and their machinery says what it found."""

from dataclasses import replace

import numpy as np
import pytest

from netlib.fidelity import agreements as book
from netlib.fidelity.agreement import Agreement, check, gap, name
from netlib.fidelity.agreements import agreements, find

IDS = sorted(agreements())


@pytest.mark.parametrize("id", IDS)
def test_both_ways_agree(id):
    checked = check(find(id))
    assert checked.holds, checked.sentence


@pytest.mark.parametrize("id", IDS)
def test_a_bent_formula_is_found_out(id):
    """One per cent more, or one more where a count may not move by one per cent of itself, and it must not agree."""
    agreement = find(id)
    for bend in (
        lambda value: np.asarray(value) * (1.01 + 2 * agreement.tolerance),
        lambda value: np.asarray(value) + 1,
    ):
        bent = check(replace(agreement, first=lambda *case, bend=bend: bend(agreement.first(*case))))
        small = bend(np.asarray(1e9)) == 1e9 + 1  # one more byte in a gigabyte is no error
        if not (small and agreement.tolerance):
            assert not bent.holds, f"{id} cannot fail"
            assert "does not agree" in bent.sentence


def test_cases_are_many_and_different():
    for agreement in agreements().values():
        assert len(agreement.cases) >= 3, agreement.id
        assert len(set(map(repr, agreement.cases))) == len(agreement.cases), agreement.id
        assert not agreement.what.endswith("."), agreement.id


def test_gap_is_relative_and_strict_about_shapes_and_numbers():
    assert gap(4, 4) == 0
    assert gap(0, 0) == 0
    assert gap(100, 99) == pytest.approx(0.01)
    assert gap([1, 2], [1]) == np.inf
    assert gap([1, np.nan], [1, np.nan]) == np.inf
    assert gap([], []) == 0


def test_the_sentence_names_the_worst_case():
    wrong = Agreement("wrong", "n squared", lambda n: n * n, lambda n: n**3, ((1,), (2,), (3,)), "counted")
    assert check(wrong).sentence == (
        "does not agree: closed form is not what was counted in 2 of 3 cases; <lambda>(3) = 9 against 27"
    )
    near = Agreement("near", "n", lambda n: n, lambda n: n * 1.001, ((1,),), "counted", tolerance=0.01)
    assert check(near).sentence == "agrees: closed form = counted, 1 case, largest gap 0.001 (up to 0.01 allowed)"
    sides = Agreement("sides", "product", lambda sides: np.prod(sides), lambda sides: np.prod(sides), (((4, 8),),))
    assert check(sides).shown_cases == ["((4, 8))"]
    assert check(sides).shown(((4, 8),)) == "<lambda>((4, 8)) = 32 against 32"
    with pytest.raises(ValueError, match="cases of 'none' are empty"):
        Agreement("none", "nothing", abs, abs, ())
    assert name(abs) == "abs"


def test_ids_are_known_and_unique(monkeypatch):
    with pytest.raises(ValueError, match="agreement 'nothing' does not exist; "):
        find("nothing")
    monkeypatch.setattr(book, "chapters", lambda: ["scale_out", "scale_out"])
    agreements.cache_clear()
    with pytest.raises(ValueError, match="is listed twice"):
        agreements()
    agreements.cache_clear()
