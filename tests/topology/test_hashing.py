"""Hashing: equal to zlib on the packed head, one to one, even."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.topology.hashing import ROCE_PORT, address, five_tuple_hash, mix, pick, source_port

RANK = st.integers(0, 2**24 - 1)


@given(RANK, RANK, st.integers(0, 2**16 - 1))
def test_the_hash_is_the_crc_of_the_packed_head(src, dst, port) -> None:
    head = struct.pack("!IIBHH", 10 << 24 | src, 10 << 24 | dst, 17, port, ROCE_PORT)
    assert len(head) == 13
    assert int(five_tuple_hash(src, dst, port)) == zlib.crc32(head)


def test_it_broadcasts() -> None:
    table = five_tuple_hash(np.arange(3)[:, None], np.arange(4), 50_000)
    assert table.shape == (3, 4)
    assert table[2, 1] == five_tuple_hash(2, 1, 50_000)


@given(st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1))
def test_the_port_of_a_queue_pair_follows_linux(local, remote) -> None:
    product = local * remote  # rdma_calc_flow_label, then rdma_flow_label_to_udp_sport, in Python's whole numbers
    product ^= product >> 20
    product ^= product >> 40
    label = product & 0xFFFFF
    assert int(source_port(local, remote)) == (label & 0x3FFF) ^ (label & 0xFC000) >> 14 | 0xC000
    assert source_port(local, remote) == source_port(remote, local)


def test_queue_pairs_spread_over_the_ports() -> None:
    rng = np.random.default_rng(0)
    ports = source_port(*rng.integers(1, 2**24, (2, 100_000)))
    assert ports.min() >= 49_152
    assert np.unique(ports).size > 0.98 * 16_384


def test_mixing_is_one_to_one_and_flips_half_of_the_bits() -> None:
    words = np.arange(1 << 16, dtype=np.uint32)
    assert np.unique(mix(words)).size == words.size
    for changed in (mix(words ^ np.uint32(1 << 7)), mix(words, salt=1 << 30)):
        flips = np.bitwise_count(mix(words) ^ changed)
        assert abs(flips.mean() - 16) < 0.2


def test_salts_make_choices_independent() -> None:
    """Two switches with different salts: all 64 pairs of choices among 8 are as frequent."""
    words = mix(np.arange(64_000), salt=99)
    first, second = pick(mix(words, 1), 8), pick(mix(words, 2), 8)
    counts = np.bincount(8 * first + second, minlength=64)
    assert np.sum((counts - 1000) ** 2 / 1000) < 120  # chi-square, 63 degrees: 120 is beyond 1 in 50,000
    same = np.bincount(8 * first + pick(mix(words, 1), 8), minlength=64)
    assert np.count_nonzero(same) == 8


def test_a_pick_is_even_and_in_range() -> None:
    for count in (1, 3, 7, 64):
        chosen = pick(mix(np.arange(100_000)), count)
        share = np.bincount(chosen, minlength=count) / 100_000
        assert share.size == count
        assert np.abs(share * count - 1).max() < 0.15


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: address(2**24), "rank = "),
        (lambda: address(-1), "rank = "),
        (lambda: five_tuple_hash(0, 1, 70_000), "port = .* give 0 to 65535"),
        (lambda: five_tuple_hash(0.5, 1, 1), "src = "),
        (lambda: source_port(2**24, 1), "local = "),
        (lambda: mix(0.5), "value = .* whole numbers"),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()
