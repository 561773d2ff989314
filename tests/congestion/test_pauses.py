"""Pauses, headroom and thresholds against published numbers, and against a second way to count them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion import (
    cable_bytes,
    cell_occupancy,
    dynamic_headroom,
    dynamic_mark_bound,
    dynamic_pause_threshold,
    frame_rate,
    lossless_classes,
    nic_headroom,
    pause_time,
    paused_share,
    response_quanta,
    shared_buffer,
    simulator_headroom,
    static_headroom,
    static_mark_bound,
    static_pause_threshold,
    storm_frames,
    watchdog_outage,
)
from netlib.congestion.headroom import TABLES
from netlib.congestion.pauses import QUANTUM, RESPONSE_QUANTA
from netlib.units import gbps


def test_the_longest_pause() -> None:
    """65,535 x 512 bits (802.1Qbb): 3355.4, 838.9, 335.5, 167.8, 83.9 and 41.9 us at 10 ... 800 Gb/s."""
    found = pause_time([gbps(each) for each in (10, 40, 100, 200, 400, 800)]) * 1e6
    assert found.round(1).tolist() == [3355.4, 838.8, 335.5, 167.8, 83.9, 41.9]
    assert float(pause_time(gbps(10)) / pause_time(gbps(800))) == 80


def test_ten_and_a_hundred_frames_a_second() -> None:
    """At 400 Gb/s: 0.084 and 0.84 % of the time, at most; a count is no duration."""
    share = paused_share([10, 100], gbps(400))
    assert (share * 100).round(3).tolist() == [0.084, 0.839]
    assert float(paused_share(1890, gbps(400))) == pytest.approx(0.159, abs=5e-4)
    assert float(paused_share(1e9, gbps(400))) == 1.0


@given(st.floats(1e8, 1e11), st.integers(1, 65535), st.integers(0, 200), st.integers(0, 2**31))
def test_the_share_bounds_any_placing_of_the_frames(rate: float, quanta: int, frames: int, seed: int) -> None:
    """Frames at random moments of one second: the union of their pauses is never longer than the formula says."""
    start = np.sort(np.random.default_rng(seed).random(frames))
    length = float(pause_time(rate, quanta))
    union = np.minimum(np.diff(start, append=start[-1:] + length), length).sum() if frames else 0.0
    assert union <= float(paused_share(frames, rate, quanta)) * 1.0000001 + (length if length > 1 else 0)
    assert float(storm_frames(rate, quanta)) * length == pytest.approx(1)


def test_the_same_twelve_bars_by_two_windows() -> None:
    """464 pauses in twelve bars: 387/s if a bar is 100 ms, 38,667/s if it is 1 ms."""
    bars = [12, 18, 25, 8, 189, 45, 33, 27, 52, 19, 22, 14]
    assert sum(bars) == 464
    assert round(float(frame_rate(bars, 0.1))) == 387
    assert round(float(frame_rate(bars, 1e-3))) == 38667
    with pytest.raises(ValueError, match="counts is empty"):
        frame_rate([], 0.1)


def test_response_times_of_the_standard() -> None:
    """IEEE 802.3, 31B.3.7, in bytes, as SONiC lists it."""
    got = {gbit: response_quanta(gbit) * QUANTUM for gbit in RESPONSE_QUANTA}
    assert got == {
        10: 4288, 25: 5120, 40: 7552, 50: 9408, 100: 25216, 200: 28992, 400: 57920, 800: 57920,
    }  # fmt: skip
    with pytest.raises(ValueError, match="gbit = 56 is no rate of the table; give one of 10, 25"):
        response_quanta(56)
    with pytest.raises(ValueError, match="quanta = 65536 does not fit into the 16 bits"):
        pause_time(1e9, 65536)


def test_a_watchdog_pauses_first_and_drops_then() -> None:
    short, long = watchdog_outage([0.2, 3.0], 0.4, 2.0).paused, watchdog_outage([0.2, 3.0], 0.4, 2.0).dropped
    assert short.tolist() == [0.2, 0.4]
    assert long.tolist() == [0.0, 4.6]
    # a storm that lasts exactly as long as the detection is not detected
    assert float(watchdog_outage(0.4, 0.4, 2.0).dropped) == 0
    # frames that a storm at 400 Gb/s needs to live until SONiC's 400 ms
    assert np.ceil(float(storm_frames(gbps(400))) * 0.4) == 4769


HEADROOM = [(100, 5, 81920), (100, 40, 92160), (100, 300, 163840), (400, 5, 159744), (400, 100, 265216)]


@pytest.mark.parametrize(("gbit", "length", "xoff"), [*HEADROOM, (800, 5, 164864), (800, 100, 375808)])
def test_the_formula_of_sonic_to_the_byte(gbit: int, length: int, xoff: int) -> None:
    """144-byte cells, 0.8 KiB of MAC and PHY, MTU 9,100, lossless MTU 1,024, all packets small."""
    assert dynamic_headroom(gbit, length) == xoff


@given(st.sampled_from(sorted(RESPONSE_QUANTA)), st.floats(0, 2000), st.floats(32, 512), st.floats(0, 1))
def test_headroom_grows_with_cable_and_cells(gbit: int, length: float, cell: float, small: float) -> None:
    base = dynamic_headroom(gbit, length, cell=cell, small=small)
    assert base % 1024 == 0
    assert dynamic_headroom(gbit, length + 50, cell=cell, small=small) >= base
    assert dynamic_headroom(gbit, length, cell=cell, small=small, gearbox=500) > base - 1
    # never less than what physics asks for, short of the script's 2.3 % on the cable
    assert base >= 1000 / 1024 * float(cable_bytes(length, gbps(gbit))) + response_quanta(gbit) * QUANTUM


def test_two_shipped_tables_and_the_cable() -> None:
    """Bytes a metre at 100 Gb/s between 40 and 300 m: 500 in version 1.0.3, 252 in 1.0.4, 126 of them on the cable."""
    per_metre = {
        version: (static_headroom("spectrum-1", version, 100, 300) - static_headroom("spectrum-1", version, 100, 40))
        / 260
        for version in ("1.0.3", "1.0.4")
    }
    cable = float(cable_bytes(1, gbps(100)))
    formula = (dynamic_headroom(100, 300) - dynamic_headroom(100, 40)) / 260
    assert per_metre["1.0.3"] / cable == pytest.approx(4, abs=0.05)
    assert per_metre["1.0.4"] / cable == pytest.approx(2, abs=0.01)
    assert formula == pytest.approx(276, abs=1)  # 2.25 cells, and 2.3 % short
    assert float(cell_occupancy(96)) == pytest.approx(per_metre["1.0.4"] / cable, rel=0.01)


def test_shipped_tables_are_whole() -> None:
    for table in TABLES:
        lengths = {length for _, length in table.size}
        assert lengths == {5, 40, 300}
        assert all(size % 1024 == 0 and size > table.xon for size in table.size.values())
        for (gbit, length), size in table.size.items():
            longer = [other for (rate, far), other in table.size.items() if rate == gbit and far > length]
            faster = [other for (rate, far), other in table.size.items() if rate > gbit and far == length]
            assert all(other >= size for other in (*longer, *faster))
    # the six sizes of Spectrum-2 in version 1.0.3
    sizes = [static_headroom("spectrum-2", "1.0.3", g, m) + 18432 for m in (5, 40, 300) for g in (100, 200)]
    assert sizes == [38912, 41984, 59392, 81920, 206848, 376832]
    with pytest.raises(ValueError, match=r"has no table; give one of spectrum-1 1\.0\.3"):
        static_headroom("spectrum-9", "1.0.3", 100, 5)
    with pytest.raises(ValueError, match="gbit = 400 with 5 m is no row"):
        static_headroom("spectrum-1", "1.0.3", 400, 5)


def test_rules_of_thumb() -> None:
    assert float(nic_headroom(100, gbps(100), 0, 0) - nic_headroom(0, gbps(100), 0, 0)) / 100 == pytest.approx(130)
    assert 130 / float(cable_bytes(1, gbps(100))) == pytest.approx(1.03, abs=0.01)
    # three one-way delays of rate: 1.5 round trips of cable
    assert float(simulator_headroom(gbps(100), 1e-6)) == pytest.approx(1.5 * gbps(100) * 2e-6)
    # 300 m of cable at 40 Gb/s: 10.7 KB of round trip were quoted; 15.2 KB at 1.98e8 m/s
    assert float(cable_bytes(300, gbps(40))) == pytest.approx(15152, abs=1)
    with pytest.raises(ValueError, match=r"small = 1\.5 is a share"):
        cell_occupancy(96, 1.5)


def test_two_lossless_classes_fit() -> None:
    """Guo et al. (SIGCOMM 2016) could afford two in switches of 9 and 12 MB."""
    need = dynamic_headroom(40, 300)
    assert lossless_classes([9e6, 12e6], 32, need, [3e6, 6e6]).tolist() == [2, 2]
    assert float(lossless_classes(1e6, 32, need)) == 0
    assert float(lossless_classes(1e6, 32, need, 2e6)) == 0


DCQCN = (12e6, 32, 8, 22.4e3)  # bytes, ports, priorities, headroom of the paper's switch


def test_thresholds_of_the_dcqcn_paper() -> None:
    """24.47 and 21.75 KB in print; its static bound prints 0.85 KB where its formula gives 0.765."""
    assert float(static_pause_threshold(*DCQCN)) == pytest.approx(24475, abs=1)
    assert float(dynamic_mark_bound(*DCQCN, beta=8)) == pytest.approx(21756, abs=1)
    assert float(static_mark_bound(*DCQCN)) == pytest.approx(765, abs=1)


@given(st.floats(1e6, 1e8), st.integers(1, 64), st.integers(1, 8), st.floats(0, 2e3), st.floats(0.01, 100))
def test_at_the_bound_one_port_holds_just_its_xoff(
    b: float, ports: int, classes: int, each: float, beta: float
) -> None:
    """Fill every egress queue of every class to the bound: the XOFF then equals what one port feeds to all of them."""
    given_ = (b, ports, classes, each)
    mark = float(dynamic_mark_bound(*given_, beta=beta))
    xoff = float(dynamic_pause_threshold(*given_, beta=beta, used=classes * ports * mark))
    assert xoff == pytest.approx(ports * mark, rel=1e-6)
    # a mark a little higher pauses first
    higher = mark * 1.01
    assert float(dynamic_pause_threshold(*given_, beta=beta, used=classes * ports * higher)) < ports * higher
    # the static threshold fills exactly what is shared
    assert float(static_pause_threshold(*given_)) * ports * classes == pytest.approx(float(shared_buffer(*given_)))


def test_headroom_that_takes_all_is_refused() -> None:
    with pytest.raises(ValueError, match=r"headroom takes 2\.56e\+07 bytes, more than the buffer has"):
        shared_buffer(12e6, 32, 8, 1e5)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: pause_time(400),
        lambda: paused_share(10, 400),
        lambda: storm_frames([50e9, 400]),
        lambda: cable_bytes(100, 400),
        lambda: simulator_headroom(400, 1e-6),
        lambda: nic_headroom(100, 400, 1500, 1500),
    ],
)
def test_a_rate_in_gbit_is_asked_about(asked) -> None:
    with pytest.raises(ValueError, match=r"^rate = 400 is below .* is it in bytes/s\? 400 Gb/s are 5e\+10$"):
        asked()


def test_a_megabyte_a_second_and_a_silent_port_are_rates() -> None:
    assert float(pause_time(1e6, 1)) == pytest.approx(64e-6)
    assert float(cable_bytes(100, 0)) == 0
    with pytest.raises(ValueError, match=r"rate = 0\.5 is below .* 400 Gb/s are 5e\+10"):
        pause_time(0.5)
    with pytest.raises(ValueError, match="rate = 0 must be above 0"):
        pause_time(0)


@pytest.mark.parametrize(
    "asked",
    [lambda g: dynamic_headroom(g, 100), response_quanta, lambda g: static_headroom("spectrum-1", "1.0.4", g, 5)],
)
def test_a_speed_in_the_other_unit_is_said_in_both(asked) -> None:
    """The tables of IEEE and SONiC name ports by Gb/s."""
    with pytest.raises(ValueError, match=r"^gbit = 1\.25e\+10 .*: 1\.25e\+10 bytes/s are 100 Gb/s$"):
        asked(12.5e9)
    with pytest.raises(ValueError, match=r"^gbit = 56 .*: 56 Gb/s are 7e\+09 bytes/s$"):
        asked(56)
