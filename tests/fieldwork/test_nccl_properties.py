"""The reader on tables and texts that nobody chose: round trip, noise anywhere, random text."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.fieldwork import disagreements, measured, read_all, read_nccl_tests
from netlib.fieldwork.reading import observations
from netlib.hardware import node
from tests.fieldwork import printer

OPS = ("all_reduce", "broadcast", "reduce", "sendrecv", *printer.BLOCKS)


@st.composite
def tables(draw):
    """(op, ranks, dtype, layout, lines) of a table that nccl-tests could print."""
    op = draw(st.sampled_from(OPS))
    n = draw(st.integers(2, 200))
    dtype = draw(st.sampled_from(list(printer.BYTES)))
    layout = draw(st.sampled_from(["2018", "2021"]))
    counts = draw(st.lists(st.integers(0, 2**28), min_size=1, max_size=12, unique=True).map(sorted))
    per_count = printer.BYTES[dtype] * (n if op in printer.BLOCKS else 1)
    micros = st.floats(1.0, 9e6)
    checked = draw(st.booleans())
    wrong = st.integers(0, 300_000) if checked and layout == "2021" else st.just(0 if checked else None)
    # keep bandwidths in the range that two decimals can show and six characters can hold
    lines = [
        printer.Line(
            c * per_count,
            max(draw(micros), c * per_count / 9e5),
            max(draw(micros), c * per_count / 9e5),
            draw(wrong),
        )
        for c in counts
    ]
    return op, n, dtype, layout, lines


@given(tables())
def test_a_printed_table_is_read_back(made):
    op, n, dtype, layout, lines = made
    table = read_nccl_tests(printer.table(op, n, lines, dtype, layout))
    assert op in table.candidates
    assert table.ranks == n
    np.testing.assert_array_equal(table.size, [line.size for line in lines])
    assert set(table.type) == {dtype}
    for half, times in ((table.out, [s.out_us for s in lines]), (table.inplace, [s.in_us for s in lines])):
        low, high = half.span("time")
        micros = np.array(times) * 1e-6
        assert np.all((low <= micros) & (micros <= high))
        assert np.all(half.time_step <= 1.001e-6)
    wrong = [np.nan if line.wrong is None else line.wrong for line in lines]
    if layout == "2021":  # %g keeps six digits
        np.testing.assert_allclose(table.out.wrong, wrong, rtol=1e-5)
    assert table.counts_wrong is (layout == "2021")
    assert table.average == pytest.approx(float(printer.footer(op, n, lines)[1].split()[-1]) * 1e9)
    assert table.header.max_bytes == lines[-1].size
    assert len(table.devices) == n
    assert table.problems == ()
    assert disagreements(read_nccl_tests(printer.table(op, n, lines, dtype, layout), op=op)) == []


NOISE = st.sampled_from(
    [
        "",
        "hostA:10000:10000 [0] NCCL INFO Launch mode Parallel",
        "hostB:1:1 [3] NCCL INFO comm 0x5500000000 rank 1 nranks 2 cudaDev 0 busId 31000 - Destroy COMPLETE",
        "NCCL version 2.26.2+cuda12.8",
        "--------------------------------------------------------------------------",
        "WARNING: Could not generate an xpmem segment id for this process' address space. 8 16 float",
        "Authorization required, but no authorization protocol specified",
        "[hostA:10000] 15 more processes have sent help message help-btl-vader.txt / xpmem-make-failed",
        "{'loss': 2.31, 'step': 1200}",
        "12:30:45 1048576 262144 half a million elements",
        "┌── progress ──┐ 100% 3.5 GB/s",
    ]
)
PREFIX = st.sampled_from(
    [
        "",
        "0: ",
        " 0: ",
        "[1,0]<stdout>:",
        "   [1,0]<stdout>:",
        "Thu Jul 18 15:41:05 2024<stdout>:",
        "[0] ",
        "> ",
        "\x1b[0m",
        "node-7  ",
    ]
)


@given(
    tables(),
    st.lists(st.tuples(st.integers(0, 10_000), NOISE), max_size=20),
    PREFIX,
    st.sampled_from(["", "   ", "\r"]),
)
def test_noise_and_prefixes_change_no_row(made, noise, prefix, suffix):
    op, n, dtype, layout, lines = made
    clean = printer.table(op, n, lines, dtype, layout).splitlines()
    noisy = [prefix + line + suffix for line in clean]
    for where, text in noise:
        noisy.insert(where % (len(noisy) + 1), text)
    (table,) = read_all("\n".join(noisy))
    plain = read_nccl_tests(clean)
    np.testing.assert_array_equal(table.size, plain.size)
    np.testing.assert_array_equal(table.out.busbw, plain.out.busbw)
    np.testing.assert_array_equal(table.inplace.wrong, plain.inplace.wrong)
    assert (table.op, table.ranks, table.average) == (plain.op, plain.ranks, plain.average)


FRAGMENTS = """# size count type redop root time algbw busbw #wrong error bytes N nThread 1 minBytes: 8 float half sum
none -1 0 1e+00 N/A 12.5 1048576 99999999999999999999999 1e999 nan inf - | Rank 0 on host device [0x19]
Avg bus bandwidth : 3.5 OK Out of bounds values {"results":[ ]} { } "size": 8, 32KiB 5GBps step: 2(factor)
nranks <stdout>: ٣ ² \x00 ..."""
WORDS = st.sampled_from(FRAGMENTS.split())


def tables_of(text):
    """The tables of a text, or none where it is refused in the promised form."""
    try:
        return read_all(text)
    except ValueError as refusal:
        sentence = str(refusal)
    assert sentence.startswith("text ")
    assert "\n" not in sentence
    return ()


@given(
    st.one_of(
        st.text(max_size=300),
        st.binary(max_size=300),
        st.lists(st.one_of(WORDS, st.just("\n")), max_size=60).map(" ".join),
        tables().flatmap(
            lambda made: st.tuples(
                st.just(printer.table(*made[:2], made[4])), st.integers(0, 4000), st.integers(0, 40)
            ).map(lambda t: t[0][: t[1]] + t[0][t[1] + t[2] :])
        ),
    )
)
def test_odd_text_raises_nothing_but_the_one_sentence(text):
    for table in tables_of(text):
        assert len(table.size) == len(table.out.time) == len(table.inplace.time) > 0
        assert all(isinstance(problem, str) for problem in table.problems)
        said = observations(table) + observations(table, node("dgx-h100"))
        assert said
        assert all(sentence.endswith(".") for sentence in said)
        measured(table, table.types[0])


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["size", "count", "type", "root", "out_of_place", "in_place", "time", "alg_bw", "bus_bw", "rank"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4), JSON, JSON, JSON)
def test_odd_json_raises_nothing_but_the_one_sentence(results, config, bounds, average):
    report = {"results": results, "config": config, "out_of_bounds": bounds, "average_bus_bandwidth": average}
    for table in tables_of(json.dumps(report)):
        assert observations(table)
