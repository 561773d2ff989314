"""The drawing of a link ledger: what is drawn where, in which width and colour, and when it turns into a heat map."""

import numpy as np
import pytest

from netlib.course.draw import Picture
from netlib.course.explorer import Explorer
from netlib.course.fabric_layout import layout, vertex_names
from netlib.course.fabric_map import LedgerMap, ledger_map, on_intact
from netlib.course.figure import Diagram, Figure, Heat
from netlib.course.frame import frame
from netlib.course.twin import fill, tables
from netlib.links import Link
from netlib.topology import Cables, Fabric, build

LINK = Link(1e-6, 50e9)
_PAIR = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0], [1], LINK)])


def leaf_spine(leaves=4, spines=2, below=2, cables=1, labels=None) -> Fabric:
    """Hosts, leaves and spines, `cables` between each leaf and spine."""
    hosts = leaves * below
    leaf, spine = np.arange(hosts, hosts + leaves), np.arange(hosts + leaves, hosts + leaves + spines)
    a, b = np.repeat(leaf, spines * cables), np.tile(np.repeat(spine, cables), leaves)
    return build(
        "leaf-spine",
        hosts + leaves + spines,
        hosts=np.arange(hosts),
        tier=[0] * hosts + [1] * leaves + [2] * spines,
        cables=[Cables(np.arange(hosts), np.repeat(leaf, below), LINK, "access"), Cables(a, b, LINK)],
        labels=labels,
    )


def rails(nodes=4, rails=2) -> Fabric:
    """GPUs node by node, a leaf per rail, one spine, a switch inside each node."""
    hosts, v = nodes * rails, nodes * rails + rails + 1 + nodes
    rail = np.tile(np.arange(rails), nodes)
    inside = np.repeat(np.arange(v - nodes, v), rails)
    return build(
        "rails",
        v,
        hosts=np.arange(hosts),
        tier=[0] * hosts + [1] * rails + [2] + [0] * nodes,
        cables=[
            Cables(np.arange(hosts), hosts + rail, LINK, "access"),
            Cables(np.arange(hosts, hosts + rails), [hosts + rails] * rails, LINK),
            Cables(np.arange(hosts), inside, Link(0, 450e9), "nvlink"),
        ],
        labels={"rail": [*rail, *range(rails), -1, *[-1] * nodes]},
    )


def figure(found: LedgerMap) -> Figure:
    return Figure(elements=found.elements, x=found.x, y=found.y, reading="Seen.")


def draws(found: LedgerMap) -> bool:
    made = figure(found)
    return len(Picture(made, frame(made)).png()) > 5_000


def test_tiers_are_rows_and_links_have_names_in_the_twin():
    fabric = leaf_spine()
    found = ledger_map(fabric, np.full(fabric.links, 0.5))
    (drawn,) = found.elements
    at = np.asarray(drawn.at)
    assert at[:8, 1].tolist() == [0.0] * 8
    assert at[8:12, 1].tolist() == [0.5] * 4
    assert at[12:, 1].tolist() == [1.0] * 2
    assert (np.diff(at[:8, 0]) > 0).all()
    assert at[8, 0] == pytest.approx(at[:2, 0].mean()), "a leaf stands over its hosts"
    rows = fill(tables(figure(found))[0], figure(found))
    assert rows[0] == ["host 0 → leaf 0", "50.0 %"]
    assert [name for name, _ in rows][-1] == "spine 1 → leaf 3"
    assert draws(found)


def test_parallel_cables_are_one_wide_link_that_shows_the_fullest_that_works():
    fabric = leaf_spine(leaves=2, spines=1, below=1, cables=4)
    load = np.full(fabric.links, 0.25)
    trunk = np.flatnonzero(fabric.of_kind("trunk"))
    up = trunk[fabric.source[trunk] == 2]
    load[up] = [0.1, 1.5, np.nan, 0.2]
    load[trunk[fabric.source[trunk] == 3]] = np.nan
    (drawn,) = ledger_map(fabric, load).elements
    links = np.asarray(drawn.links).tolist()
    assert len(links) == 8
    assert np.asarray(drawn.width)[links.index([2, 4])] == pytest.approx(4 * 50e9)
    assert np.asarray(drawn.width)[links.index([0, 2])] == pytest.approx(50e9)
    assert np.asarray(drawn.load)[links.index([2, 4])] == 1.5
    assert np.isnan(np.asarray(drawn.load)[links.index([3, 4])])


def test_one_line_may_stand_for_both_directions():
    fabric = leaf_spine(leaves=2, spines=1, below=1, cables=2)
    load = np.where(fabric.source < fabric.target, 0.2, 0.7)
    (drawn,) = ledger_map(fabric, load, both=False).elements
    assert np.asarray(drawn.links).tolist() == [[0, 2], [1, 3], [2, 4], [3, 4]]
    assert np.asarray(drawn.load).tolist() == [0.7] * 4
    assert np.asarray(drawn.width).tolist() == [50e9, 50e9, 100e9, 100e9]


def test_a_grid_of_states_keeps_its_axes():
    fabric = leaf_spine()
    load = np.linspace(0, 2, 6 * fabric.links).reshape(2, 3, fabric.links)
    (drawn,) = ledger_map(fabric, load).elements
    assert np.shape(drawn.load) == (2, 3, fabric.links)
    assert np.asarray(drawn.load)[1, 2] == pytest.approx(load[1, 2])
    big = leaf_spine(leaves=40, spines=4)
    field, state = ledger_map(big, np.zeros((2, 3, big.links))).elements
    assert np.shape(field.z)[:2] == np.shape(state.z)[:2] == (2, 3)


def test_a_failed_fabric_is_drawn_where_the_intact_one_was():
    fabric = leaf_spine()
    left = fabric.without(cables=[9], vertices=[13])
    load = on_intact(fabric, np.full(left.links, 0.5), cables=[9], vertices=[13])
    gone = np.isin(fabric.source, 13) | np.isin(fabric.target, 13)
    gone[[18, 19]] = True
    assert np.isnan(load).tolist() == gone.tolist()
    (drawn,) = ledger_map(fabric, load).elements
    assert np.asarray(drawn.at).tolist() == layout(fabric).tolist()
    with pytest.raises(ValueError, match=r"load has shape \(3,\); \d+ links are left"):
        on_intact(fabric, np.zeros(3), cables=[9])


def test_rails_are_columns_and_parts_of_a_node_lie_below_its_hosts():
    fabric = rails()
    at = layout(fabric)
    rail, hosts = fabric.label("rail"), fabric.hosts
    for r in (0, 1):
        leaf = at[8 + r, 0]
        assert at[hosts[rail[hosts] == r], 0].mean() == pytest.approx(leaf)
    assert at[hosts[rail[hosts] == 0], 0].max() < at[hosts[rail[hosts] == 1], 0].min()
    assert at[11:, 1].tolist() == [0.0] * 4
    assert (at[hosts, 1] > 0).all()
    assert vertex_names(fabric)[:2] == ("host 0", "host 1")
    assert vertex_names(fabric)[8:] == ("leaf 0", "leaf 1", "spine 0", "part 0", "part 1", "part 2", "part 3")
    assert draws(ledger_map(fabric, np.full(fabric.links, 0.3)))


@pytest.mark.parametrize("label", ["pod", "plane", "group"])
def test_pods_stand_side_by_side(label):
    fabric = leaf_spine(labels={label: [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, -1, -1]})
    at = layout(fabric)
    pod = fabric.label(label)
    assert at[pod == 0, 0].max() < at[pod == 1, 0].min()
    space = at[4, 0] - at[3, 0]
    assert space > at[1, 0] - at[0, 0], "a gap between pods"
    assert at[12:, 0].tolist() == [0.25, 0.75], "what belongs to no pod spreads over all"


def test_hosts_may_be_left_out_and_names_and_places_given():
    fabric = leaf_spine()
    load = np.arange(fabric.links) / fabric.links
    (drawn,) = ledger_map(fabric, load, hosts=False).elements
    assert drawn.boxes == ("leaf 0", "leaf 1", "leaf 2", "leaf 3", "spine 0", "spine 1")
    assert np.asarray(drawn.load).tolist() == load[fabric.of_kind("trunk")].tolist()
    names = [f"v{i}" for i in range(14)]
    (drawn,) = ledger_map(fabric, load, boxes=names, at=np.full((14, 2), 0.5), fill=np.full((2, 14), 0.1)).elements
    assert drawn.boxes == tuple(names)
    assert np.shape(drawn.fill) == (2, 14)
    with pytest.raises(ValueError, match="boxes has 3 entries; give one for each of the 14 vertices"):
        ledger_map(fabric, load, boxes=["a", "b", "c"])
    with pytest.raises(ValueError, match="give one share for each of the 32 links, links last"):
        ledger_map(fabric, load[:-1])


def test_a_large_fabric_becomes_a_heat_map_in_the_same_colours():
    fabric = leaf_spine(leaves=32, spines=32, below=32)  # 1,024 hosts
    load = np.full(fabric.links, 0.5)
    hot, dead = 2 * 1024 + 2 * 5, 2 * 1024 + 2 * 70  # leaf 0's port to spine 5, leaf 2's to spine 6
    load[hot], load[dead] = 1.7, np.nan
    found = ledger_map(fabric, load)
    field, state = found.elements
    assert isinstance(field, Heat)
    assert isinstance(state, Heat)
    assert found.y.label == "tier (0 host, 1 leaf, 2 spine)"
    assert np.nanmax(field.z) == 0.5
    over = np.argwhere(state.z == 0)
    assert len(over) == 1
    assert 1 < field.y[over[0, 0]] < 1 + 1 / 16, "in the row of leaf 0 (and 1, which shares its cells)"
    assert field.x[over[0, 1]] >= 32, "among its ports up"
    assert not (state.z == 1).any(), "a cell whose neighbours still work shows them"
    assert len(fill(tables(figure(found))[0], figure(found))) == 9
    assert draws(found)


def test_a_heat_map_shows_broken_ports_and_leaves_missing_ones_blank():
    fabric = leaf_spine(leaves=14, spines=2, below=4)  # 72 boxes: rows and ports fit without sharing cells
    load = np.where(fabric.target == fabric.vertices - 1, np.nan, 0.2)
    field, state = ledger_map(fabric, load).elements
    assert (state.z == 1).sum() == 14
    assert np.isfinite(field.z).sum() == fabric.links - 14
    assert np.shape(field.z) == (14 + 14 + 2, 14)


def test_columns_may_be_rails():
    fabric = rails(nodes=40, rails=4)
    load = np.where(fabric.source == 2, 0.9, 0.1)  # node 0's GPU on rail 2
    found = ledger_map(fabric, load, by="rail")
    field, _ = found.elements
    assert np.shape(field.z) == (4, 4)
    assert field.z[0].tolist() == [0.1, 0.1, 0.9, 0.1]
    assert found.y.label == "step (0 host to leaf; 1 leaf to spine; 2 spine to leaf; 3 leaf to host)"
    with pytest.raises(ValueError, match="label = 'pod' is unknown"):
        ledger_map(fabric, load, by="pod")
    assert draws(found)


def torus(x=4, y=4, z=1) -> Fabric:
    at = np.stack(np.meshgrid(range(x), range(y), range(z), indexing="ij"), -1).reshape(-1, 3)
    n = np.arange(len(at)).reshape(x, y, z)
    sides = [(n, np.roll(n, -1, axis=d)) for d, side in enumerate((x, y, z)) if side > 2]
    cables = [Cables(a.ravel(), b.ravel(), LINK, "ici") for a, b in sides]
    labels = {f"x{d}": at[:, d] for d in range(3 if z > 1 else 2)}
    v = len(at)
    return build("torus", v, range(v), [0] * v, cables, labels, forwards=[True] * v)


def test_a_torus_lies_on_its_grid():
    at = layout(torus())
    assert at[0].tolist() == [0, 0]
    assert (at[15] > 0.9).all()
    assert at[4:9:4, 1].min() > 0, "the cable from host 12 back to host 0 runs beside hosts 4 and 8"
    assert len({tuple(p) for p in layout(torus(3, 3, 3)).round(3)}) == 27, "sheets do not cover each other"
    big = torus(4, 4, 8)
    field, _ = ledger_map(big, np.full(big.links, 0.5)).elements
    assert isinstance(field, Heat)
    assert np.shape(field.z)[0] == 4, "a row for each x0"
    assert draws(ledger_map(torus(), np.full(torus().links, 0.5)))


def test_a_dragonfly_stands_on_a_circle():
    groups, hosts = 3, 6
    router = np.arange(hosts, 2 * hosts)
    fabric = build(
        "dragonfly(1, 2, 1)",
        2 * hosts,
        hosts=range(hosts),
        tier=[0] * hosts + [1] * hosts,
        cables=[
            Cables(range(hosts), router, LINK, "access"),
            Cables(router[::2], router[1::2], LINK, "local"),
            Cables(router[[0, 1, 3]], router[[2, 4, 5]], LINK, "global"),
        ],
        labels={"group": [*[-1] * hosts, *np.repeat(range(groups), 2)]},
    )
    at = layout(fabric)
    centre = np.linalg.norm(at - 0.5, axis=1)
    assert (centre[:hosts] > centre[hosts:].mean()).all(), "hosts outside"
    apart = np.linalg.norm(at[router[::2]] - at[router[1::2]], axis=1)
    assert apart.max() < np.linalg.norm(at[router[0]] - at[router[2]])
    assert len({tuple(p) for p in at.round(3)}) == 12
    assert isinstance(ledger_map(fabric, np.full(fabric.links, 0.5)).elements[0], Diagram)
    found = ledger_map(fabric, np.where(fabric.of_kind("local"), 1.2, 0.5), hosts=False)
    assert (np.asarray(found.elements[0].load) > 1).sum() == 6
    assert draws(found)


def test_the_map_is_part_of_an_explorer():
    fabric = leaf_spine()
    made = figure(ledger_map(fabric, np.full(fabric.links, 0.5)))
    own = Explorer("sample-map", "A map", "What to see.", "What it looks like.", lambda: made, {})
    assert own.words(own.at(()), ()) == ("Seen.", "")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ledger_map("clos", [1.0]), "fabric = 'clos' is not a Fabric"),
        (lambda: ledger_map(_PAIR, ["a", "b"]), "load = .* must be finite numbers from 0"),
        (lambda: ledger_map(_PAIR, [-1.0, 0]), "load = .* must be finite numbers from 0"),
        (lambda: ledger_map(_PAIR, [np.inf, 0]), "load = .* must be finite"),
        (lambda: ledger_map(_PAIR, [1j, 0]), "load = .* must be finite"),
        (lambda: ledger_map(_PAIR, [[1], [1, 2]]), "load = .* rows of unequal length"),
        (lambda: ledger_map(_PAIR, [0, 0], at="x"), "at = 'x' must be finite numbers"),
        (lambda: ledger_map(_PAIR, [0, 0], fill=[-1, 0]), "fill = .* must be finite numbers from 0"),
        (lambda: ledger_map(_PAIR, [0, 0], boxes=5), "boxes = 5 must be a list"),
        (lambda: on_intact(_PAIR, [], cables=[99]), "cables = 99 is outside of this fabric"),
        (lambda: on_intact(_PAIR, [0, 0], cables="x"), "cables = 'x' must be whole numbers"),
    ],
)
def test_wrong_loads_are_refused_in_one_sentence(call, says):
    with pytest.raises(ValueError, match=says):
        call()
