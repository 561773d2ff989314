"""Every public function of the package, of nccl and of training, every argument wrong in every way: a result or one
clear sentence, at once."""

import inspect

import numpy as np
import pytest

from netlib import collectives
from netlib.collectives import (
    LogGP,
    nccl,
    nvls_allreduce,
    phase,
    ring_all_gather,
    ring_allreduce,
    ring_reduce_scatter,
    routing_of,
    schedule_of,
    training,
    wired,
)
from netlib.links import Link
from netlib.topology import one_switch
from tests.nonsense import NOT_OURS, needed, one_sentence_or_a_result

LINK = Link(1e-6, 50e9)
RING, STAR = ring_allreduce(4), one_switch(4, LINK)
MODEL, LAYOUT = training.model("gpt3-175b"), training.Layout(tp=8, dp=2, pp=8, microbatches=8)
MACHINE = training.Cluster("x", 1e15, 8e14, Link(0, 450e9), LINK)
ROUTING = routing_of([[[0, 3]], [[1, 2]]], total=4, g=2, nodes=1)
FLOWS = training.step_flows(MODEL, LAYOUT)
DGX = nccl.named("dgx-h100", 2)
RUN = training.runs("megatron")[0]

GIVEN = {  # a right value for each argument that has no default
    "n": 4,
    "size": 1e6,
    "sizes": [1e6],
    "link": LINK,
    "up": Link(0, 450e9),
    "out": LINK,
    "g": 4,
    "nodes": 2,
    "op": "all_reduce",
    "model": 1e9,
    "dp": 8,
    "tp": 8,
    "pp": 8,
    "ep": 8,
    "stage": 2,
    "schedule": RING,
    "buffers": np.ones((4, 4)),
    "fabric": STAR,
    "rng": np.random.default_rng(0),
    "time": 1e-3,
    "busbw": 1e11,
    "radix": 2,
    "sides": [2, 2],
    "tokens": 8,
    "hidden": 64,
    "width": 2,
    "layers": 4,
    "top_k": 2,
    "total": 8,
    "groups": 2,
    "levels": 2,
    "share": 0.9,
    "alpha": 1e-6,
    "bandwidth": 5e10,
    "volume": [[0, 6], [2, 0]],
    "order": [0, 2, 1, 3],
    "experts": [[[0, 3]], [[1, 2]]],
    "routing": ROUTING,
    "name": "x",
    "schedules": [RING, RING],
    "phases": [],
    "step": 0,
    "src": [0, 1],
    "dst": [1, 0],
    "chunk": [0, 1],
    "add": True,
    "cables": [1],
    "factor": 4.0,
    "L": 1e-6,
    "o": 1e-6,
    "G": 1e-11,
    "version": "2.30.7",
    "gpu": "Hopper",
    "per_node": 8,
    "settings": {"NCCL_ALGO": "ring"},
    "text": "NCCL_ALGO=ring",
    "cluster": DGX,
    "channels": 4,
    "p": 4,
    "m": 8,
    "v": 2,
    "layout": LAYOUT,
    "axis": "tp",
    "sequences": 16,
    "id": "gpt3-175b",
    "flows": FLOWS,
    "flow": FLOWS[0],
    "bucket": 25e6,
    "place": training.placement(LAYOUT, "tp", 8),
    "backward": [1.0, 1.0],
    "gradients": [1e7, 1e7],
    "cost": lambda size: size * 1e-9,
    "compute": [1.0, 1.0],
    "gather": [0.5, 0.5],
    "paper": "megatron",
    "run": RUN,
    "shape": MODEL,
    "small": lambda size: 1e-6 + 2 * size * 1e-9,
    "large": lambda size: 1e-5 + size * 1e-9,
    "reduce_inside": ring_reduce_scatter(4),
    "across": ring_allreduce(2),
    "gather_inside": ring_all_gather(4),
    "forward": 1.0,
    "overlapped": 2.5,
    "weight": 0.5,
    "count": 4,
    "intra": 1e9,
    "inter": 1e9,
    "ring": nccl.Channels(4, 1e10, 1e10),
    "tuning": nccl.tune("2.30.7", DGX),
    "rows": training.side_by_side(),
}
OWN = {
    "collectives": {
        "LogGP": {"g": 0.0},
        "expected_copies": {"total": 8},
        "routing_of": {"g": 2, "nodes": 1, "total": 4},
        "shard_bytes": {"tp": 8},
    },
    "nccl": {
        "named": {"name": "p5"},
        "variable": {"name": "NCCL_ALGO"},
        "last_size": {"algorithm": "Tree"},
        "symmetric_times": {"op": "all_reduce"},
    },
    "training": {
        "step_flows": {"model": MODEL},
        "step_time": {"model": MODEL, "cluster": MACHINE},
        "by_order": {"model": MODEL, "cluster": MACHINE},
        "call_time": {"cluster": MACHINE},
        "cluster": {"id": "a100"},
        "check_fit": {"model": MODEL},
        "stage_layers": {"model": MODEL},
        "token_copies": {"experts": 64, "ep": 8, "g": 8},
        "timetable": {"schedule": training.one_f_one_b(2, 4)},
        "dualpipe_idle": {"backward": 2.0},
        "zero_bubble_idle": {"backward": 2.0},
        "Cluster": {"peak": 1e15, "matmul": 8e14, "name": "x"},
        "placement": {"g": 8},
    },
}
for each in (
    "loggp_binomial_broadcast_time",
    "loggp_recursive_doubling_time",
    "loggp_ring_allreduce_time",
    "loggp_clock",
):
    OWN["collectives"][each] = {"model": LogGP(1e-6, 1e-6, 0, 1e-11)}
MADE = {
    "collectives": {"Counts", "Op", "Routing", "Run", "Step", "Wiring", "Phase", "Schedule"},
    "nccl": {"Choice", "Symmetric", "Tuning", "Variable", "Verdict"},
    "training": {
        "Beside",
        "Copies",
        "Flow",
        "Model",
        "Ordered",
        "Overlap",
        "Pipeline",
        "Placement",
        "PublishedRun",
        "Timetable",
        "TrainingStep",
    },
}
PACKAGES = {"collectives": collectives, "nccl": nccl, "training": training}
NAMES = [
    (package, name)
    for package, module in PACKAGES.items()
    for name in module.__all__
    if callable(getattr(module, name)) and name not in MADE[package]
]
ODD = (1, STAR, RING, DGX, MODEL, LAYOUT, ROUTING, lambda *given: None)


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_wrong_argument_gives_one_sentence_or_a_result(package: str, name: str) -> None:
    call = getattr(PACKAGES[package], name)
    one_sentence_or_a_result(call, needed(call, OWN[package].get(name, {}), GIVEN), *ODD)


SIZED = [
    name
    for package, name in NAMES
    if package == "collectives"
    and name != "depth"
    and {"n", "g", "nodes"} & {*inspect.signature(getattr(collectives, name)).parameters}
]


@pytest.mark.parametrize("name", SIZED)
def test_numpy_integers_count_as_pythons_do(name: str) -> None:
    """np.int8(12) squared is -112: counts of a data frame must not make another schedule."""
    call = getattr(collectives, name)
    parameters, right = inspect.signature(call).parameters, needed(call, OWN["collectives"].get(name, {}), GIVEN)
    counted = [each for each in ("n", "g", "nodes", "segments", "channels") if each in parameters]
    values = {each: 16 if each == "n" else 4 for each in counted}
    values |= {"total": 128} if "total" in parameters else {}
    values |= {"experts": np.arange(16)[:, None, None]} if "experts" in parameters else {}
    values |= {"phases": []} if "phases" in parameters else {}

    def made(kind: type) -> object:
        given = {each: kind(value) if each in counted else value for each, value in values.items()}
        rng = {"rng": np.random.default_rng(0)} if "rng" in parameters else {}
        return call(**{**right, **given, **rng})

    assert told(made(int)) == told(made(np.int8)) == told(made(np.uint8))


def told(value: object) -> object:
    """Something comparable."""
    if isinstance(value, collectives.Schedule):
        steps = [[each.tolist() for each in (s.src, s.dst, s.chunk, s.add)] for s in value.written_out()]
        return value.n, value.switches, value.weight.tolist(), value.source.tolist(), value.target.tolist(), steps
    return value.experts.tolist() if isinstance(value, collectives.Routing) else np.asarray(value).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: collectives.pairwise_all_to_all(10**5),
        lambda: ring_allreduce(10**4, channels=10**4),
        lambda: collectives.multirail_ring_allreduce(8, 10**7),
        lambda: collectives.hierarchical_allreduce(8, 1024, segments=10**5),
        lambda: nvls_allreduce(8, segments=10**7),
        lambda: collectives.torus_allreduce([10**5, 10**5]),
        lambda: collectives.rail_all_to_all(8, 10**4),
        lambda: collectives.routed(np.random.default_rng(0), 10**6, 256, 8, 8, 8),
        lambda: collectives.in_the_end(ring_allreduce(10**5)),
        lambda: collectives.is_correct(ring_allreduce(10**5), np.random.default_rng(0)),
        lambda: collectives.reduction_order(ring_allreduce(10**5)),
        lambda: schedule_of("x", "all_reduce", 2, [], chunks=10**10),
        lambda: schedule_of("x", "all_reduce", 2, [phase(0, 0, 1, 0, True, times=10**12)]),
        lambda: schedule_of("x", "all_reduce", 2, [phase(2 * 10**9, 0, 1, 0, True)]),
        lambda: collectives.side_by_side("x", [ring_allreduce(10**6)] * 20),
        lambda: training.gpipe(10**4, 10**4),
        lambda: training.groups(training.Layout(tp=10**4, dp=10**4), "tp"),
    ],
)
def test_what_would_fill_memory_is_refused_before_it_is_built(call) -> None:
    with pytest.raises(ValueError, match=r"more than"):
        call()


def by_hand(**other: object) -> collectives.Schedule:
    """A schedule of one message between two ranks, made without `schedule_of`."""
    right = {"name": "x", "op": "reduce", "n": 2, "phases": (phase(0, 0, 1, 0, True),), "weight": [1.0]}
    return collectives.Schedule(**{**right, "source": [-1], "target": [1], **other})


def phase_by_hand(**other: object) -> collectives.Phase:
    ints = {"step": [0, 1], "src": [0, 1], "dst": [1, 0], "chunk": [0, 1], "count": [1, 1]}
    arrays = {name: np.array(other.pop(name, value)) for name, value in ints.items()}
    return collectives.Phase(**{**arrays, "add": np.array([True, False]), **other})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: by_hand(n=0, target=[-1]), "n = 0 and switches = 0 must be at least 1 and 0"),
        (lambda: by_hand(n=2.0), "n = 2.0 must be a whole number"),
        (lambda: by_hand(switches=-1), "switches = -1 must be at least 1 and 0"),
        (lambda: by_hand(weight=[]), "weight is empty; give at least one chunk"),
        (lambda: by_hand(weight=[float("nan")]), "weight = nan is not a number; give one of at least 0"),
        (lambda: by_hand(source=[2]), r"source = \[2\] must hold ranks below n = 2"),
        (lambda: by_hand(target=[0, 1]), r"target = \[0, 1\] must be one whole number, or one for each of 1 chunks"),
        (lambda: by_hand(phases=[(0, 0, 1)]), "phases = .* must be a list of phases; make each with phase"),
        (lambda: by_hand(phases=None), "phases = None must be a list of phases"),
        (lambda: by_hand(phases=(phase(0, 0, 2, 0, True),)), r"phases must use ranks below n \+ switches = 2"),
        (lambda: phase_by_hand(src=[0]), "equally long"),
        (lambda: phase_by_hand(chunk=[0.5, 1]), "whole numbers"),
        (lambda: phase_by_hand(step=[1, 0]), "must ascend from 0"),
        (lambda: phase_by_hand(count=[0, 1]), "and count, times and stride from 1"),
        (lambda: phase_by_hand(times=2.5), "times = 2.5 must be a whole number"),
        (lambda: phase_by_hand(times=0), "count, times and stride from 1; make one with phase"),
        (lambda: phase_by_hand(src=[0, -1]), "counts ranks from 0"),
        (
            lambda: phase_by_hand().placed([[0]]),
            r"groups has shape \(1, 1\); give whole numbers \(G, n\), n at least 2",
        ),
        (
            lambda: phase_by_hand().placed([[0, 1]], offset=[1, 2, 3]),
            "offset = .* must be one whole number, or one for each",
        ),
        (lambda: phase(0, 0, 1, 2**31, True), "chunk = 2147483648 is beyond 2"),
        (lambda: schedule_of("x", "reduce", 2, [3]), "phases = 3 is not a Phase; make one with phase"),
        (
            lambda: collectives.in_turn("x", "all_reduce", [RING, 3]),
            "schedules = 3 is not a Schedule; make one with a builder",
        ),
        (
            lambda: collectives.execute(RING, np.full((4, 4), "a")),
            "buffers holds <U1, which does not add; give numbers",
        ),
        (lambda: collectives.expected(RING, np.ones((4, 3))), r"buffers has shape \(4, 3\); give \(4, 4, ...\)"),
        (lambda: collectives.torus_bytes(1, [2, 2], both_ways=3), "both_ways = 3 must be True or False"),
        (
            lambda: collectives.expected_copies(2, [8, 9], 4),
            r"total = \[8.0, 9.0\] experts must divide among groups = 4",
        ),
        (lambda: collectives.busbw_factor([2, 3], ["all_reduce"]), "op = .* must be text"),
        (lambda: collectives.crossover_size(LINK.time, lambda size: None), "large = None is not a number"),
        (lambda: nccl.Cluster("Hopper", 2, 8, 4), "ring = 4 is not a Channels; make one with"),
        (lambda: nccl.Cluster("Hopper", 1e9, 8, nccl.Channels(1, 1e9, 1e9)), "must be at most 1e9; give fewer nodes"),
        (lambda: nccl.Channels(1.5, 1e9, 1e9), "count = 1.5 must be whole"),
        (lambda: training.Layout(order=3), "order = 3 must name each of tp, cp, dp, pp once"),
        (lambda: training.Layout(order=["tp", "tp", "dp", "pp"]), "order = .* must name each"),
        (lambda: training.Widths(weight=0), "weight = 0 must be above 0 bytes a number"),
        (lambda: training.Cluster("x", 1, 1, 4, LINK), "up = 4 is not a Link"),
        (lambda: training.axis_bytes([3]), "flows = 3 is not a Flow"),
        (
            lambda: training.reduced([1.0, 1.0], [1.0, 1.0], 1, lambda size: [1.0, 2.0, 3.0]),
            r"cost returns shape \(3,\) for",
        ),
        (lambda: training.Model("x", "x", 1.5, 8, 1, 8, 8, 8, 0, ""), "layers = 1.5 must be a whole number"),
    ],
)
def test_the_sentence_names_the_argument_and_the_fix(call, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        call()
    assert "\n" not in str(error.value)


def test_a_schedule_made_by_hand_that_fits_runs() -> None:
    assert collectives.execute(by_hand(), [[1], [2]]).tolist() == [[1], [3]]
    empty = phase_by_hand(
        **{name: np.zeros(0, int) for name in ("step", "src", "dst", "chunk", "count")}, add=np.zeros(0, bool)
    )
    assert by_hand(phases=[empty]).steps == 0


def test_what_is_built_does_not_change_with_the_arrays_it_was_built_from() -> None:
    weight, source, src = np.ones(2), np.zeros(2, np.int32), np.array([0, 0], np.int32)
    made = schedule_of("x", "scatter", 2, [phase(0, src, 1, [0, 1], False)], weight=weight, source=source)
    weight[:], source[:], src[:] = 7, 1, 1
    assert (made.weight.tolist(), made.source.tolist(), made.phases[0].src.tolist()) == ([1, 1], [0, 0], [0, 0])
    factor, hosts = np.array([2.0]), np.array([0, 1, 2, 3])
    slow, places = collectives.slowed(STAR, [1], factor), wired(STAR, ranks=hosts)
    hosts[:] = 0
    factor[:] = 9
    assert slow.capacity[2] == 25e9
    assert places.places.tolist() == [0, 1, 2, 3]
    bandwidth = np.array([1e9, 2e9])
    model = LogGP(0, 0, 0, 1 / bandwidth)
    bandwidth[:] = 1
    assert model.stream(1e9 + 1).tolist() == [1, 0.5]
    chosen = np.array([[[0, 3]], [[1, 2]]], np.int32)
    routing = routing_of(chosen, total=4, g=2, nodes=1)
    chosen[:] = 0
    assert routing.experts.tolist() == [[[0, 3]], [[1, 2]]]


PASTES = [
    "FOO = bar",
    "NCCL_ALGO = ring",
    "NCCL_ALGO=ring\r\nNCCL_PROTO=LL\r\n",
    "# a comment",
    "NCCL_ALGO=ring\nNCCL_ALGO=tree",
    "=x",
    "NCCL_ALGO=\u201cring\u201d",
    "NCCL_IB_TIMEOUT=\u00b2",
    "NCCL_IB_TIMEOUT=\u0663",
    "NCCL_IB_TIMEOUT=--5",
    "NCCL_IB_TIMEOUT=" + "9" * 5000,
    "NCCL_P2P_LEVEL=\u00b2",
    "NCCL_P2P_LEVEL=" + "9" * 5000,
    "NCCL_MIN_CTAS=\u00b2",
    "NCCL_NET_OVERHEAD=" + "9" * 400,
    "NCCL_ALGO=^",
    "NCCL_ALGO=;",
    "NCCL_IB_RETRY_CNT=\u00b2\nNCCL_IB_TIMEOUT=22",
    "NCCL_ALGO=" + "ring," * 20_000,
    "\0",
    "export",
    "NCCL_ALGO=",
    "- name: NCCL_ALGO",
]


@pytest.mark.parametrize("text", PASTES)
def test_a_strange_paste_is_judged_or_refused_in_one_sentence(text: str) -> None:
    for version in ("2.30.7", "2.12", "2.4.8"):
        try:
            assert all(each.verdict in nccl.VERDICTS for each in nccl.lint_nccl_env(text, version))
            nccl.tune(version, DGX, variables=nccl.parse_env(text))
        except ValueError as error:
            said = str(error)
            assert "\n" not in said
            assert not any(foreign in said for foreign in (*NOT_OURS, "invalid literal", "Exceeds", "argmax"))


def test_pastes_from_windows_and_with_several_commands_in_a_line() -> None:
    text = "\ufeffexport NCCL_ALGO=ring; export NCCL_PROTO=Simple\r\nNCCL_DEBUG=INFO\r\n"
    assert nccl.parse_env(text) == {"NCCL_ALGO": "ring", "NCCL_PROTO": "Simple", "NCCL_DEBUG": "INFO"}


def test_an_empty_variable_is_not_set_for_the_tuner_either() -> None:
    assert not nccl.tune("2.30.7", DGX, variables={"NCCL_ALGO": " "}).variables
    for wrong in ({3: "x"}, {"NCCL_ALGO": 3}):
        with pytest.raises(ValueError, match="must be text, as in a shell"):
            nccl.tune("2.30.7", DGX, variables=wrong)


def test_lint_refuses_what_it_cannot_judge() -> None:
    with pytest.raises(ValueError, match="settings hold 1,001 variables, more than 1,000"):
        nccl.lint_nccl_env("\n".join(f"NCCL_{number}=1" for number in range(1001)))
    with pytest.raises(ValueError, match="cluster has no nodes; give at least one"):
        nccl.lint_nccl_env("NCCL_ALGO=ring", cluster=nccl.named("p5", []))
    with pytest.raises(ValueError, match="size = -1 must be at least 0"):
        nccl.lint_nccl_env("NCCL_ALGO=ring", size=-1)
