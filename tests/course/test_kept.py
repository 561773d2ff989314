"""Tables of slow explorers: read as computed, refused when the knobs have changed, recomputed against the model."""

import hashlib
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from netlib.__main__ import main
from netlib.course import explorers
from netlib.course.explorer import Knob
from netlib.course.kept import Kept, kept, of_explorer, tables
from netlib.course.page import HOME

TABLES = set(tables())
CONTROL, SENDERS = Knob("a, b", "c"), Knob(8, 16.5)


def made(control: str, senders: float) -> dict[str, object]:
    """A number, a series that is longer for one state, a gap."""
    return {"last": senders / 3, "queue": [0, np.nan, 1e6 * senders, *([7] * (control == "c"))]}


@pytest.fixture
def table(tmp_path):
    one = kept(str(tmp_path / "slow_one.py"), {"control": CONTROL, "senders": SENDERS}, made, "An example.")
    one.write()
    return one


def test_what_is_read_is_what_was_computed(table):
    mesh = np.meshgrid(np.array(CONTROL.values), np.array(SENDERS.values), indexing="ij")
    queue = table.read("queue", *(m[..., None] for m in mesh))
    assert queue.shape == (2, 2, 4)
    np.testing.assert_array_equal(queue[0, 1], [0, np.nan, 1.65e7, np.nan])
    np.testing.assert_array_equal(queue[1, 0], [0, np.nan, 8e6, 7])
    assert table.read("last", np.array(["c"]), np.array([8])).tolist() == [2.6667]
    assert all(table.stale(*state) == "" for state in table.states())


def test_nobody_writes_into_what_is_kept(table):
    for results in table.rows.values():
        for values in results.values():
            with pytest.raises(ValueError, match="read-only"):
                values[:] = 0


def test_a_table_that_does_not_fit_is_refused_in_a_sentence(table):
    wider = replace(table, knobs={"control": CONTROL, "senders": Knob(8, 16.5, 32)})
    with pytest.raises(ValueError, match=re.escape("lacks the state a, b, 32; run `netlib kept slow-one`")):
        wider.read("last", np.array(["c"]), np.array([8]))
    narrower = replace(table, knobs={"control": CONTROL, "senders": Knob(8)})
    with pytest.raises(ValueError, match=r"slow_one.csv still has the state a, b, 16.5"):
        narrower.read("last", np.array(["c"]), np.array([8]))
    with pytest.raises(ValueError, match="knobs"):
        replace(table, knobs={"senders": SENDERS, "control": CONTROL}).of("last", 8, "c")
    with pytest.raises(ValueError, match="keeps no 'peak'; it has last, queue"):
        table.of("peak", "c", 8)
    with pytest.raises(ValueError, match="no state"):
        table.of("last", "c", 9)
    table.table.unlink()
    with pytest.raises(ValueError, match="is not there; compute it with `netlib kept slow-one`"):
        replace(table).of("last", "c", 8)


def test_a_model_that_has_changed_is_seen(table):
    bent = replace(table, run=lambda **state: {**made(**state), "last": 1.01 * state["senders"] / 3})
    assert bent.stale("c", 8) == "slow_one.csv: last at c, 8 has changed; run `netlib kept slow-one`"
    more = replace(table, run=lambda **state: {**made(**state), "peak": 1.0})
    assert "peak at c, 8" in more.stale("c", 8)
    short = replace(table, run=lambda **state: {**made(**state), "queue": [0]})
    assert "queue at c, 8" in short.stale("c", 8)


def own(id: str) -> Kept:
    found = of_explorer(id)
    assert found is not None, f"{id} has a table and does not use it"
    return found


def test_every_table_belongs_to_an_explorer():
    assert {"victim", "permutation"} <= TABLES
    assert set(explorers.ids()) >= TABLES
    for id in sorted(TABLES):
        table = own(id)
        assert table.command == f"netlib kept {id}"
        assert {name: k.values for name, k in table.knobs.items()} == {
            name: k.values for name, k in explorers.load(id).knobs.items() if name in table.knobs
        }


def tried() -> list[tuple[str, tuple[object, ...]]]:
    """One state of each table; which one changes with the models."""
    code = b"".join(p.read_bytes() for p in sorted((HOME / "congestion").rglob("*.py")))
    luck = random.Random(hashlib.sha256(code).hexdigest())
    return [(id, luck.choice(list(own(id).states()))) for id in sorted(TABLES)]


@pytest.mark.parametrize(("id", "state"), tried(), ids=str)
def test_a_state_computed_now_is_the_table_s(id, state):
    assert own(id).stale(*state) == ""


@pytest.mark.exhaustive
@pytest.mark.parametrize("id", sorted(TABLES))
def test_every_state_computed_now_is_the_table_s(id):
    assert [said for state in own(id).states() if (said := own(id).stale(*state))] == []


def test_the_command(table, monkeypatch, capsys):
    monkeypatch.setattr("netlib.course.kept.of_explorer", {"slow-one": table}.get)
    monkeypatch.setattr("netlib.course.kept.tables", lambda: ["slow-one"])
    table.table.unlink()
    assert main(["kept"]) == 0
    table.table.unlink()
    assert main(["kept", "slow-one"]) == 0
    assert table.of("last", "c", 8).tolist() == [2.6667]
    assert "a, b, 16.5" in capsys.readouterr().out
    assert main(["kept", "ring-or-tree"]) == 1
    assert "keeps no table" in capsys.readouterr().err


def test_an_explorer_that_computes_has_no_table():
    assert of_explorer("next-speed") is None
