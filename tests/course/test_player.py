"""Players: what is told of a schedule, held against a replay of its own; pictures, bakes, the notebook. The browser has
its own file."""

import itertools
import re
import xml.etree.ElementTree as ET
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import (
    bruck_all_to_all,
    ring_all_gather,
    ring_allreduce,
    ring_allreduce_time,
    ring_reduce_scatter,
    ring_through,
)
from netlib.collectives.execution import counts
from netlib.collectives.schedule import phase, schedule_of
from netlib.collectives.simulation import simulate
from netlib.collectives.weaving import side_by_side
from netlib.course import explorers, page, play, player_page, players
from netlib.course.explorer import Knob
from netlib.course.player import Player, Scene, as_player, bake, find
from netlib.course.player_draw import Layout, legend, picture
from netlib.course.player_story import clock, faults, in_rounds, label, ledger, row, sentences, story
from netlib.course.players.all_reduce_steps import BUILDERS
from netlib.links import Link
from netlib.topology import one_switch

WORDS = {"title": "T", "caption": "C", "alt": "What the picture looks like."}
LINK = Link(5e-6, 50e9)
SWITCHED = schedule_of(  # four ranks, a switch that adds and hands back
    "switched",
    "all_reduce",
    4,
    [
        phase(step=0, src=[0, 1, 2, 3], dst=4, chunk=0, add=True),
        phase(step=0, src=4, dst=[0, 1, 2, 3], chunk=0, add=False),
    ],
    switches=1,
)


def one(schedule, id="one", seconds=None):
    return as_player(id, **WORDS)(lambda: Scene(schedule, 4e6, LINK, seconds))


def replay(schedule):
    """Which ranks' parts each cell holds, as sets, after each step: the engine is not asked."""
    n, everyone = schedule.n, schedule.n + schedule.switches
    held = [[set() for _ in range(schedule.chunks)] for _ in range(everyone)]
    for rank, chunk in itertools.product(range(n), range(schedule.chunks)):
        if schedule.source[chunk] in (-1, rank):
            held[rank][chunk] = {rank}
    found = [[[len(cell) for cell in cells] for cells in held]]
    for step in schedule.written_out():
        before = [[set(cell) for cell in cells] for cells in held]
        for src, dst, chunk, add in zip(step.src, step.dst, step.chunk, step.add, strict=True):
            came = before[src][chunk]
            held[dst][chunk] = held[dst][chunk] | came if add else set(came)
        found.append([[len(cell) for cell in cells] for cells in held])
    return np.array(found)


# ---- the story


@given(
    st.integers(1, 8).flatmap(lambda n: st.permutations(range(n))),
    st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]),
)
@settings(max_examples=25, deadline=None)
def test_cells_hold_what_a_replay_with_sets_finds(order, op):
    ring = ring_through(order, op)
    told = story(ring)
    assert np.array_equal(told.parts, replay(ring))
    assert told.finished[-1] == told.needed.sum()
    assert faults(told) == ""


def test_a_switch_adds_and_hands_back():
    told = story(SWITCHED)
    assert told.parts[:, :, 0].tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 4], [4, 4, 4, 4, 4]]
    assert told.finished == [0, 0, 4]
    assert sentences(told)[1:] == [
        "Step 1 of 2: rank 0 sends chunk 0 to the switch, which adds it; 3 messages like it go at the same time.",
        "Step 2 of 2: the switch sends chunk 0 to rank 0, which keeps it; 3 messages like it go at the same time. "
        "Everything is in place.",
    ]
    assert row(told, 2).startswith("the switch → 0: keep 0; ")


@pytest.mark.parametrize(("n", "channels"), [(2, 1), (5, 1), (8, 1), (4, 2)])
def test_bytes_are_those_that_counts_finds(n, channels):
    ring = ring_allreduce(n, channels)
    for each, wanted in zip(ledger(story(ring), 4e6), ("sent", "received"), strict=True):
        np.testing.assert_allclose(each.sum(axis=0), getattr(counts(ring, 4e6), wanted))


@pytest.mark.parametrize("n", [2, 3, 8])
def test_the_clock_is_the_closed_form_of_the_ring(n):
    seconds = clock(story(ring_allreduce(n)), Scene(ring_allreduce(n), 4e6, LINK))
    assert seconds.size == 2 * (n - 1)
    assert seconds.sum() == pytest.approx(float(ring_allreduce_time(4e6, n, LINK)), rel=1e-12)


@pytest.mark.parametrize("n", [3, 4, 7, 8])
@pytest.mark.parametrize("build", [v for name, v in BUILDERS.items() if "switch" not in name], ids=lambda b: b.__name__)
def test_the_clock_is_the_simulation_of_one_switch(build, n):
    """A port of the switch at each end has half of alpha; the messages of a rank share its port."""
    schedule = build(n)
    run = simulate(schedule, one_switch(n, Link(2.5e-6, 50e9)), 4e6)
    seconds = clock(story(schedule), Scene(schedule, 4e6, LINK))
    assert seconds.sum() == pytest.approx(run.seconds, rel=1e-9)
    np.testing.assert_allclose(np.cumsum(seconds), np.unique(run.ends), rtol=1e-9)


def test_the_busiest_rank_sets_the_clock_and_a_switch_has_a_port_for_each():
    fan = schedule_of("fan", "broadcast", 3, [phase(0, 0, [1, 2], 0, False)], source=0)
    assert clock(story(fan), Scene(fan, 1e6, Link(0, 1e6))).tolist() == [2.0]
    assert clock(story(SWITCHED), Scene(SWITCHED, 1e6, Link(0, 1e6))).tolist() == [1.0, 1.0]
    relay = schedule_of(
        "relay", "broadcast", 2, [phase([0, 1, 2], [0, 2, 3], [2, 3, 1], 0, False)], source=0, switches=2
    )
    assert clock(story(relay), Scene(relay, 1e6, Link(0, 1e6))).tolist() == [1.0, 1.0, 1.0]


def test_a_simulation_may_give_the_seconds():
    ring = ring_allreduce(2)
    assert clock(story(ring), Scene(ring, 1.0, LINK, [1, 2])).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"seconds has shape \(3,\); give one for each of 2 steps"):
        clock(story(ring), Scene(ring, 1.0, LINK, [1, 2, 3]))


def test_channels_go_at_once_as_far_as_their_data_allow():
    def hop(src, dst, channel, chunk=0):
        return phase(0, src, dst, chunk, False, channel=channel)

    apart = schedule_of("apart", "broadcast", 4, [hop(0, 1, 0), hop(0, 2, 0, 1), hop(0, 3, 1, 2)], chunks=3, source=0)
    assert [part.src.size for part in in_rounds(apart)] == [2, 1]
    after = schedule_of("after", "broadcast", 3, [hop(0, 1, 0), hop(1, 2, 1)], source=0)
    assert [part.dst.tolist() for part in in_rounds(after)] == [[1], [2]]
    # a cell that is read in a round may be written in it, not in an earlier one
    swap = schedule_of("swap", "broadcast", 3, [hop(2, 0, 0, 1), hop(0, 1, 0), hop(2, 0, 1)], chunks=2, source=[0, 2])
    assert [sorted(part.dst.tolist()) for part in in_rounds(swap)] == [[0], [0, 1]]
    uneven = [ring_allreduce(3), schedule_of("still", "all_reduce", 3, ring_allreduce(3).phases[:1], chunks=3)]
    assert len(in_rounds(side_by_side("both", uneven))) == 4


def test_steps_in_which_nothing_is_sent_are_left_out():
    late = phase(step=0, src=0, dst=1, chunk=-1, add=False, times=2, shift=1, wrap=False)
    assert len(story(schedule_of("late", "broadcast", 2, [late], source=0)).steps) == 1


def test_a_wrong_schedule_is_shown_wrong():
    short = schedule_of("short", "all_reduce", 3, ring_allreduce(3).phases[:1], chunks=3)
    told = faults(story(short))
    assert told.startswith("This schedule is wrong: 6 of 9 cells never get what they need; rank 0 ends with ")
    assert told.endswith("ends with 2 parts, not 3, of chunk 1.")
    as_many = schedule_of("as many", "reduce", 3, [phase([0, 1], 0, 1, 0, True)], target=1)  # rank 0 twice, 2 never
    assert story(as_many).shown[:, 1, 0].tolist() == [1, 2, -3]
    assert faults(story(as_many)).endswith(
        "1 of 1 cells never get what they need; rank 1 holds a wrong part of chunk 0."
    )
    twice = schedule_of("twice", "all_reduce", 2, [phase([0, 1], 0, 1, 0, True)])
    told = story(twice)
    assert told.shown[:, 1, 0].tolist() == [1, 2, -3]
    assert "✕" in picture(told, 2, 1.0, 320, "alt")
    assert 'class="nx-failure" aria-live="polite">This schedule is wrong' in player_page.render(one(twice))


@pytest.mark.parametrize(
    ("schedule", "first"),
    [
        (ring_reduce_scatter(3), "each rank holds its own part of every chunk"),
        (ring_all_gather(3), "each rank holds one chunk"),
        (
            schedule_of("b", "broadcast", 3, [phase(0, 1, [0, 2], 0, False)], source=1),
            "rank 1 alone has something to send",
        ),
        (
            schedule_of("b", "broadcast", 3, [phase(0, [0, 1], 2, [0, 1], False)], chunks=2, source=[0, 1]),
            "ranks 0, 1 alone have something to send",
        ),
    ],
)
def test_the_first_sentence_says_who_holds_what(schedule, first):
    assert sentences(story(schedule))[0] == f"Before the first step {first.replace('0, 1', '0 and 1')}."


def test_a_chunk_that_goes_from_one_to_one_is_named_after_both():
    told = story(bruck_all_to_all(4))
    assert told.called[:4] == ("0→0", "0→1", "0→2", "0→3")
    assert "rank 0 sends chunks 0→1 and 0→3 to rank 1, which keeps them" in sentences(told)[1]
    assert row(told, 1).startswith("0 → 1: keep 0→1, 0→3; ")
    words = [text.text for text in ET.fromstring(picture(told, 0, 1, 700, "a")).iter("text")]
    assert "2→3" in words
    assert not any(word.startswith("chunk") for word in words)


def test_unlike_messages_are_not_called_alike():
    mixed = schedule_of(
        "m", "all_reduce", 3, [phase(0, [0, 0, 2], [1, 2, 1], [0, 1, 1], [True, True, False])], chunks=2
    )
    assert "; 2 other messages go at the same time" in sentences(story(mixed))[1]
    pair = schedule_of("m", "all_reduce", 2, [phase(0, [0, 1], [1, 0], 0, [True, False])])
    assert "; 1 other message goes at the same time" in sentences(story(pair))[1]
    assert [label(story(pair), m) for m in story(pair).steps[0]] == ["+0", "0"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: story(ring_allreduce(17)), "ranks = 17 do not fit into a picture; show a schedule of 16 or fewer"),
        (lambda: story(ring_allreduce(8, channels=9)), "chunks = 72 do not fit"),
        (
            lambda: story(schedule_of("s", "all_reduce", 2, [phase(0, 0, 1, 0, True, times=201)])),
            "steps = 201 do not fit",
        ),
        (lambda: find("no-such"), "player 'no-such' does not exist; "),
        (lambda: find(3), "player 3 does not exist; "),
        (lambda: as_player("p", **WORDS)(lambda: 3)(), "player 'p' returned int; return Scene(schedule, size, link)"),
        (lambda: as_player("p", **WORDS)(lambda n: None), "parameter 'n' of player 'p' must be annotated"),
        (lambda: as_player("p", title="T", caption="C", alt="")(lambda: None), "player 'p' needs a title"),
        (lambda: find("all-reduce-steps")(ranks=99), "ranks = 99 is not on the knob's grid"),
    ],
)
def test_a_mistake_is_one_clear_sentence(make, says):
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_file_that_does_not_define_its_player_is_named(monkeypatch):
    players.load("ring-family")
    monkeypatch.setattr("netlib.course.players.ring_family.ring_family", 3)
    with pytest.raises(ValueError, match=r"ring_family\.py must define ring_family with @as_player"):
        players.load("ring-family")


# ---- the pictures


def test_a_picture_has_a_tip_for_each_message_and_a_box_for_each_cell():
    told = story(ring_allreduce(4))
    for k in range(len(told.steps) + 1):
        drawn = ET.fromstring(picture(told, k, 4e6, 700, "alt <words>"))
        paths = [path.get("d") for path in drawn.iter() if path.tag == "path"]
        boxes = [d for d in paths if d.count("h") and "v24h" in d]
        assert boxes[0].count("M") == 16
        assert sum(d.count("L") for d in paths) == 2 * len(told.steps[k - 1]) * (k > 0)
        words = [text.text for text in drawn.iter("text")]
        assert words.count("✓") == told.finished[k]
        assert {f"rank {r}" for r in range(4)} <= set(words)
        assert drawn.get("aria-label") == "alt <words>"
    assert "chunk 3" in words
    assert words[-4:] == ["5.72"] * 4  # MiB that each rank has sent: 6 of 4 MB quarters
    narrow = [text.text for text in ET.fromstring(picture(story(ring_allreduce(8)), 1, 1, 320, "a")).iter("text")]
    assert "rank 0" not in narrow
    assert "7" in narrow


def test_arrows_point_their_way():
    at = Layout(story(ring_allreduce(4)), 400)
    right, left = at.told.steps[0][0], next(m for m in at.told.steps[0] if m.src == 3)
    assert at.arrow(right)[3] == (0.0, 1.0)
    assert at.arrow(left)[3] == (0.0, -1.0)
    assert at.arrow(right)[1][1] < at.top < at.bottom < at.arrow(left)[1][1]
    above = Layout(story(SWITCHED), 400)
    up, down = above.told.steps[0][0], above.told.steps[1][0]
    assert above.arrow(up)[3][1] < 0 < above.arrow(down)[3][1]
    assert "switch" in [t.text for t in ET.fromstring(picture(above.told, 1, 1, 400, "a")).iter("text")]
    hops = phase([0, 1, 2], [0, 2, 3], [2, 3, 1], 0, False)
    relay = Layout(story(schedule_of("r", "broadcast", 2, [hops], source=0, switches=2)), 400)
    assert relay.arrow(relay.told.steps[1][0])[3] == (0.0, -1.0)


def test_many_chunks_fold_into_columns():
    told = story(ring_allreduce(8, channels=4))
    at = Layout(told, 700)
    assert (at.folds, at.rows) == (2, 16)
    assert at.place(0, 16)[1] == at.place(0, 0)[1]
    assert at.place(0, 16)[0] == pytest.approx(at.place(0, 0)[0] + at.cell[0])
    assert "chunk 3" not in picture(told, 0, 1, 700, "a")


def test_the_legend_speaks_of_sums_where_there_are_any():
    assert "added" in legend(True)
    assert "added" not in legend(False)


# ---- the bake


def test_runs_of_one_schedule_share_a_story():
    own = find("ring-family")
    told = player_page._once([own.at(index) for index in np.ndindex(own.shape)])
    assert len({id(each) for each in told}) == 3 * (2 * 7 - 1)  # of two ranks there is one order only
    hop = phase(0, 0, 1, 0, False)
    ways = [schedule_of("w", "broadcast", 2, [hop], weight=w, source=0) for w in ([0.5, 0.5], [0.25, 0.75])]
    assert len({id(s) for s in player_page._once([Scene(w, 1, LINK) for w in ways])}) == 2


def test_tables_say_it_all():
    run = Scene(ring_allreduce(2), 4e6, LINK)
    told = story(run.schedule)
    assert player_page.step_rows(told, run) == [
        ["0", "", "", "0 s", "0 of 4"],
        ["1", "1 → 0: add 0; 0 → 1: add 1", "45.0 µs", "45.0 µs", "2 of 4"],
        ["2", "0 → 1: keep 0; 1 → 0: keep 1", "45.0 µs", "90.0 µs", "4 of 4"],
    ]
    assert player_page.link_rows(told, 2**21, 1) == [
        ["rank 0 → rank 1", "1.00 MiB", "2.00 MiB"],
        ["rank 1 → rank 0", "1.00 MiB", "2.00 MiB"],
    ]


def test_titles_and_names_are_escaped():
    own = as_player("sharp", title="a < b", caption="x & y", alt="<alt> text")(
        lambda: Scene(ring_allreduce(2), 1, LINK)
    )
    text = player_page.render(own)
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert text.count("</script>") == text.count("<script") == 1


def test_a_schedule_without_steps_can_be_shown():
    own = one(ring_allreduce(1))
    assert player_page.key_steps(story(own().schedule)) == [0]
    assert 'max="0"' in player_page.render(own)


# ---- every player of the book


@pytest.fixture(scope="module", params=players.ids())
def own(request):
    return find(request.param)


def test_every_run_ends_with_everything_in_place(own):
    for index in np.ndindex(own.shape):
        run = own.at(index)
        if index[-1]:
            continue  # the last knob of both changes sizes or order
        told = story(run.schedule)
        assert faults(told) == "", index
        assert told.finished[-1] == told.needed.sum()
        assert sentences(told)[-1].endswith("Everything is in place.")


def test_words_and_size(own):
    assert own.caption != own.alt
    assert len(own.alt) >= 60
    assert own.id not in explorers.ids()
    text = player_page.render(own)
    assert len(text.encode()) <= 100_000
    assert bake(own) == text


def test_the_default_is_seen_without_a_script(own):
    text = player_page.render(own)
    told = story(own().schedule)
    assert text.count('class="nx-frame"') == len(player_page.key_steps(told)) >= 3
    assert sentences(told)[0] in text
    assert len(re.findall(r'<tr><th scope="row">', text)) == len(told.steps) + 1 + len(player_page.links(told))


# ---- the notebook


def test_live_steps_through_and_says_the_same_words():
    own = find("all-reduce-steps")
    box = play("all-reduce-steps")
    assert repr(box) == "Player('all-reduce-steps')"
    assert box._repr_mimebundle_()["text/plain"] == repr(box)
    told = story(own().schedule)
    assert sentences(told)[0] in box.said.value
    seen = {box.image.value}
    for k in range(1, len(told.steps) + 1):
        box.step.value = k
        assert box.play.value == k
        assert sentences(told)[k] in box.said.value
        seen.add(box.image.value)
    assert len(seen) == len(told.steps) + 1
    box.numbers.value = True
    assert "1 → 2: add 0" in box.table.value
    box.knobs["ranks"].value = own.knobs["ranks"].index(2)
    assert box.step.max == 2
    assert sentences(story(own(ranks=2).schedule))[2] in box.said.value
    box.knobs["ranks"].value = own.knobs["ranks"].index(8)
    assert box.step.max == 14
    box.numbers.value = False
    assert box.table.value == ""


def test_live_shows_an_error_instead_of_swallowing_it():
    def view(n: Annotated[int, Knob(2, 17)]) -> Scene:
        return Scene(ring_allreduce(n), 1.0, LINK)

    box = play(as_player("made", **WORDS)(view))
    box.knobs["n"].value = 1
    assert "ValueError: ranks = 17 do not fit" in box.said.value
    assert 'role="alert"' in box.said.value
    box.knobs["n"].value = 0
    assert "Before the first step" in box.said.value


def test_live_says_when_a_schedule_is_wrong():
    box = play(one(schedule_of("short", "all_reduce", 3, ring_allreduce(3).phases[:1], chunks=3)))
    assert "This schedule is wrong" in box.said.value


def test_the_book_build_gets_the_page_figure(monkeypatch):
    monkeypatch.setenv("NETLIB_BOOK", "1")
    own = one(ring_allreduce(3))
    bundle = play(own)._repr_mimebundle_()
    assert bundle == {"text/plain": "Player('one')", "text/html": player_page.render(own)}
    assert isinstance(own, Player)
    assert page.bake(own, player_page.render) == bundle["text/html"]
