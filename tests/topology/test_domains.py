"""NVLink domains: the published counts of racks and nodes, from the registry's facts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.hardware import fact, node, nodes
from netlib.links import Link
from netlib.topology import bisection, diameter, hgx_h100, nvl72, nvlink_domain, nvlink_node, path_count

LINK = Link(0, 25e9)
PORTS = {"nvlink3": "nvswitch2-ports", "nvlink4": "nvswitch3-ports", "nvlink5": "nvswitch4-ports"}


def per_pair(fabric) -> np.ndarray:
    """(gpus, switches) links between each GPU and each switch."""
    count = np.zeros((fabric.hosts.size, fabric.switches.size), int)
    np.add.at(count, (fabric.source[::2], fabric.target[::2] - fabric.hosts.size), 1)
    return count


def test_nvl72_has_one_link_from_every_gpu_to_every_chip() -> None:
    rack = nvl72(alpha=1e-7)
    assert (rack.hosts.size, rack.switches.size, rack.cables) == (72, 18, 1296)
    assert np.all(per_pair(rack) == 1)
    assert set(rack.degree[rack.switches]) == {fact("nvswitch4-ports").value}  # every port of a chip is in use
    assert set(rack.latency) == {1e-7}
    assert diameter(rack) == 2
    assert path_count(rack, 0, 71) == 18
    assert bisection(rack).bandwidth == 36 * node("gb200-nvl72").up == 32.4e12
    assert abs(rack.capacity.sum() - 130e12) < 1e12  # GB200 NVL72 data sheet: 130 TB/s, both ways


def test_hgx_h100_has_five_links_to_two_chips_and_four_to_two() -> None:
    """NVIDIA Fabric Manager user guide, GPU Baseboard Topologies."""
    box = hgx_h100()
    assert np.array_equal(np.sort(per_pair(box), axis=1), np.tile([4, 4, 5, 5], (8, 1)))
    assert box.capacity.sum() == fact("dgx-h100-nvlink-total").value  # data sheet: both ways


@pytest.mark.parametrize(("name", "links"), [("dgx-a100", 2), ("dgx-b200", 9)])
def test_other_boards_spread_their_links_evenly(name: str, links: int) -> None:
    """The same guide: two links to each of six chips (A100), nine to each of two (B200)."""
    assert np.all(per_pair(nvlink_node(name)) == links)


@pytest.mark.parametrize("box", [each for each in nodes() if each.nvlink in PORTS], ids=lambda each: each.id)
def test_every_node_of_the_registry_fits_its_switches(box) -> None:
    domain = nvlink_node(box.id)
    assert domain.degree[domain.switches].max() <= fact(PORTS[box.nvlink]).value
    assert np.allclose(domain.capacity[domain.source == 0].sum(), box.up)
    assert domain.name == box.name


@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 20))
def test_any_domain_gives_every_gpu_all_of_its_links(gpus: int, switches: int, more: int) -> None:
    links = switches + more
    domain = nvlink_domain(gpus, switches, links, LINK)
    pair = per_pair(domain)
    assert np.all(pair.sum(axis=1) == links)
    assert pair.max() - pair.min() <= 1
    assert np.array_equal(domain.source[::2], np.repeat(np.arange(gpus), links))
    if gpus > 1:
        assert bisection(domain).bandwidth == (gpus // 2) * links * 25e9


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ((0, 2, 2), "gpus = 0 must be a whole number"),
        ((8, 0, 2), "switches = 0 must be a whole number"),
        ((8, 4, 18.5), "links_per_gpu = 18.5 must be a whole number"),
        ((8, 4, 3), "links_per_gpu = 3 is fewer than the 4 switches"),
    ],
)
def test_what_is_no_domain_is_refused(values, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        nvlink_domain(*values, LINK)
