from collections.abc import Callable

import numpy as np

from netlib.congestion import weighted_shares as book_shares
from netlib.course.exercises import Law, exercise

Values = tuple[float, ...]
Shares = Callable[[Values, Values], Values]
NAMES = ("weights", "demands")
CASES = (
    ((60, 30, 10), (0.8, 1, 1)),
    ((60, 30, 10), (0.2, 0.2, 0.1)),
    ((60, 30, 10), (0.3, 1, 0.05)),
    ((60, 30, 10, 1), (1, 1, 1, 0.005)),
    ((1, 1, 1, 1), (0.05, 0.2, 0.5, 1)),
    ((3, 1), (0, 1)),
    ((1, 1, 1), (0.1, 0.35, 1)),
    ((8, 4, 2, 1), (0.3, 0.25, 1, 1)),
)
SMALL = 1e-9


def shares(weights: Values, demands: Values) -> list[float]:
    """The solution: share what is left by weight; who has all it wants leaves, and the others share again."""
    got, room, waiting = [0.0] * len(weights), 1.0, [k for k in range(len(weights)) if demands[k] > 0]
    while waiting:
        level = room / sum(weights[k] for k in waiting)
        full = [k for k in waiting if demands[k] <= weights[k] * level]
        for k in full or waiting:
            got[k] = demands[k] if full else weights[k] * level
        room -= sum(demands[k] for k in full)
        waiting = [k for k in waiting if k not in full] if full else []
    return got


def is_share(f: Shares, weights: Values, demands: Values) -> bool:
    got = f(weights, demands)
    return len(got) == len(weights) and all(
        -SMALL <= each <= most + SMALL for each, most in zip(got, demands, strict=True)
    )


def fits(f: Shares, weights: Values, demands: Values) -> bool:
    return sum(f(weights, demands)) <= 1 + SMALL


def guarantees(f: Shares, weights: Values, demands: Values) -> bool:
    part = [each / sum(weights) for each in weights]
    return all(got >= min(most, own) - SMALL for got, most, own in zip(f(weights, demands), demands, part, strict=True))


def works(f: Shares, weights: Values, demands: Values) -> bool:
    return sum(f(weights, demands)) >= min(1, sum(demands)) - SMALL


def is_even(f: Shares, weights: Values, demands: Values) -> bool:
    got = f(weights, demands)
    level = [share / weight for share, weight in zip(got, weights, strict=True)]
    wanting = [own for own, share, most in zip(level, got, demands, strict=True) if share < most - SMALL]
    return not wanting or max(level) <= min(wanting) + SMALL


def one_round(weights: Values, demands: Values) -> list[float]:
    """Each class its part, and what is over dealt out once, by weight."""
    part = np.array(weights) / sum(weights)
    got = np.minimum(part, demands)
    open_ = np.where(got < demands, part, 0)
    more = (1 - got.sum()) * open_ / max(open_.sum(), SMALL)
    return list(np.minimum(got + more, demands))


def first_in_line(weights: Values, demands: Values) -> list[float]:
    """Each class its part, and what is over to the first that wants it."""
    got = [min(each / sum(weights), most) for each, most in zip(weights, demands, strict=True)]
    for k, most in enumerate(demands):
        got[k] += min(most - got[k], 1 - sum(got))
    return got


def by_halves(weights: Values, demands: Values) -> np.ndarray:
    """Another right way: the water level, found by halving, at which the shares fill the link."""
    low, high, part = 0.0, 1e3, np.array(weights) / sum(weights)
    for _ in range(100):
        level = (low + high) / 2
        low, high = (level, high) if np.minimum(level * part, demands).sum() < 1 else (low, level)
    return np.minimum(high * part, demands)


def strict(weights: Values, demands: Values) -> list[float]:
    """The first class first."""
    got: list[float] = []
    for most in demands:
        got.append(min(most, 1 - sum(got)))
    return got


LAWS = (
    Law(
        "each class has one share, in the order of the weights, not negative and not above its demand",
        NAMES,
        CASES,
        is_share,
        several=True,
    ),
    Law("the shares of one link never add up to more than 1", NAMES, CASES, fits, several=True),
    Law(
        "each class gets its guarantee, its weight over the sum of all weights, or all of its demand if that is less",
        NAMES,
        CASES,
        guarantees,
        several=True,
    ),
    Law("the link is never idle while a class still waits: it conserves work", NAMES, CASES, works, several=True),
    Law(
        "of what others leave, the classes that still wait get shares in the ratio of their weights",
        NAMES,
        CASES,
        is_even,
        several=True,
    ),
)


def left(weights: Values, demands: Values) -> float:
    """The share of the last class, by the book's own function."""
    return float(book_shares(demands, weights)[-1])


EXERCISE = exercise(
    id="qos-01",
    chapter="congestion",
    skill="guarantees by weight",
    stars=3,
    minutes=(12, 20),
    place=438,
    ask="A plan guarantees 60, 30 and 10 per cent of a link to experts, gradients and checkpoints. It adds up to 100, "
    "and nothing is left for congestion notifications and control, which then wait behind bulk data on their way to "
    "senders that should have slowed down already. So weights are relative, and a fourth class is added with a weight "
    "of 1. Write `weighted_shares(weights, demands)`: a list with the share of the link that each class gets, where "
    "`demands` are shares of the link that the classes offer, 0 or more, and weights are above 0 and add up to "
    "anything. What a class does not use goes to those that still wait, by weight. Your function is held to five "
    "properties on small cases.",
    answer=lambda: shares,
    laws=LAWS,
    hints=(
        "Let all classes rise together, each as fast as its weight, until one has all it wants. It stops; the others "
        "go on.",
        "Share what is left over the weights of those that wait; whoever wants less than that gets its demand and "
        "leaves; do it again with the rest, until nobody leaves.",
        "`level = room / sum(weights[k] for k in waiting)`",
    ),
    wrong={
        lambda weights, demands: [w / sum(weights) for w in weights]: "not above its demand",
        lambda weights, demands: [sum(demands)]: "one share",
        lambda weights, demands: [min(w / 100, d) for w, d in zip(weights, demands, strict=True)]: "more than 1",
        lambda weights, demands: demands: "more than 1",
        lambda weights, demands: [min(w, d) for w, d in zip(weights, demands, strict=True)]: "more than 1",
        lambda weights, demands: [d / max(1, sum(demands)) for d in demands]: "gets its guarantee",
        strict: "gets its guarantee",
        lambda weights, demands: [min(w / sum(weights), d) for w, d in zip(weights, demands, strict=True)]: "work",
        one_round: "conserves work",
        first_in_line: "in the ratio of their weights",
    },
    right=(
        lambda weights, demands: book_shares(demands, weights),
        by_halves,
    ),
    explain=lambda: (
        "Water filling: `level = room / sum of waiting weights`; who wants less than weight x level gets its demand "
        "and leaves, the rest share again. With 60, 30, 10 and a fourth class of weight 1, all greedy, that one gets "
        f"{left((60, 30, 10, 1), (1, 1, 1, 1)):.2%}; notifications that ask for half a per cent get all of it "
        f"({left((60, 30, 10, 1), (1, 1, 1, 0.005)):.1%}), always. Weights need not add up to 100, and a plan whose "
        "guarantees do has forgotten somebody. Notifications may even be strict, because they are few: a strict class "
        "is safe if its demand is bounded by something else."
    ),
)
