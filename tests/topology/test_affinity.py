"""Affinity: the matrices that people published, and small trees whose codes follow from the definitions."""

import numpy as np
import pytest

from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import Affinity, affinity, dgx_h100_tree, hgx_h100, node_tree, pcie_tree

PCIE, NVLINK = Link(0, 32e9), Link(0, 25e9)

# vllm-project/vllm issue 6746 (8 x H100, 12 ports): X itself, V = NV18, I = PIX, P = PXB, N = NODE, S = SYS
H100 = """
    XVVVVVVV PNNNNN SSSSSS    VXVVVVVV NNNPNN SSSSSS    VVXVVVVV NNNNPN SSSSSS    VVVXVVVV NNNNNP SSSSSS
    VVVVXVVV SSSSSS PNNNNN    VVVVVXVV SSSSSS NNNPNN    VVVVVVXV SSSSSS NNNNPN    VVVVVVVX SSSSSS NNNNNP
    PNNNSSSS XNNNNN SSSSSS    NNNNSSSS NXINNN SSSSSS    NNNNSSSS NIXNNN SSSSSS
    NPNNSSSS NNNXNN SSSSSS    NNPNSSSS NNNNXN SSSSSS    NNNPSSSS NNNNNX SSSSSS
    SSSSPNNN SSSSSS XNNNNN    SSSSNNNN SSSSSS NXINNN    SSSSNNNN SSSSSS NIXNNN
    SSSSNPNN SSSSSS NNNXNN    SSSSNNPN SSSSSS NNNNXN    SSSSNNNP SSSSSS NNNNNX
"""

# lattice/quda issue 669 (8 PCIe GPUs, one NIC on the second socket); H = PHB
PCIE_BOX = "XIPPSSSSS IXPPSSSSS PPXISSSSS PPIXSSSSS SSSSXIPPH SSSSIXPPH SSSSPPXIH SSSSPPIXH SSSSHHHHX"

LETTERS = {"X": "X", "V": "NV18", "I": "PIX", "P": "PXB", "H": "PHB", "N": "NODE", "S": "SYS"}


def written(text: str, devices: int) -> np.ndarray:
    return np.array([LETTERS[letter] for letter in "".join(text.split())]).reshape(devices, devices)


def test_a_dgx_h100_prints_the_published_matrix() -> None:
    found = affinity(dgx_h100_tree())
    assert np.array_equal(found.codes, written(H100, 20))
    assert found.names == tuple([f"GPU{i}" for i in range(8)] + [f"NIC{i}" for i in range(12)])
    assert found.numa.tolist() == [0] * 4 + [1] * 4 + [0] * 6 + [1] * 6
    assert found.nearest_nics() == tuple((f"NIC{i}",) for i in (0, 3, 4, 5, 6, 9, 10, 11))


def test_a_pcie_box_prints_the_published_matrix() -> None:
    found = affinity(pcie_tree())
    assert np.array_equal(found.codes, written(PCIE_BOX, 9))
    assert found.nearest_nics() == (("NIC0",),) * 8


def test_the_nvlinks_of_the_node_are_those_of_its_board() -> None:
    tree, board = dgx_h100_tree(alpha=1e-7), hgx_h100()
    links = tree.of_kind("nvlink")
    assert links.sum() == board.links
    ends = [
        sorted(np.bincount(each.target[use & (each.source == 3)]))
        for each, use in ((tree, links), (board, board.capacity > 0))
    ]
    assert [n for n in ends[0] if n] == [n for n in ends[1] if n] == [4, 4, 5, 5]
    assert set(tree.capacity[tree.of_kind("pcie")]) == {bandwidth("pcie5-x16")}
    assert set(tree.latency) == {1e-7}
    assert not tree.forwards[tree.hosts].any()


def code(parents: dict[str, str], nvlinks: dict[tuple[str, str], int] | None = None) -> str:
    """The code between GPU0 and the last device."""
    return str(affinity(node_tree("box", parents, PCIE, nvlinks=nvlinks, nvlink=NVLINK)).codes[0, -1])


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"GPU0": "PCI0", "NIC0": "PCI0", "PCI0": "CPU0"}, "PIX"),
        ({"GPU0": "PCI0", "NIC0": "PCI1", "PCI0": "PCI1", "PCI1": "CPU0"}, "PXB"),
        ({"GPU0": "CPU0", "NIC0": "CPU0"}, "PHB"),
        ({"GPU0": "HB0", "NIC0": "HB0", "HB0": "CPU0"}, "PHB"),
        ({"GPU0": "HB0", "NIC0": "HB1", "HB0": "CPU0", "HB1": "CPU0"}, "NODE"),
        ({"GPU0": "HB0", "NIC0": "CPU0", "HB0": "CPU0"}, "NODE"),
        ({"GPU0": "PCI0", "NIC0": "PCI1", "PCI0": "CPU0", "PCI1": "CPU0"}, "PHB"),
        ({"GPU0": "CPU0", "NIC0": "CPU1"}, "SYS"),
        ({"GPU0": "PCI0", "PCI0": "HB0", "HB0": "CPU0", "NIC0": "HB1", "HB1": "CPU3"}, "SYS"),
    ],
)
def test_codes_follow_from_what_the_path_crosses(parents: dict[str, str], expected: str) -> None:
    assert code(parents) == expected


def test_nvlinks_are_counted_directly_and_through_switches() -> None:
    pair = {"GPU0": "CPU0", "GPU1": "CPU1"}
    assert code(pair, {("GPU0", "GPU1"): 4}) == "NV4"
    assert code(pair, {("GPU0", "NVS0"): 5, ("GPU1", "NVS0"): 4, ("NVS1", "GPU0"): 2, ("NVS1", "GPU1"): 2}) == "NV6"
    assert code(pair, {("GPU0", "NVS0"): 5, ("GPU1", "NVS1"): 5}) == "SYS"


def test_a_device_that_has_fallen_off_the_bus_has_no_path() -> None:
    box = node_tree("box", {"GPU0": "CPU0", "NIC0": "CPU0"}, PCIE)
    assert affinity(box.without(cables=[0])).codes.tolist() == [["X", "N/A"], ["N/A", "X"]]


def test_moving_one_nic_changes_the_matrix() -> None:
    parents = {"GPU0": "PCI0", "GPU1": "PCI1", "NIC0": "PCI0", "PCI0": "CPU0", "PCI1": "CPU1"}
    near = [affinity(node_tree("box", parents | {"NIC0": at}, PCIE)).codes[:2, 2].tolist() for at in ("PCI0", "PCI1")]
    assert near == [["PIX", "SYS"], ["SYS", "PIX"]]


def test_the_sockets_are_joined_by_their_own_link() -> None:
    box = node_tree("box", {"GPU0": "CPU0", "NIC0": "CPU1", "GPU1": "CPU2"}, PCIE, socket=Link(0, 20e9))
    assert box.capacity[box.of_kind("socket")].tolist() == [20e9] * 6
    assert box.label("numa")[box.hosts].tolist() == [0, 2, 1]


def test_the_text_has_the_cells_of_nvidia_smi() -> None:
    lines = affinity(pcie_tree()).text.split("\n")
    assert lines[0].split("\t") == ["", *[f"GPU{i}" for i in range(8)], "NIC0", "NUMA Affinity"]
    assert lines[5].split("\t") == ["GPU4", *["SYS"] * 4, " X ", "PIX", "PXB", "PXB", "PHB", "1"]
    assert lines[9].split("\t") == ["NIC0", *["SYS"] * 4, *["PHB"] * 4, " X ", ""]


def test_equally_near_nics_are_all_named_and_a_node_may_have_none() -> None:
    box = affinity(node_tree("box", {"GPU0": "CPU0", "NIC0": "CPU0", "NIC1": "CPU0", "NIC2": "CPU1"}, PCIE))
    assert isinstance(box, Affinity)
    assert box.nearest_nics() == (("NIC0", "NIC1"),)
    assert affinity(node_tree("box", {"GPU0": "CPU0"}, PCIE)).nearest_nics() == ((),)


GOOD = {"GPU0": "CPU0", "GPU1": "CPU0"}


@pytest.mark.parametrize(
    ("parents", "nvlinks", "nvlink", "sentence"),
    [
        ({"GPU": "CPU0"}, None, None, "parents = 'GPU' is no part of a node; use GPU, NIC, PCI"),
        ({"GPU0": "GPU1"}, None, None, "parents puts GPU0 under GPU1"),
        ({"CPU0": "PCI0"}, None, None, "parents puts CPU0 under PCI0"),
        ({"GPU0": "PCI0"}, None, None, "parents leads from GPU0 to PCI0; every chain must end at a CPU"),
        ({"PCI0": "PCI1", "PCI1": "PCI0"}, None, None, "parents leads from PCI0 to PCI1"),
        (GOOD, {("GPU0", "CPU0"): 1}, NVLINK, "nvlinks joins GPU0 and CPU0; an NVLink joins two GPUs"),
        (GOOD, {("GPU0", "GPU0"): 1}, NVLINK, "nvlinks joins GPU0 and GPU0"),
        (GOOD, {("GPU0", "GPU1"): 0}, NVLINK, "nvlinks = 0 must be a whole number"),
        (GOOD, {("GPU0", "GPU1"): 4}, None, "nvlink = None has no rate"),
        (GOOD, {("GPU0", "GPU7"): 4}, NVLINK, "parents leads from GPU7 to GPU7"),
    ],
)
def test_what_is_no_tree_is_refused(parents, nvlinks, nvlink, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        node_tree("box", parents, PCIE, nvlinks=nvlinks, nvlink=nvlink)


def test_a_fabric_without_parts_has_no_affinity() -> None:
    with pytest.raises(ValueError, match="label = 'part' is unknown"):
        affinity(hgx_h100())
