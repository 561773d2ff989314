"""Flows: who sends how much to whom, as lists of ranks; checked once, here.

A rank is a host's place in `fabric.hosts`. Read with the chapter "Scale-out", section "Where the bytes go".
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, floats, quoted
from netlib.topology.fabric import Fabric, Ints

Places = NDArray[np.int64]


def ranks(fabric: Fabric, src: ArrayLike, dst: ArrayLike) -> tuple[Places, Places]:
    """Two equally long lists of ranks, one of them repeated if it is single; or one sentence.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> [each.tolist() for each in ranks(one_switch(3, Link(1e-6, 50e9)), 0, [1, 2])]
    [[0, 0], [1, 2]]
    """
    found = []
    for name, value in (("src", src), ("dst", dst)):
        given = np.atleast_1d(array(name, value))
        if given.ndim > 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(f"{name} = {quoted(value)} must be a list of whole numbers; give ranks from 0")
        if given.size and not (given.min() >= 0 and given.max() < fabric.hosts.size):
            wrong = given[(given < 0) | (given >= fabric.hosts.size)][0]
            raise ValueError(f"{name} = {wrong} is no host's rank; give 0 to {fabric.hosts.size - 1}")
        found.append(given.astype(np.int64))
    if found[0].size != found[1].size and 1 not in (found[0].size, found[1].size):
        raise ValueError(f"src has {found[0].size} ranks and dst has {found[1].size}; a flow has one of each")
    source, target = np.broadcast_arrays(*found)
    return source, target


def ends(fabric: Fabric, src: ArrayLike, dst: ArrayLike) -> tuple[Ints, Ints]:
    """As `ranks`, the vertices.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> [each.tolist() for each in ends(one_switch(3, Link(1e-6, 50e9)), 0, [1, 2])]
    [[0, 0], [1, 2]]
    """
    source, target = ranks(fabric, src, dst)
    return fabric.hosts[source], fabric.hosts[target]


def sizes(size: ArrayLike, flows: int) -> Floats:
    """(flows,) bytes of each flow, from one number or one each; or one sentence.

    >>> sizes(5, 2).tolist()
    [5.0, 5.0]
    """
    weight = floats("size", size)
    if weight.shape not in ((), (1,), (flows,)):
        raise ValueError(f"size has shape {weight.shape} for {flows} flows; give one size, or one for each flow")
    return np.broadcast_to(weight, flows)
