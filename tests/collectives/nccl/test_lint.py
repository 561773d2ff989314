"""Variables and the lint: defaults by version, the six lines of the exercise, what is malformed, and prices."""

import numpy as np
import pytest

from netlib.collectives import nccl
from netlib.collectives.nccl.lint import malformed
from netlib.collectives.nccl.selection import selected
from netlib.collectives.nccl.tables import PROTOCOLS, numbers

SIX = """
# as found in a blog
export NCCL_IB_TIMEOUT=22
export NCCL_IB_RETRY_CNT=7
export NCCL_IB_QPS_PER_CONNECTION=8
export NCCL_MIN_NCHANNELS=32
export NCCL_NET_GDR_LEVEL=5   # critical for GPUDirect RDMA
export NCCL_ALGO=Ring
"""


def verdict(name, value, **options):
    (only,) = nccl.lint_nccl_env({name: value}, **options)
    return only.verdict, only.reason


def test_the_six_lines_of_the_exercise():
    found = {each.name: each for each in nccl.lint_nccl_env(SIX)}
    assert {name: each.verdict for name, each in found.items()} == {
        "NCCL_IB_TIMEOUT": "depends",
        "NCCL_IB_RETRY_CNT": "no-op",
        "NCCL_IB_QPS_PER_CONNECTION": "useful-if",
        "NCCL_MIN_NCHANNELS": "deprecated",
        "NCCL_NET_GDR_LEVEL": "discouraged",
        "NCCL_ALGO": "harmful",
    }
    parts = {
        "NCCL_IB_TIMEOUT": ("17.2 s for each of 7 tries, 2.0 min", "default 20: 4.3 s"),
        "NCCL_IB_RETRY_CNT": ("7 is the default",),
        "NCCL_IB_QPS_PER_CONNECTION": ("ECMP, RoCE", "2.60 times", "1.53 with 8"),
        "NCCL_MIN_NCHANNELS": ("since 2.17", "NCCL_MIN_CTAS", "32 of 132 SMs (24 %)"),
        "NCCL_NET_GDR_LEVEL": ("numbers change their meaning", "SYS: even across CPU sockets"),
        "NCCL_ALGO": ("1024 GPUs: 5.95 ms (Ring/LL128) in place of 1.77 ms (Tree/LL128)", "29.1 times"),
    }
    for name, wanted in parts.items():
        assert all(part in found[name].reason for part in wanted), found[name].reason
        assert found[name].source.startswith("NVIDIA/nccl@")


def test_a_forced_tree_by_version():
    assert verdict("NCCL_ALGO", "Tree") == (
        "harmful",
        "leaves no algorithm for all_gather, reduce_scatter, broadcast, reduce, which fail (since 2.24 nothing falls"
        " back); name the operation, as in allreduce:tree",
    )
    kind, reason = verdict("NCCL_ALGO", "allreduce:tree", cluster=nccl.named("dgx-h100"))
    assert (kind, "Tree/Simple) in place of" in reason) == ("harmful", True)
    old = nccl.named("dgx-h100", version="2.22.3")
    assert "leaves no" not in verdict("NCCL_ALGO", "Tree", version="2.22.3", cluster=old)[1]


def test_a_small_price_is_called_small():
    kind, reason = verdict("NCCL_NVLS_ENABLE", "0")
    assert kind == "discouraged"
    assert reason.startswith("at worst 1.02 times the time, at 16 GiB")
    assert verdict("NCCL_NVLS_ENABLE", "0", cluster=nccl.named("dgx-h100"))[0] == "harmful"
    assert verdict("NCCL_NVLS_ENABLE", "0", cluster=nccl.named("dgx-a100"))[0] == "no-op"
    both = nccl.lint_nccl_env({"NCCL_ALGO": "Ring"}, cluster=nccl.named("dgx-h100", [2, 128]))
    assert "on 1024 GPUs" in both[0].reason


def test_forcing_ll128_where_it_is_off_can_corrupt():
    far = nccl.Cluster("Hopper", 4, 8, nccl.Channels(16, 24e9, 24e9), path="SYS")
    kind, reason = verdict("NCCL_PROTO", "LL128", cluster=far)
    assert (kind, "can corrupt data" in reason) == ("harmful", True)
    assert verdict("NCCL_PROTO", "^LL128", cluster=far)[0] == "no-op"


@pytest.mark.parametrize(
    ("name", "value", "kind", "part"),
    [
        ("NCCL_IBTIMEOUT", "22", "unknown", "did you mean NCCL_IB_TIMEOUT"),
        ("nccl_debug", "INFO", "unknown", "names are case-sensitive; did you mean NCCL_DEBUG?"),
        ("NCCL_XYZZY", "1", "unknown", "not among the variables known here"),
        ("CUDA_VISIBLE_DEVICES", "0", "unknown", "not one of NCCL's variables"),
        ("NCCL_IB_TIMEOUT", "", "no-op", "empty"),
        ("NCCL_IB_TIMEOUT", "20", "no-op", "20 is the default"),
        ("NCCL_IB_TIMEOUT", "0", "harmful", "waits for ever"),
        ("NCCL_IB_TIMEOUT", "18", "depends", "ends jobs at shorter flaps"),
        ("NCCL_IB_TIMEOUT", "long", "malformed", "must be a whole number"),
        ("NCCL_IB_TIMEOUT", "40", "malformed", "must be from 0 to 31"),
        ("NCCL_BUFFSIZE", "0", "malformed", "must be at least 1"),
        ("NCCL_IB_RETRY_CNT", "3", "discouraged", "end of the job"),
        ("NCCL_NVLS_ENABLE", "3", "malformed", "must be one of 0, 1, 2"),
        ("NCCL_NET_GDR_LEVEL", "FAR", "malformed", "must be one of LOC, PIX"),
        ("NCCL_NET_GDR_LEVEL", "pix", "useful-if", "a measurement shows it"),
        ("NCCL_P2P_LEVEL", "2", "discouraged", "write a path;"),
        ("NCCL_TREE_THRESHOLD", "0", "deprecated", "removed in 2.5.0"),
        ("NCCL_LAUNCH_MODE", "GROUP", "deprecated", "deprecated since 2.9.0"),
        ("NCCL_IB_SPLIT_DATA_ON_QPS", "1", "no-op", "nothing to split"),
        ("NCCL_P2P_DISABLE", "1", "harmful", "instead of NVLink"),
        ("NCCL_SOCKET_IFNAME", "=eth0", "site", "for an exact match"),
        ("NCCL_DEBUG", "INFO", "debug", "WARN is enough"),
        ("NCCL_MIN_CTAS", "32", "useful-if", "24 %"),
        ("NCCL_ALGO", "Rings", "malformed", "unknown word, 'Rings'"),
        ("NCCL_ALGO", "Ring;Tree", "malformed", "needs an operation before 'Tree'"),
        ("NCCL_ALGO", "alreduce:Tree", "malformed", "did you mean allreduce"),
        ("NCCL_ALGO", "^", "malformed", "lists nothing"),
    ],
)
def test_one_line_each(name, value, kind, part):
    found, reason = verdict(name, value)
    assert (found, part in reason) == (kind, True), reason


def test_versions_matter():
    assert verdict("NCCL_IB_TIMEOUT", "18", version="2.18.5") == ("no-op", "18 is the default of NCCL 2.18.5")
    assert verdict("NCCL_MIN_CTAS", "32", version="2.12.12")[0] == "no-op"
    assert "read from 2.17.0 on" in verdict("NCCL_MIN_CTAS", "32", version="2.12.12")[1]
    assert verdict("NCCL_MIN_NCHANNELS", "16", version="2.12.12")[0] == "useful-if"
    assert verdict("NCCL_MIN_CTAS", "64", version="2.18.5") == ("malformed", "must be from 1 to 32")
    queues = {"NCCL_IB_SPLIT_DATA_ON_QPS": "0", "NCCL_IB_QPS_PER_CONNECTION": "4"}
    assert [nccl.lint_nccl_env(queues, v)[0].verdict for v in ("2.19.4", "2.20.5")] == ["useful-if", "no-op"]
    assert "later versions" in verdict("NCCL_LAUNCH_MODE", "GROUP", version="2.7.8")[1]
    split = nccl.lint_nccl_env({"NCCL_IB_SPLIT_DATA_ON_QPS": "1", "NCCL_IB_QPS_PER_CONNECTION": "4"})
    assert split[0].verdict == "useful-if"
    tries = nccl.lint_nccl_env({"NCCL_IB_TIMEOUT": "22", "NCCL_IB_RETRY_CNT": "2"})[0].reason
    assert "each of 2 tries, 0.6 min" in tries


@pytest.mark.parametrize("each", nccl.known_variables(), ids=lambda one: one.name)
def test_every_variable_is_whole(each):
    assert each.advice in nccl.VERDICTS
    assert each.source
    assert each.effect
    assert each.because or each.advice in ("deprecated", "depends")
    assert each.kind in ("int", "choice", "level", "names", "text")
    assert numbers(each.since)
    for since, value in each.default:
        assert malformed(each, value, "2.30.7") == "", value
        assert each.at(since) == value
        assert verdict(each.name, value, version=since if since != "2.0.0" else "2.4.8")[0] in ("no-op", "deprecated")
    for version in (each.deprecated, each.removed):
        assert not version or numbers(version) > numbers(each.since)
    assert not each.instead or each.instead in {one.name for one in nccl.known_variables()}


def test_the_cost_model_sees_what_it_says_it_sees():
    """Each modelled variable changes the plan somewhere; others are refused."""
    alone = nccl.Cluster(
        "Hopper", [1, 4, 4], [8, 1, 8], nccl.Channels(16, 24e9, 24e9), nvls=nccl.Channels(8, 40e9, 60e9), path="PXN"
    )
    change = {
        "NCCL_ALGO": "Ring",
        "NCCL_PROTO": "Simple",
        "NCCL_NVLS_ENABLE": "0",
        "NCCL_COLLNET_ENABLE": "1",
        "NCCL_PAT_ENABLE": "0",
        "NCCL_NET_OVERHEAD": "9000",
        "NCCL_LL128_C2C": "0",
    } | dict.fromkeys(("NCCL_MIN_CTAS", "NCCL_MIN_NCHANNELS"), "64")
    change |= dict.fromkeys(("NCCL_MAX_CTAS", "NCCL_MAX_NCHANNELS"), "1")
    assert set(change) == set(nccl.MODELLED)
    sizes = np.geomspace(64, 2**30, 60)[:, None]
    for name, value in change.items():
        pairs = []
        for op in ("all_reduce", "all_gather"):
            free = nccl.tune("2.30.7", alone, op)
            pairs.append((free.times(sizes), nccl.with_variables(free, {name: value}).times(sizes)))
        assert any((before != after).any() for before, after in pairs), name
    with pytest.raises(ValueError, match="changes the run, not the plan"):
        nccl.with_variables(nccl.tune("2.30.7", alone), {"NCCL_IB_TIMEOUT": "22"})
    twice = nccl.with_variables(
        nccl.with_variables(nccl.tune("2.30.7", alone), {"NCCL_ALGO": "Ring"}), {"NCCL_PROTO": "LL"}
    )
    assert dict(twice.variables) == {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL"}


def test_pasted_blocks():
    text = "mpirun -x"  # no assignment
    with pytest.raises(ValueError, match="line 1, 'mpirun -x', is no assignment"):
        nccl.parse_env(text)
    with pytest.raises(ValueError, match=r"line 2, .*a quote that is not closed"):
        nccl.parse_env("NCCL_DEBUG=INFO\nNCCL_ALGO='ring")
    with pytest.raises(ValueError, match="is no assignment"):
        nccl.parse_env("export 1NCCL=2")
    block = "-x NCCL_DEBUG=WARN -x NCCL_ALGO='ring;allreduce:tree' \\\n\nexport NCCL_DEBUG=INFO; # later wins"
    assert nccl.parse_env(block) == {"NCCL_DEBUG": "INFO", "NCCL_ALGO": "ring;allreduce:tree"}
    with pytest.raises(ValueError, match="must be text, as in a shell"):
        nccl.lint_nccl_env({"NCCL_DEBUG": 1})
    with pytest.raises(ValueError, match="did you mean NCCL_IB_TIMEOUT"):
        nccl.variable("NCCL_IB_TIMOUT")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("export A=1;export B=2", "A=1 B=2"),
        ("export A=1 && B=2", "A=1 B=2"),
        ("mpirun -x NCCL_PROTO=LL -np 8 ./a --lr=3 lr=3", "NCCL_PROTO=LL"),
        ("mpirun -np 8 -x LD_LIBRARY_PATH -x NCCL_DEBUG=INFO ./a", "NCCL_DEBUG=INFO"),
        ("docker run -e NCCL_DEBUG=INFO --env A=1 image", "NCCL_DEBUG=INFO A=1"),
        ("NCCL_DEBUG=INFO ./all_reduce_perf -b 8 size=3", "NCCL_DEBUG=INFO"),
        ("export NCCL_ALGO=ring;allreduce:tree", "NCCL_ALGO=ring;allreduce:tree"),
        ("A='1 ; B=2'; C=3", "A=1_;_B=2 C=3"),
        ("A=1;\nexport B=2;", "A=1 B=2"),
    ],
)
def test_a_paste_is_read_as_a_shell_would(text, pairs):
    assert " ".join(f"{name}={value}".replace(" ", "_") for name, value in nccl.parse_env(text).items()) == pairs


def test_one_bad_line_does_not_spoil_the_others():
    block = "export NCCL_IB_RETRY_CNT=7\nmake train\nNCCL_DEBUG = INFO\nA='x\nNCCL_DEBUG=INFO"
    found = nccl.lint_nccl_env(block)
    assert [each.verdict for each in found] == ["no-op", "unread", "unread", "unread", "debug"]
    assert [each.line for each in found][:3] == ["NCCL_IB_RETRY_CNT=7", "make train", "NCCL_DEBUG = INFO"]
    assert found[1].reason == "line 2, 'make train', is no assignment; write export NAME=value"
    assert found[2].reason.endswith("; leave no space round =")
    assert "a quote that is not closed" in found[3].reason
    assert {each.verdict for each in found} <= set(nccl.VERDICTS)


def test_of_a_variable_that_is_set_twice_the_last_counts():
    first, other, last = nccl.lint_nccl_env("NCCL_IB_TIMEOUT=22\nNCCL_IB_RETRY_CNT=7\nNCCL_IB_TIMEOUT=20")
    assert (first.value, first.verdict, "the last one counts" in first.reason) == ("22", "overwritten", True)
    assert (other.verdict, last.value, last.verdict) == ("no-op", "20", "no-op")


def test_a_version_without_a_table_says_who_answers():
    forced, plain = nccl.lint_nccl_env("NCCL_ALGO=Ring\nNCCL_IB_RETRY_CNT=7", "2.99")
    assert forced.reason.endswith("(cost model of NCCL 2.99, answered with that of 2.30.7)")
    assert plain.reason == "7 is the default of NCCL 2.99, answered with that of 2.30.7"
    assert "answered" not in nccl.lint_nccl_env("NCCL_ALGO=Ring", "2.30")[0].reason


def test_what_is_neither_text_nor_a_dictionary_is_told_both():
    for wrong in (None, 5):
        with pytest.raises(ValueError, match=rf"^settings = {wrong} must be a dictionary or text; write {{name: value"):
            nccl.lint_nccl_env(wrong)
    with pytest.raises(ValueError, match=r"settings\['NCCL_DEBUG'\] = 5 must be text"):
        nccl.lint_nccl_env({"NCCL_DEBUG": 5})
    with pytest.raises(ValueError, match=r"make one with nccl.named\('dgx-h100'\)"):
        nccl.tune("2.30.7", "dgx-h100")
    with pytest.raises(ValueError, match=r"cluster = 3 is not a Cluster; make one with nccl.named\('dgx-h100'\)"):
        nccl.tune("2.30.7", 3)


def test_the_tuner_says_which_variables_it_does_not_see():
    cluster = nccl.named("dgx-h100")
    with pytest.raises(ValueError, match=r"variables\['NCCL_ALG'\] is not .*; did you mean NCCL_ALGO\?"):
        nccl.tune("2.30.7", cluster, variables={"NCCL_ALG": "Ring"})
    with pytest.raises(ValueError, match="did you mean NCCL_PROTO"):
        nccl.tune("2.30.7", cluster, variables={"nccl_proto": "LL"})
    notes = nccl.tune("2.30.7", cluster, variables={"NCCL_IB_TIMEOUT": "22", "FOO": "1", "NCCL_ALGO": "Ring"}).notes
    assert [note.split(":")[0] for note in notes[-2:]] == [
        "NCCL_IB_TIMEOUT changes the run, not the plan",
        "FOO is not among the variables known here",
    ]
    for name, value in (("NCCL_ALGO", "Rings"), ("NCCL_PROTO", "LL12")):
        with pytest.raises(ValueError, match=f"^{name} = '{value}' holds an unknown word"):
            nccl.tune("2.30.7", cluster, variables={name: value})


def test_lists_as_nccl_reads_them():
    assert selected("ring", "all_reduce", "2.18.5") == {"Ring"}
    assert selected("Rings,tree", "all_reduce", "2.18.5") == {"Tree"}  # the old parser skips what it does not know
    assert selected("collnet", "all_reduce", "2.12.12") == {"CollNetDirect", "CollNetChain"}
    both = "ring,collnetdirect;allreduce:tree,collnetdirect;broadcast:ring"
    assert selected(both, "all_reduce", "2.30.7") == {"Tree", "CollNetDirect"}
    assert selected(both, "reduce", "2.30.7") == {"Ring", "CollNetDirect"}
    assert selected("^LL128;allreduce:LL128", "all_reduce", "2.30.7", PROTOCOLS) == {"LL128"}
    assert selected("LL,Simple;allreduce:^LL", "all_reduce", "2.30.7", PROTOCOLS) == {"LL128", "Simple"}
