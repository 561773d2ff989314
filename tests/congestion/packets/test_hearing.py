"""Hearing: a sender reads what the queues were like when its byte left them, however long ago that was."""

from types import SimpleNamespace

import numpy as np

from netlib.congestion.packets.engine import Engine, Heard, Switches
from netlib.congestion.packets.stamps import Stamped
from netlib.congestion.packets.traffic import Packet, Traffic, traffic
from tests.congestion.packets.steady import Steady

SLOT = 1e-6  # s of a packet on the wire of a usual link
USUAL = 1000 / SLOT


class Witness(Steady):
    """Keeps the whole past of all queues, and compares it with what is read, now and then, for acknowledged bytes."""

    def __init__(self, made: Traffic) -> None:
        super().__init__(made)
        self.past: list[np.ndarray] = []
        self.oldest = self.read = 0

    def react(self, now: float, heard: Heard) -> None:
        engine = heard._engine
        if engine.step:
            queues = engine.queues
            self.past.append(np.array([queues.waited, queues.length, queues.gone]))
        on = (engine.acks > 0) & (engine.step % 5 == 0)
        for valid, queue, step in heard.hops() if on.any() else ():
            some = valid & on
            row, queue, step = step[some] % engine.log, queue[some], step[some]
            logs = (engine.log_waited, engine.log_length, engine.log_gone)
            seen = np.array([each[row, queue] for each in logs])
            true = np.array([self.past[s][:, q] for s, q in zip(step, queue, strict=True)]).T.reshape(seen.shape)
            assert (seen == true).all(), (engine.step, step)
            self.oldest = max(self.oldest, engine.step - int(step.min(initial=engine.step)))
            self.read += len(step)


def witnessed(made: Traffic, dt: float, steps: int) -> tuple[Witness, Engine]:
    witness = Witness(made)
    engine = Engine(made, witness, Switches(), np.random.default_rng(0), dt)
    for _ in range(steps):
        engine.advance()
    return witness, engine


def standing(hops: int, burst: int) -> Traffic:
    """A flow over `hops` cables without length; at each queue after the first a burst joins once and stands there.

    The bursts come one after the other, each when the gap that the one before has made is past.
    """
    cross = range(2, hops)
    way = [list(range(hops)), *([hops + k - 2, k] + [-1] * (hops - 2) for k in cross)]
    capacity = [USUAL] * hops + [1000 * USUAL] * len(cross)
    size = [1000.0 * ((burst + 4) * hops + 30)] + [1000.0 * burst] * len(cross)
    start = [0.0, *((burst + 4) * k * SLOT for k in cross)]
    return traffic(way, size, capacity, [0.0] * len(capacity), Packet(1000, 1000), start)


def test_every_queue_deeper_than_the_one_before() -> None:
    """Each cable is slower than the last, so that bytes wait in all queues, some of them for thousands of steps."""
    speed = USUAL * np.array([8, 4, 2, 1, 0.25])
    made = traffic([[0, 1, 2, 3, 4]], 1e6, speed, [5e-6] * 5, Packet(1000, 1000))
    witness, engine = witnessed(made, 0.5 * SLOT, 3000)
    assert witness.read > 1000
    assert witness.oldest > 1500
    assert engine.log > witness.oldest


def test_cables_that_take_longer_than_any_queue_holds() -> None:
    """Packets of 20 steps over 12 cables without length, two packets in each queue: most of a round trip is cable.

    The log once was as long as the last cable and the way back asked for, and rows were overwritten before they came.
    """
    made = standing(12, 2)
    witness, engine = witnessed(made, SLOT / 20, 2600)
    assert engine.queues.waited.max() < 45
    assert witness.oldest > 550
    assert engine.log > witness.oldest
    assert witness.read > 2000


def test_a_longer_log_keeps_what_it_had() -> None:
    """Doubled in its third turn and again in the next step: the rows of the steps before stay those of their steps."""
    log = Stamped(queues=1, hops=2, around=4)
    first = len(log.waited)
    begin = 2 * first + first // 2 + first  # steps whose rows differ in the two sizes
    for step in range(begin + 2):
        wait = 0.0 if step < begin else first * (step - begin + 1.0)
        log.note(step, SimpleNamespace(waited=np.array([wait]), length=np.array([step]), gone=np.array([2 * step])))
    assert len(log.waited) >= 4 * first
    kept = np.arange(begin - first, begin + 2)
    assert log.length[kept % len(log.length), 0].tolist() == kept.tolist()
    assert log.gone[kept % len(log.gone), 0].tolist() == (2 * kept).tolist()
