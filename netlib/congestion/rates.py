"""Rates: a speed in bytes/s, and the question to ask when it looks like Gb/s.

The speed of a link is told in bytes per second one way, and a reader types 400 by habit. No port of a cluster is slower
than a megabyte per second, so what is below was meant in another unit.
"""

from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats

LEAST = 1e6  # bytes/s: 8 Mb/s; Ethernet began at 10 Mb/s (IEEE 802.3)


@declared
def speed_of_port(name: str, value: ArrayLike, above: bool = False) -> Floats:
    """`value` as rates of ports in bytes/s, refused in one sentence if one lies between 0 and 1e6 bytes/s.

    `above`: 0 is refused too.

    >>> speed_of_port("rate", 50e9).tolist()
    50000000000.0
    >>> speed_of_port("rate", 400)
    Traceback (most recent call last):
    ValueError: rate = 400 is below 1e+06 bytes/s; is it in bytes/s? 400 Gb/s are 5e+10
    """
    rate = floats(name, value, above=above)
    slow = rate[(rate > 0) & (rate < LEAST)]
    if slow.size:
        first = float(slow.flat[0])
        meant = first if first >= 1 else 400.0  # 0.4 is hardly Gb/s
        raise ValueError(
            f"{name} = {first:g} is below {LEAST:g} bytes/s; is it in bytes/s? {meant:g} Gb/s are {meant * 1e9 / 8:g}"
        )
    return rate


def in_both_units(gbit: float) -> str:
    """What a speed in Gb/s is, for the sentence that refuses it; a value of bytes/s is said in Gb/s.

    >>> in_both_units(400), in_both_units(50e9)
    ('400 Gb/s are 5e+10 bytes/s', '5e+10 bytes/s are 400 Gb/s')
    """
    if gbit >= LEAST:
        return f"{gbit:g} bytes/s are {gbit * 8e-9:g} Gb/s"
    return f"{gbit:g} Gb/s are {gbit * 1e9 / 8:g} bytes/s"
