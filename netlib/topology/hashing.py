"""Hashing: how a switch turns the head of a packet into one of its links.

ECMP keeps the packets of a flow in order by sending all of them the way that a hash of their five-tuple says: source
and destination address, protocol, source and destination port. RDMA over Ethernet (RoCEv2) is UDP to port 4791, so two
hosts differ from each other in their addresses only, and their queue pairs in the UDP source port alone. Read with the
chapter "Scale-out", section "Where the bytes go".
"""

import zlib
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, formula, quoted

Words = NDArray[np.uint32]

ROCE_PORT = 4791
"""UDP destination port of RoCEv2 (IANA; InfiniBand Architecture Annex A17)."""
_UDP = 17
_LENGTH = 13  # bytes: two addresses of 4, protocol of 1, two ports of 2


def address(rank: ArrayLike, name: str = "rank") -> Words:
    """IPv4 address of a host as a number: 10.x.y.z, where x, y and z are the three bytes of its rank.

    >>> [f"{int(address(258)) >> shift & 255}" for shift in (24, 16, 8, 0)]
    ['10', '0', '1', '2']
    """
    return np.asarray(np.uint32(10 << 24) | _whole(name, rank, 1 << 24))


@formula
def source_port(local: ArrayLike, remote: ArrayLike) -> Words:
    """UDP source port of a RoCEv2 queue pair, from the numbers of the two queue pairs (24 bits each).

    The product is folded to a flow label of 20 bits, that to 14 bits, and 49152 added: the convention that Linux offers
    to drivers (rdma_calc_flow_label and rdma_flow_label_to_udp_sport in include/rdma/ib_verbs.h). So a connection has
    one port for life, there are 16,384 of them, and more queue pairs are what makes more paths: NCCL opens
    NCCL_IB_QPS_PER_CONNECTION of them. Applications may set another port (mlx5dv_modify_qp_udp_sport in rdma-core).

    >>> int(source_port(1, 1)), int(source_port(3, 5) - 49152)
    (49153, 15)
    """
    product = _whole("local", local, 1 << 24).astype(np.uint64) * _whole("remote", remote, 1 << 24)
    product ^= product >> np.uint64(20)
    product ^= product >> np.uint64(40)
    label = (product & np.uint64(0xFFFFF)).astype(np.uint32)
    return np.asarray(((label & np.uint32(0x3FFF)) ^ (label >> np.uint32(14))) | np.uint32(0xC000))


@formula
def five_tuple_hash(src: ArrayLike, dst: ArrayLike, port: ArrayLike) -> Words:
    """CRC-32 (IEEE 802.3) of the five-tuple of RoCEv2 packets from rank `src` to `dst` with UDP source port `port`.

    The 13 bytes in network order: source address, destination address, 17, `port`, 4791. Broadcasts. A CRC is linear:
    the hash of the whole is the exclusive-or of what each byte adds, so no pair is hashed byte by byte here, and
    two flows whose heads differ in the same bits differ in the same bits of their hash. Switches document a choice of
    hashes with a CRC among them, seldom which one, so this is a model of a good one.

    >>> import zlib
    >>> head = bytes([10, 0, 0, 1, 10, 0, 0, 2, 17, 0xC0, 0x00, 4791 >> 8, 4791 & 255])
    >>> int(five_tuple_hash(1, 2, 0xC000)) == zlib.crc32(head)
    True
    """
    parts = (
        _part(address(src, "src"), range(4)),
        _part(address(dst, "dst"), range(4, 8)),
        _part(_whole("port", port, 1 << 16), range(9, 11)),
    )
    fixed = bytearray(_LENGTH)
    fixed[8], fixed[11:13] = _UDP, ROCE_PORT.to_bytes(2, "big")
    return np.asarray(parts[0] ^ parts[1] ^ parts[2] ^ np.uint32(zlib.crc32(fixed)))


@formula
def mix(value: ArrayLike, salt: ArrayLike = 0) -> Words:
    """Scramble 32-bit words: each bit of `value` and of `salt` changes about half of the bits of the result.

    The finisher of MurmurHash3 (Appleby, public domain): shift, multiply by an odd constant, twice. Switches salt their
    hash each with a number of its own, so that what one switch decided says nothing about the next. One to one.

    >>> int(mix(0)), f"{int(mix(1)):x}", f"{int(mix(1, salt=2)):x}"
    (0, '514e28b7', '85f0b427')
    """
    word = np.atleast_1d(np.bitwise_xor(_whole("value", value, 1 << 32), _whole("salt", salt, 1 << 32)))
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        word ^= word >> np.uint32(shift)
        word *= np.uint32(factor)
    word ^= word >> np.uint32(16)
    return word.reshape(np.broadcast_shapes(np.shape(value), np.shape(salt)))


def pick(value: Words, count: ArrayLike) -> NDArray[np.int64]:
    """One of `count` from a scrambled word: the high half of word x count, even to count / 2^32 (Lemire 2019).

    >>> pick(np.array([0, 2**31, 2**32 - 1], np.uint32), 8).tolist()
    [0, 4, 7]
    """
    return np.asarray((value.astype(np.int64) * np.asarray(count)) >> 32)


def _part(word: Words, at: range) -> Words:
    """What the bytes of `word`, placed at positions `at`, add to the CRC."""
    found = np.zeros_like(word)
    for position in at:
        byte = (word >> np.uint32(8 * (at.stop - 1 - position))) & np.uint32(255)
        found ^= _share(position)[byte]
    return found


@cache
def _share(position: int) -> Words:
    """(256,) what each value of the byte at this position adds to the CRC of the five-tuple."""
    heads = (bytes(position) + bytes([value]) + bytes(_LENGTH - 1 - position) for value in range(256))
    return np.array([zlib.crc32(head) ^ zlib.crc32(bytes(_LENGTH)) for head in heads], np.uint32)


def _whole(name: str, value: ArrayLike, limit: int) -> Words:
    given = array(name, value)
    if given.dtype.kind not in "iu" or (given.size and (given.min() < 0 or given.max() >= limit)):
        raise ValueError(f"{name} = {quoted(value)} must be whole numbers; give 0 to {limit - 1}")
    return given.astype(np.uint32, copy=False)
