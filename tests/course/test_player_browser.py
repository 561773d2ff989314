"""Players in a real browser, from a file, with no server and no network: what plays, and what it shows and says."""

import numpy as np
import pytest

from netlib.collectives.schedule import phase, schedule_of
from netlib.course import player_page, players
from netlib.course.player import Scene, as_player, find
from netlib.course.player_story import clock, ledger, sentences, story
from netlib.course.words import nice
from netlib.links import Link
from tests.course import figure_pages
from tests.course.figure_pages import to_state, violations

WORDS = {"title": "A sample", "caption": "What to take away.", "alt": "Ranks in a row below a switch that adds."}
HOPS = [
    phase(0, [0, 1], 2, 0, True),
    phase([0, 1, 2], [2, 3, 2], [3, 2, 0], 0, False),
    phase(0, 2, 1, 0, False),
    phase(0, 0, 1, 0, True),
]


@as_player("sample-switch", **WORDS)
def sample_switch() -> Scene:
    """Two switches, and a last step that counts a part twice: everything a picture can hold."""
    return Scene(schedule_of("sample", "all_reduce", 2, HOPS, switches=2), 3e6, Link(1e-6, 1e9))


EVERY = {own.id: own for own in (*map(find, players.ids()), sample_switch)}

SHOWN = """figure => { const all = (s) => [...figure.querySelectorAll(s)], text = (e) => e.textContent;
  const heights = all('.nx-sent, .nx-received').map(bar => +bar.getAttribute('height'));
  return [text(all('.nx-reading')[0]), text(all('.nx-clock')[0]), all('.nx-count').map(text), all('.nx-sends').length,
    all('.nx-changed').length, heights, all('.nx-step')[0].value]; }"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return figure_pages.written(
        tmp_path_factory.mktemp("players"), [player_page.render(own) for own in EVERY.values()], "explorer", "player"
    )


def opened(chromium, files, *theme_and_width, **options):
    return figure_pages.opened(chromium, files, "nx-player", len(EVERY), *theme_and_width, **options)


@pytest.fixture(scope="module")
def tab(chromium, files):
    """One page for most tests; motion is reduced, so that each step is there at once."""
    tab = opened(chromium, files, reduced_motion="reduce")
    yield tab
    assert tab.problems == []
    assert all(url.startswith(("file://", "data:", "blob:")) for url in tab.asked)


def figure_of(tab, id):
    return tab.locator(f'.nx-player[data-player="{id}"]')


def marks(told, k):
    """What the cells of step k must say, rank by rank."""
    found = []
    for rank, cells in enumerate(told.shown[k].tolist()):
        for chunk, parts in enumerate(cells):
            done = told.good[k, rank, chunk] and told.needed[rank, chunk]
            some = str(parts) if parts and told.wanted[chunk] > 1 else ""
            found.append("✕" if parts < 0 else "✓" if done else some)
    return found


@pytest.mark.parametrize("id", EVERY)
def test_each_step_shows_and_says_netlibs_story(tab, id):
    own, figure = EVERY[id], figure_of(tab, id)
    last = tuple(n - 1 for n in own.shape)
    for index in {own.start, last, tuple(n // 2 for n in own.shape)}:
        to_state(figure, index)
        run = own.at(index)
        told = story(run.schedule)
        seconds, (sent, received) = clock(told, run), ledger(told, run.size)
        slider = figure.locator(".nx-step")
        slider.focus()
        slider.press("Home")
        for k, said in enumerate(sentences(told)):
            now, all_ = nice(seconds[:k].sum(), "s"), nice(seconds.sum(), "s")
            took = f"step {k} takes {nice(seconds[k - 1], 's')}; " if k else ""
            reading, clock_, cells, sends, rings, heights, place = figure.evaluate(SHOWN)
            assert (reading, clock_) == (said, f"{took}{now} of {all_} elapsed")
            assert cells == marks(told, k), (index, k)
            assert sends == (len(told.steps[k - 1]) if k else 0)
            assert rings == ((told.shown[k] != told.shown[k - 1]).sum() if k else 0)
            bars = np.stack([sent[:k].sum(axis=0), received[:k].sum(axis=0)], axis=1)[: told.n]
            most = max(sent.sum(axis=0)[: told.n].max(), received.sum(axis=0)[: told.n].max())
            assert heights == pytest.approx((40 * bars / most).ravel().tolist(), abs=0.06)
            assert place == str(k)
            slider.press("ArrowRight")
        assert figure.locator(".nx-time i").count() == len(told.steps)
    slider.press("Home")


@pytest.mark.parametrize("id", EVERY)
def test_the_tables_follow(tab, id):
    own, figure = EVERY[id], figure_of(tab, id)
    figure.locator("details").evaluate("d => { d.open = true; }")
    tab.wait_for_timeout(20)  # the toggle event comes in a later task
    index = tuple(n - 1 for n in own.shape)
    to_state(figure, index)
    run = own.at(index)
    told = story(run.schedule)
    slider = figure.locator(".nx-step")
    slider.focus()
    slider.press("End")
    slider.press("ArrowLeft")
    shown = figure.locator("table").evaluate_all(
        "tables => tables.map(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent)))"
    )
    k = len(told.steps) - 1
    assert shown == [player_page.step_rows(told, run), player_page.link_rows(told, run.size, k)]
    assert figure.locator("tr.nx-now th").all_text_contents() == [str(k)]
    figure.locator("details").evaluate("d => { d.open = false; }")


def test_buttons_and_keys_walk(tab):
    own, figure = EVERY["all-reduce-steps"], figure_of(tab, "all-reduce-steps")
    figure.locator(".nx-reset").click()
    said = sentences(story(own().schedule))
    reading = figure.locator(".nx-reading")

    def button(name):
        return figure.locator(f'[data-do="{name}"]')

    for name, k in (("next", 1), ("next", 2), ("back", 1), ("start", 0), ("next", 1)):
        button(name).click()
        assert reading.text_content() == said[k]
    button("next").focus()
    keys = {"ArrowRight": 2, "ArrowUp": 3, "ArrowLeft": 2, "ArrowDown": 1, "End": 6, "PageUp": 6, "Home": 0, "Space": 1}
    for key, k in keys.items():
        tab.keyboard.press(key)
        assert reading.text_content() == said[k], key
    assert button("start").get_attribute("aria-disabled") == "false"
    button("start").click()
    assert button("start").get_attribute("aria-disabled") == "true"
    knob = figure.locator(".nx-knobs input").nth(1)
    knob.focus()
    tab.keyboard.press("ArrowRight")  # a knob keeps its own arrows
    assert figure.locator(".nx-knobs output").nth(1).text_content() == "5 ranks"
    assert figure.locator(".nx-step").get_attribute("aria-valuetext") == "before the first step"
    figure.locator(".nx-speed select").focus()
    tab.keyboard.press("Home")  # and so does the speed
    assert figure.locator(".nx-speed select").input_value() == "2.8"
    figure.locator(".nx-speed select").select_option("1.5")
    figure.locator(".nx-reset").click()
    assert reading.text_content() == said[0]


def test_a_mouse_drags_through_the_steps(tab):
    own, figure = EVERY["all-reduce-steps"], figure_of(tab, "all-reduce-steps")
    figure.locator(".nx-reset").click()
    slider = figure.locator(".nx-step")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    tab.mouse.move(box["x"] + 10, box["y"] + box["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=6)
    tab.mouse.up()
    assert figure.locator(".nx-reading").text_content() == sentences(story(own().schedule))[-1]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_play_runs_to_the_end_and_stops(chromium, files, motion):
    tab = opened(chromium, files, reduced_motion=motion)
    own, figure = EVERY["all-reduce-steps"], figure_of(tab, "all-reduce-steps")
    told = story(own().schedule)
    play, reading = figure.locator('[data-do="play"]'), figure.locator(".nx-reading")
    figure.locator(".nx-speed select").evaluate("s => { s.options[2].value = '0.25'; s.selectedIndex = 2; }")
    assert reading.get_attribute("aria-live") == "polite"
    play.click()
    assert play.text_content() == "Pause"
    assert reading.get_attribute("aria-live") == "off"
    if motion == "no-preference":
        tab.wait_for_selector(".nx-token")
    else:
        assert figure.locator(".nx-token").count() == 0
    figure.get_by_text("Everything is in place").wait_for()
    tab.wait_for_function("document.querySelector('[data-do=play]').textContent === 'Play'")
    tab.wait_for_function("document.querySelectorAll('.nx-token').length === 0")
    assert figure.locator(".nx-count").all_text_contents() == marks(told, len(told.steps))
    assert reading.get_attribute("aria-live") == "polite"
    figure.locator(".nx-step").focus()
    tab.keyboard.press("Space")  # from the end it starts again
    tab.wait_for_function("s => document.querySelector('.nx-reading').textContent === s", arg=sentences(told)[2])
    tab.keyboard.press("Space")
    k = int(figure.locator(".nx-step").input_value())
    assert play.text_content() == "Play"
    assert figure.locator(".nx-count").all_text_contents() == marks(told, k)  # a message in flight lands at once
    tab.wait_for_timeout(400)
    assert figure.locator(".nx-step").input_value() == str(k)
    assert tab.problems == []
    tab.close()


def test_one_step_by_hand_flies_and_lands(chromium, files):
    tab = opened(chromium, files)
    own, figure = EVERY["all-reduce-steps"], figure_of(tab, "all-reduce-steps")
    told = story(own().schedule)
    tokens, cells = figure.evaluate(
        """f => { f.querySelector('[data-do="next"]').click();
        const cells = [...f.querySelectorAll('.nx-count')].map(cell => cell.textContent);
        return [f.querySelectorAll('.nx-token').length, cells]; }"""
    )
    assert tokens == 4
    assert cells == marks(told, 0)  # not there yet
    tab.wait_for_function("document.querySelectorAll('.nx-token').length === 0")
    assert figure.locator(".nx-count").all_text_contents() == marks(told, 1)
    tab.close()


def test_a_wrong_schedule_says_so(tab):
    figure = figure_of(tab, "sample-switch")
    assert figure.locator(".nx-failure").is_visible()
    assert "never get what they need" in figure.locator(".nx-failure").text_content()
    assert not figure_of(tab, "ring-family").locator(".nx-failure").is_visible()


@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (1200, "light")])
def test_it_fits_any_width(chromium, files, width, theme):
    tab = opened(chromium, files, theme, width, reduced_motion="reduce")
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for id, own in EVERY.items():
        figure = figure_of(tab, id)
        to_state(figure, tuple(n - 1 for n in own.shape))
        slider = figure.locator(".nx-step")
        slider.focus()
        slider.press("Home")
        for _ in range(int(slider.get_attribute("max"))):
            slider.press("ArrowRight")
            outside, crowded = figure.locator(".nx-stage svg").evaluate(
                """svg => { const box = svg.getBoundingClientRect();
                  const seen = [...svg.querySelectorAll('text')].filter(t => t.textContent);
                  const boxes = seen.map(t => [t.textContent, t.getBoundingClientRect()]);
                  const out = b => b.left < box.left - 1 || b.right > box.right + 1
                    || b.top < box.top - 1 || b.bottom > box.bottom + 1;
                  const meet = (p, q) => p.left < q.right - 1 && q.left < p.right - 1
                    && p.top < q.bottom - 4 && q.top < p.bottom - 4;
                  return [boxes.filter(([, b]) => out(b)).map(([t]) => t), boxes.flatMap(([s, p], i) =>
                    boxes.slice(i + 1).filter(([, q]) => meet(p, q)).map(([t]) => [s, t]))]; }"""
            )
            assert outside == [], id
            assert crowded == [], id
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert tab.problems == []
    tab.close()


def test_a_narrower_window_lays_the_picture_out_again(chromium, files):
    tab = opened(chromium, files, width=1000)
    svg = figure_of(tab, "all-reduce-steps").locator(".nx-stage svg")
    wide = svg.bounding_box()["width"]
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.wait_for_function("document.querySelector('.nx-stage svg').clientWidth < 340")
    assert svg.bounding_box()["width"] < wide
    assert tab.problems == []
    tab.close()


def test_without_scripts_pictures_words_and_numbers_remain(chromium, files):
    tab = opened(chromium, files, java_script_enabled=False)
    for id, own in EVERY.items():
        figure, told = figure_of(tab, id), story(own().schedule)
        frames = figure.locator(".nx-frame")
        assert frames.count() == len(player_page.key_steps(told))
        assert all(frame.is_visible() and frame.bounding_box()["height"] > 60 for frame in frames.all())
        assert figure.locator(".nx-knobs").is_hidden()
        assert figure.locator(".nx-transport").is_hidden()
        assert figure.locator("noscript").is_visible()
        assert figure.locator(".nx-reading").text_content() == sentences(told)[0]
        assert figure.locator("td").count() > 3
    tab.close()


def test_print_keeps_the_picture_and_hides_the_controls(chromium, files):
    tab = opened(chromium, files)
    tab.emulate_media(media="print")
    figure = figure_of(tab, "all-reduce-steps")
    assert figure.locator(".nx-stage svg").is_visible()
    assert figure.locator('[data-do="play"]').is_hidden()
    assert figure.locator(".nx-step").is_hidden()
    assert figure.locator(".nx-knobs output").first.is_visible()
    tab.close()


def test_a_browser_that_cannot_unpack_keeps_the_strip(chromium, files):
    tab = chromium.new_page()
    tab.add_init_script("delete window.DecompressionStream")
    tab.goto((files / "light.html").as_uri())
    figure = figure_of(tab, "all-reduce-steps")
    figure.get_by_text("This figure cannot move here").wait_for()
    assert figure.locator(".nx-frame").first.is_visible()
    tab.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_accessibility_violation(chromium, files, theme):
    tab = opened(chromium, files, theme, reduced_motion="reduce")
    # axe needs scripts; what is there without them is judged too
    tab.evaluate("document.querySelectorAll('.nx-strip').forEach(s => { s.hidden = false; })")
    for figure in tab.locator(".nx-player").all():
        figure.locator('[data-do="next"]').click()
    assert violations(tab) == []
    tab.close()
