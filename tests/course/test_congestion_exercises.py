"""The congestion chapter's exercises reach values found by hand, and stand on its page in order."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from netlib.course.exercises import build_01, load, paced_01, qos_01, sheet
from netlib.course.judge import judge

PAGE = (Path(__file__).resolve().parents[2] / "book" / "04_congestion_control.md").read_text()
CABLE = 2 * 300 * 50e9 / 1.98e8
SHARED = 64e6 - 64 * 2 * 160e3
# by hand, without netlib; margins of delay-01 from the model linearised twice, in netlib alone
WANT = {
    "headroom-01": {"cable": CABLE, "headroom": 1024 + 2.25 * (9100 + CABLE / 1.024 + 819.2 + 57920), "classes": 2},
    "reach-01": {"at400": 131072 / 50e9 * 0.99e8, "at800": 131072 / 100e9 * 0.99e8, "buffer": 1e5 / 0.198, "lanes": 4},
    "mark-01": {"pause": SHARED / 128, "static": SHARED / 128 / 64, "dynamic": SHARED / 144, "safe": "c"},
    "preset-01": {"paper": 6 * 55e-6, "card": 6 * 300e-6, "card2": 7 * 300e-6, "field": "b"},
    "rest-02": {"kept": 7 / 3, "queue": 62500 + 20 * 62500 / 8, "flows": 72},
    "nscc-01": {"queue": 450e3, "window": 900e3, "marked": "b", "late": "c"},
    "permute-01": {"empty": (31 / 32) ** 32},
    "speed-01": {"old": 125e3, "new": 2e6, "wait": 180e6},
}


@pytest.mark.parametrize("id", WANT)
def test_an_exercise_reaches_the_value_found_by_hand(id: str) -> None:
    got = load(id).answer()
    for name, value in WANT[id].items():
        # headroom is rounded up to whole KiB, a fifth of a per cent
        assert got[name] == (value if isinstance(value, str) else pytest.approx(value, rel=2e-3)), name


def test_the_climb_after_two_cuts_counts_the_steps_of_timer_and_bytes() -> None:
    """paper2 by plain steps of a microsecond: events of the timer and of the bytes, each halves the gap."""
    rate, target, count, ticks, sent, now = 25e9 / 8, 50e9 / 8, 0, 0, 0.0, 0
    while rate < 0.99 * 12.5e9:
        now += 1
        sent += rate * 1e-6
        for due in (now % 55 == 0, sent >= 10e6):
            if due:
                count, ticks = count + (sent >= 10e6), ticks + (now % 55 == 0)
                target = min(target + 5e6 * (max(count, ticks) > 5), 12.5e9)
                rate = (rate + target) / 2
        sent %= 10e6
    assert load("preset-01").answer()["paper2"] == pytest.approx(now * 1e-6, rel=0.01)


def test_thrown_balls_agree_with_hashed_flows() -> None:
    load_of = np.random.default_rng(0).multinomial(32, [1 / 32] * 32, size=(2000, 16))
    got = load("permute-01").answer()
    assert got["mean"] == pytest.approx((load_of**2).sum(axis=-1).mean() / 32, rel=0.01)
    assert got["last"] == pytest.approx(load_of.max(axis=-1).mean(), rel=0.01)
    assert got["all"] == pytest.approx(load_of.max(axis=(-1, -2)).mean(), rel=0.01)


def test_the_shortened_margin_errs_and_the_run_says_so() -> None:
    got = load("delay-01").answer()
    assert got["published"] < 50e-6 < got["exact"]
    assert got["run"] == "a"


@pytest.mark.parametrize("marked", [True, False])
def test_the_solution_of_one_step_is_the_engine_on_random_cases(marked: bool) -> None:
    for case in build_01.cases(marked, 7):
        assert build_01.by_engine(*case) == pytest.approx(build_01.dcqcn_step(*case), rel=1e-12)


def test_both_right_queues_agree_on_every_draw() -> None:
    for seed in range(20):
        phases = paced_01.draw(1 + seed, seed)
        assert paced_01.mean_queue(phases) == pytest.approx(paced_01.arrays(phases), rel=1e-9)


def test_the_right_shares_agree_on_random_loads() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        weights, demands = tuple(rng.uniform(0.1, 9, 5)), tuple(rng.uniform(0, 0.6, 5))
        got = qos_01.shares(weights, demands)
        assert got == pytest.approx(qos_01.book_shares(demands, weights), abs=1e-12)
        assert math.isclose(sum(got), min(1, sum(demands)), rel_tol=1e-9)


def test_the_page_holds_every_exercise_of_the_chapter_in_order() -> None:
    assert re.findall(r"```\{exercise\} ([a-z0-9-]+)\n", PAGE) == [each.id for each in sheet("congestion")]


def test_a_guess_is_not_called_a_slip_that_its_kind_cannot_have() -> None:
    """A ratio has no MiB, a count of classes no two directions; a length of cable may be one way or both."""
    assert "hint(" in judge(load("permute-01"), {"all": 4.78}).message.split("all: ")[1]
    assert "hint(" in judge(load("headroom-01"), {"classes": 1}).message.split("classes: ")[1]
    assert "one direction and both" in judge(load("reach-01"), {"at800": 2 * WANT["reach-01"]["at800"]}).message
    assert judge(load("rest-01"), "14 flows").ok
