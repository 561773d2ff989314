"""The registry: every fact complete and sourced, data sheets that agree, and directions that never mix."""

import datetime
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netlib import hardware
from netlib.hardware import Fact, bandwidth, fact, facts, node, nodes, ratio
from netlib.units import parse

BOOK = Path(__file__).parents[1] / "book" / "references.bib"
DATA = Path(hardware.__file__).with_name("hardware.toml")
KEYS = set(re.findall(r"^@\w+\{([\w-]+),", BOOK.read_text(encoding="utf-8"), re.MULTILINE))
BANDWIDTHS = [f for f in facts() if f.dimension == "bytes/s"]


@pytest.mark.parametrize("f", facts(), ids=lambda f: f.id)
def test_every_fact_is_complete(f: Fact) -> None:
    assert f.value > 0
    assert f.source in KEYS
    assert len(f.name) > 3
    assert len(f.locator) > 3
    assert isinstance(f.as_of, datetime.date)
    assert datetime.date(2020, 1, 1) < f.as_of <= datetime.date(2030, 1, 1)
    assert f.direction in hardware.DIRECTIONS
    assert f.scope in hardware.SCOPES
    assert f.kind in hardware.KINDS
    # computed PCIe rates are printed to five digits
    assert parse(f.printed).value == pytest.approx(f.value, rel=1e-4)


@pytest.mark.parametrize("f", facts(), ids=lambda f: f.id)
def test_direction_fits_what_is_measured(f: Fact) -> None:
    moving = f.dimension in ("bytes/s", "transfers/s") and f.kind != "memory"
    assert (f.direction != "not-applicable") == moving
    if f.kind == "count":
        assert f.dimension == "1"
        assert f.value == int(f.value)
    expected = {
        "memory": "bytes/s",
        "compute": "flop/s",
        "optics": "W",
        "power": "W",
        "reach": "m",
        "latency": "s",
    }.get(f.kind)
    assert expected in (None, f.dimension)


@pytest.mark.parametrize("f", BANDWIDTHS, ids=lambda f: f.id)
def test_text_says_one_way_and_reads_back_as_one_way(f: Fact) -> None:
    if f.direction == "not-applicable":
        assert f.text == f.printed
        return
    number, convention = f.text.split(", ")
    assert convention == "one way"
    assert parse(number).value == pytest.approx(f.one_way, rel=1e-4)
    assert f.one_way == pytest.approx(f.value / {"both-ways": 2, "one-way": 1}[f.direction])


@pytest.mark.parametrize("n", nodes(), ids=lambda n: n.id)
def test_every_node_is_complete(n: hardware.Node) -> None:
    assert n.source in KEYS
    assert n.confidence in ("primary", "secondary")
    assert n.status in ("shipping", "announced")
    assert n.up == fact(n.nvlink).one_way
    assert n.out * n.gpus == pytest.approx(n.nics * fact(n.nic).one_way)
    assert n.up > n.out  # scale-up is the faster of the two in every node so far
    # what is announced stays announced: a shipping node cannot be built of announced parts
    if n.status == "shipping":
        assert {fact(n.nvlink).status, fact(n.nic).status} == {"shipping"}


# ---------------------------------------------------------------- the data sheets against each other


@pytest.mark.parametrize("generation", [3, 4, 5, 6])
def test_nvlink_per_gpu_is_links_times_link(generation: int) -> None:
    gpu, link, links = (fact(f"nvlink{generation}{end}") for end in ("", "-link", "-links"))
    assert gpu.value == links.value * link.value
    assert gpu.direction == link.direction == "both-ways"


def test_nvlink_per_gpu_one_way_by_hand() -> None:
    assert [bandwidth(f"nvlink{g}") / 1e9 for g in (3, 4, 5, 6)] == [300, 450, 900, 1800]


@pytest.mark.parametrize(
    ("total", "of"),
    [
        ("dgx-a100-nvlink-total", "dgx-a100"),
        ("dgx-h100-nvlink-total", "dgx-h100"),
        ("dgx-h100-nvlink-total", "dgx-h200"),
        ("dgx-b200-nvlink-total", "dgx-b200"),
        ("nvl72-nvlink-total", "gb200-nvl72"),
        ("rubin-nvlink-total", "rubin-nvl72"),
    ],
)
def test_node_totals_are_gpus_times_gpu(total: str, of: str) -> None:
    n = node(of)
    # the rack totals are rounded to 130 and 260
    assert bandwidth(total) == pytest.approx(n.gpus * n.up, rel=0.004)


def test_the_cut_of_256_hopper_gpus_is_half_of_a_full_one() -> None:
    """Sold as 57.6 TB/s and as 9 times 256 A100 with 200 Gb/s ports: both ways, through a 2:1 taper."""
    assert bandwidth("nvlink4-256-cut") == 256 / 2 * bandwidth("nvlink4") / 2
    assert bandwidth("nvlink4-256-cut") == pytest.approx(9 * 256 / 2 * bandwidth("hdr-200"))


@pytest.mark.parametrize("id", ["p4d", "p5", "p5en", "p6-b200"])
def test_cloud_nodes_add_up_to_their_network_total(id: str) -> None:
    n = node(id)
    assert n.nics * bandwidth(n.nic) == bandwidth(f"{id}-network")


def test_nodes_by_hand() -> None:
    out = {n.id: n.out / 1e9 for n in nodes()}
    assert out["dgx-a100"] == 25
    assert out["dgx-h100"] == out["dgx-h200"] == out["dgx-b200"] == out["gb200-nvl72"] == 50
    assert out["p5"] == out["p5en"] == out["p6-b200"] == 50
    assert out["p4d"] == out["p4de"] == 6.25
    assert out["rubin-nvl72"] == 200
    assert [node(f"dgx-{g}").switches for g in ("a100", "h100", "h200", "b200")] == [6, 4, 4, 2]


@pytest.mark.parametrize(
    ("id", "ports"), [("dgx-a100", "nvswitch2-ports"), ("dgx-h100", "nvswitch3-ports"), ("dgx-b200", "nvswitch4-ports")]
)
def test_nvswitches_have_ports_for_every_link(id: str, ports: str) -> None:
    n = node(id)
    assert n.gpus * fact(f"{n.nvlink}-links").value <= n.switches * fact(ports).value


def test_nvl72_uses_every_switch_port() -> None:
    n = node("gb200-nvl72")
    assert n.gpus * fact("nvlink5-links").value == n.switches * fact("nvswitch4-ports").value == 1296


@pytest.mark.parametrize("generation", [3, 4])
def test_a_switch_chip_is_ports_times_link(generation: int) -> None:
    link = fact(f"nvlink{generation + 1}-link")
    assert fact(f"nvswitch{generation}").value == fact(f"nvswitch{generation}-ports").value * link.value


@pytest.mark.parametrize(("generation", "rate"), [(4, 31.508e9), (5, 63.015e9), (6, 121.0e9)])
def test_pcie_is_computed_from_the_lane(generation: int, rate: float) -> None:
    lane, x16 = fact(f"pcie{generation}-lane"), fact(f"pcie{generation}-x16")
    assert x16.value == pytest.approx(rate, rel=1e-5)
    # by another road: 16 lanes, a bit per transfer, eight bits a byte, and what the coding leaves
    assert x16.value / (lane.value * 16 / 8) == pytest.approx(242 / 256 if generation == 6 else 128 / 130)


@pytest.mark.parametrize("chip", ["v5e", "v5p", "v6e", "v7"])
def test_ici_per_chip_is_links_times_link(chip: str) -> None:
    links = fact(f"ici-{chip}-links").value
    assert bandwidth(f"ici-{chip}-chip") == links * bandwidth(f"ici-{chip}")


def test_ici_one_way_by_hand() -> None:
    assert [bandwidth(f"ici-{c}") / 1e9 for c in ("v4", "v5e", "v5p", "v6e", "v7")] == [45, 50, 100, 100, 100]


def test_achieved_never_beats_nominal() -> None:
    for achieved, nominal in [
        ("nvlink3-copy", "nvlink3"),
        ("nvlink4-copy", "nvlink4"),
        ("nvlink5-copy", "nvlink5"),
        ("nvlink-h800-achieved", "nvlink-h800"),
        ("pcie5-x16-copy", "pcie5-x16"),
        ("efa-200-write", "efa-200"),
    ]:
        assert fact(achieved).basis == "achieved"
        assert 0.75 < ratio(f"{achieved}/{nominal}") < 1


def test_a_nic_does_not_outrun_its_port() -> None:
    assert bandwidth("cx7") == bandwidth("ndr-400") == bandwidth("ethernet-400")
    assert bandwidth("cx8") == bandwidth("xdr-800") == bandwidth("ethernet-800")
    assert bandwidth("cx6") == bandwidth("hdr-200")
    assert bandwidth("cx9-adapter") == 2 * bandwidth("cx9")


def test_hgx_prints_the_sparse_double_of_eight_gpus() -> None:
    assert fact("bf16-b200").value == 36e15 / 8 / 2
    assert fact("bf16-h100").value == pytest.approx(989.4e12)
    assert [fact(f"bf16-{g}").value / 1e12 for g in ("a100", "gb200", "h20")] == [312, 2500, 148]


# ---------------------------------------------------------------- the traps


def test_the_28x_trap() -> None:
    """NVLink 5 is 14.3 x PCIe 5, not 28: 1800 both ways over 63 one way mixes conventions."""
    assert ratio("nvlink5/pcie5-x16") == pytest.approx(14.28, abs=0.01)
    assert fact("nvlink5").value / fact("pcie5-x16").value == pytest.approx(28.6, abs=0.1)
    with pytest.raises(ValueError, match="nvlink5 is printed both-ways, pcie5-x16 one-way"):
        ratio("nvlink5/pcie5-x16", as_printed=True)


def test_the_other_ratios_of_the_ladder() -> None:
    assert ratio("nvlink5/ndr-400") == 18
    assert ratio("nvlink4/ndr-400") == 9
    assert ratio("nvlink5/xdr-800") == 9
    assert ratio("hbm-h100/nvlink4") == pytest.approx(7.44, abs=0.01)
    assert ratio("nvlink6/nvlink5", as_printed=True) == 2
    assert ratio("bf16-gb200/bf16-b200") == pytest.approx(10 / 9)


def test_bits_are_not_bytes() -> None:
    assert bandwidth("ndr-400") == 400e9 / 8
    # an older version of the page prints the same figure one way and in bits
    assert fact("ici-v5p-chip").one_way == parse("4800 Gb/s").value


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("nvlink4/bf16-h100", "divides bytes/s by flop/s"),
        ("nvlink4", "two fact ids with one slash"),
        ("nvlink4/ndr-400/xdr-800", "two fact ids with one slash"),
        ("nvlink4/ndr400", "did you mean ndr-400"),
    ],
)
def test_ratio_refuses_what_makes_no_sense(pair: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ratio(pair)


@pytest.mark.parametrize("id", ["bf16-h100", "optics-400-watts", "nvlink4-links", "pcie5-lane"])
def test_bandwidth_refuses_what_is_none(id: str) -> None:
    with pytest.raises(ValueError, match="is not a bandwidth"):
        bandwidth(id)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fact("nvlink-4"), "did you mean .*nvlink4"),
        (lambda: fact("warp-drive-9000"), "is not in the registry; see netlib.hardware.facts"),
        (lambda: node("dgx-h10"), "did you mean .*dgx-h100"),
        (lambda: node("zzz"), r"see netlib.hardware.nodes\(\)"),
        (lambda: facts("nvlonk"), "kind = 'nvlonk' is not one of nvlink"),
        (lambda: bandwidth("ndr"), "did you mean"),
    ],
)
def test_unknown_names_get_one_clear_sentence(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["direction", "scope", "basis", "status", "kind", "confidence"])
def test_an_illegal_field_is_refused(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"name": "x", "kind": "nic", "value": "1 GB/s", "direction": "one-way", "scope": "port"}
    row |= {"basis": "nominal", "status": "shipping", "source": "s", "locator": "l"}
    row["as_of"] = datetime.date(2026, 1, 1)  # type: ignore[assignment]
    monkeypatch.setattr(hardware, "_tables", lambda: {"fact": {"odd": {**row, field: "sideways"}}})
    hardware._facts.cache_clear()
    try:
        with pytest.raises(ValueError, match=f"fact 'odd': {field} = 'sideways' is not one of"):
            fact("odd")
    finally:
        hardware._facts.cache_clear()


# ---------------------------------------------------------------- the file and the import


def test_facts_by_kind_cover_the_registry() -> None:
    assert sum(len(facts(kind)) for kind in hardware.KINDS) == len(facts()) == len({f.id for f in facts()})
    assert all(facts(kind) for kind in hardware.KINDS)


def test_the_registry_holds_what_the_book_promises() -> None:
    """NVLink 3-6, PCIe 4-6, InfiniBand, Ethernet, ICI v4-v7, memory, ConnectX-7/8/9, DGX, NVL72, EFA nodes."""
    promised = """nvlink3 nvlink4 nvlink5 nvlink6 nvlink-h800 nvlink-h20 pcie4-x16 pcie5-x16 pcie6-x16
        hdr-200 ndr-400 xdr-800 ethernet-100 ethernet-200 ethernet-400 ethernet-800
        ici-v4 ici-v5e ici-v5p ici-v6e ici-v7 cx7 cx8 cx9
        hbm-a100-40 hbm-a100-80 hbm-h100 hbm-h200 hbm-b200 hbm-b300 hbm-gb200 hbm-v4 hbm-v5p hbm-v7
        bf16-a100 bf16-h100 bf16-h200 bf16-b200 bf16-gb200"""
    assert {f.id for f in facts()} >= set(promised.split())
    promised = "dgx-a100 dgx-h100 dgx-h200 dgx-b200 gb200-nvl72 rubin-nvl72 p4d p4de p5 p5en p6-b200"
    assert {n.id for n in nodes()} >= set(promised.split())


def test_no_source_is_a_bare_claim() -> None:
    for f in (*facts(), *nodes()):
        assert f.confidence in ("primary", "secondary")
    share = sum(f.confidence == "primary" for f in facts()) / len(facts())
    assert share > 0.5  # most figures were read where they are said to stand


def test_the_data_file_has_no_stray_table() -> None:
    assert set(hardware._tables()) == {"fact", "node"}
    text = DATA.read_text(encoding="utf-8")
    assert len(re.findall(r"^\[fact\.", text, re.MULTILINE)) == len(facts())
    assert len(re.findall(r"^\[node\.", text, re.MULTILINE)) == len(nodes())


def test_import_is_light() -> None:
    """No numpy, no matplotlib: the prose roles and the command line load the registry at every start."""
    code = "import sys, netlib.hardware as h; h.facts(); print({'numpy', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_no_value_is_nan() -> None:
    assert all(math.isfinite(f.value) for f in facts())
