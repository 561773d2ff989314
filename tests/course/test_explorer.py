"""The engine: knobs, figures, words, packing, drawing, the live widget. The browser has its own file."""

import re
import runpy
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.course import explorer as engine
from netlib.course import page
from netlib.course.explorer import Knob, each, explore, explorer, pick, state, states
from netlib.course.figure import Array, Axis, Bars, Figure, Heat, Line, channels, parts, take
from netlib.course.frame import frame, span, stacks
from netlib.course.ink import INKS, RAMP_DARK, RAMP_LIGHT, ink
from netlib.course.pack import GAP, Packer, quantise, restore
from netlib.course.twin import fill, tables
from netlib.course.words import LADDERS, nice, ticks

SAMPLES = runpy.run_path(str(Path(__file__).with_name("explorer_samples.py")))["SAMPLES"]
CSS = Path(page.HOME).parent / "assets" / "explorer.css"


def make(view, id="made", **words):
    return explorer(id, **{"title": "T", "caption": "C", "alt": "A", **words})(view)


def one_knob(n: Annotated[Array, Knob(1, 2, 3, default=2, unit="nodes")]) -> Figure:
    return Figure((Line("y", np.arange(4.0), n * np.arange(4.0)),), "{n} nodes")


# ---- knobs


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Knob(), "at least one value"),
        (lambda: Knob(1, 1), "none twice"),
        (lambda: Knob(1, 2, default=3), "default = 3 is not one of"),
        (lambda: Knob(1, 2).index(5), "5 is not on the knob's grid; choose one of 1, 2"),
        (lambda: make(one_knob)(n=7), "n = 7 is not on the knob's grid"),
        (lambda: make(one_knob)(m=1), "'m' is not a knob of made; it has n"),
        (lambda: make(one_knob, alt=""), "needs a title, a caption and an alt text"),
        (lambda: make(one_knob, alt="same", caption="same"), "needs a title, a caption and an alt text"),
        (lambda: make(lambda n: None), "must be annotated Annotated"),
        (lambda: engine.find("no-such"), "explorer 'no-such' does not exist; "),
        (lambda: ink("mauve"), "ink = 'mauve' is not a concept"),
        (lambda: pick(np.array(["a", "z"]), {"a": 1}), "knob value 'z' has no choice"),
    ],
)
def test_a_mistake_is_one_clear_sentence(build, says):
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        build()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 240


def test_a_fourth_knob_is_refused():
    k = Annotated[Array, Knob(1, 2)]

    def view(a: k, b: k, c: k, d: k) -> Figure: ...

    with pytest.raises(ValueError, match="has 4 knobs; keep the 3"):
        make(view)


def test_a_knob_says_its_values_with_prefixes():
    assert Knob(2e-6, 1e-3, unit="s").texts == ("2 µs", "1 ms")
    assert Knob(2**20, 2**34, unit="iB").texts == ("1 MiB", "16 GiB")
    assert Knob(0.0, 0.5, unit="%").texts == ("0 %", "50 %")
    assert Knob(2e-6, 1e-3).index(2e-6 * (1 + 1e-12)) == 0


# ---- one state and the whole grid


@pytest.mark.parametrize("own", SAMPLES, ids=lambda e: e.id)
def test_one_state_equals_its_slice_of_the_grid(own):
    for index in states(own):
        alone, cut = own.at(index), take(own.grid, index)
        for key, part in parts(alone).items():
            for (name, a, _), (_, b, _) in zip(channels(part), channels(parts(cut)[key]), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, err_msg=f"{own.id} {key} {name} at {index}")
        assert own.words(alone, index) == own.words(cut, index)


def test_arrays_that_do_not_fit_are_named():
    def view(n: Annotated[Array, Knob(1, 2, 3)]) -> Figure:
        return Figure((Line("bad", np.arange(4.0), np.ones((5, 4))),), "r")

    with pytest.raises(ValueError, match=r"y of 'bad' in explorer 'made' has shape \(5, 4\), not \(3, 4\)"):
        _ = make(view).grid


def test_a_heat_map_keeps_its_cells():
    def view(n: Annotated[Array, Knob(1.0, 2.0)]) -> Figure:
        return Figure((Heat("h", n * np.arange(3), np.arange(2), np.ones((2, 3)), Axis("z")),), "r")

    with pytest.raises(ValueError, match="x of 'h' in explorer 'made' must be the same in every state"):
        _ = make(view).grid


def test_a_grid_too_large_for_a_page_is_refused():
    def view(n: Annotated[Array, Knob(*range(600))]) -> Figure:
        return Figure((Line("long", np.arange(2000), n * np.arange(2000)),), "r")

    with pytest.raises(ValueError, match="holds over 1,000,000 samples"):
        _ = make(view).grid


def test_a_level_stretches_along_its_curve():
    def view(n: Annotated[Array, Knob(1.0, 2.0)]) -> Figure:
        return Figure((Line("level", np.arange(5.0), n),), "r")

    own = make(view)
    assert own.grid.elements[0].y.shape == (2, 5)
    assert own(n=2).elements[0].y.tolist() == [2.0] * 5


def test_each_runs_one_state_at_a_time():
    a, b = np.meshgrid([1.0, 2.0, 3.0], [10.0, 20.0], indexing="ij")
    found = each(lambda x, y: [x, y, x * y], a[..., None], b[..., None])
    assert found.shape == (3, 2, 3)
    assert found[2, 1].tolist() == [3.0, 20.0, 60.0]
    assert each(lambda x: x, np.array([4.0])).tolist() == [4.0]


def test_state_is_plain_numbers():
    found = state(make(one_knob), n=3)
    assert found == {"x": [0, 1, 2, 3], "y": [0, 3, 6, 9], "reading": "3 nodes nodes", "failure": ""}


def test_a_reading_may_be_a_template_or_a_function():
    own = SAMPLES[3]
    assert own.words(own(), own.start)[0] == "With none lost the fullest link carries 40.0 %."
    index = own.index(broken="one spine", load=0.8)
    assert own.words(own.at(index), index)[1] == "A link is asked for more than it has."


# ---- words


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.797266, "s", "2.80 s"),
        (999.9e-6, "s", "1.00 ms"),
        (0.0, "s", "0 s"),
        (-0.0028, "s", "-2.80 ms"),
        (5e-10, "s", "0.500 ns"),
        (50e9, "B/s", "50.0 GB/s"),
        (1.5 * 2**30, "iB", "1.50 GiB"),
        (1024, "iB", "1.00 KiB"),
        (2**30 * (1 - 1e-4), "iB", "1.00 GiB"),
        (1023, "iB", "1,023 B"),
        (1024, "GPUs", "1,024 GPUs"),
        (12.5, "GPUs", "12.5 GPUs"),
        (0.0625, "%", "6.25 %"),
        (1e-9, "", "1.00×10⁻⁹"),
        (2.125, "", "2.13"),
        (float("nan"), "s", "–"),
        (float("inf"), "s", "–"),
    ],
)
def test_numbers_are_said_to_three_digits(value, unit, text):
    assert nice(value, unit) == text


@given(st.floats(1e-12, 1e18), st.sampled_from([*LADDERS, "", "GPUs"]))
def test_said_numbers_keep_their_value(value, unit):
    number, _, name = nice(value, unit).partition(" ")
    factor = next((f for f, n in LADDERS.get(unit, ()) if n == name), 1.0)
    plain = number.replace(",", "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    digits, _, exponent = plain.partition("×10")
    if re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", number):  # a bare power of ten
        digits, exponent = "1", plain[2:]
    assert float(digits) * 10.0 ** int(exponent or 0) * factor == pytest.approx(value, rel=0.00501)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e9))
def test_linear_ticks_are_few_round_and_inside(low, width):
    found, strides = ticks(Axis("a"), (low, low + width))
    assert 3 <= len(found) <= 12
    assert strides == sorted(strides)
    assert all(low - 1e-6 * width <= v <= low + width * 1.000001 for v, _, _ in found)


@given(st.floats(1e-12, 1e6), st.floats(1.5, 1e15), st.sampled_from(["s", "iB", ""]))
def test_log_ticks_lie_inside(low, ratio, unit):
    for value, text, _ in ticks(Axis("a", unit, "log"), (low, low * ratio))[0]:
        assert low * 0.999 <= value <= low * ratio * 1.001
        assert text


# ---- frame


def test_the_frame_holds_every_state():
    for own in SAMPLES:
        limits = frame(own.grid)
        for p, panel in enumerate(own.grid.panels):
            for part in panel.elements:
                if isinstance(part, Line):
                    assert limits.y[p][0] <= np.nanmin(part.y)
                    assert np.nanmax(part.y) <= limits.y[p][1]
                    assert limits.x[0] <= np.min(part.x) <= np.max(part.x) <= limits.x[1]


def test_stacked_bars_stand_on_the_one_before():
    bars = [Bars("a", [1.0, 2.0]), Bars("b", [3.0, np.nan], stacked=True), Bars("c", [5.0, 5.0])]
    (f0, h0), (f1, h1), (f2, h2) = stacks(bars)
    assert (f0.tolist(), h0.tolist()) == ([0, 0], [1, 2])
    assert (f1.tolist(), h1[0]) == ([1, 2], 4)
    assert (f2.tolist(), h2.tolist()) == ([0, 0], [5, 5])


@pytest.mark.parametrize(
    ("values", "axis", "limits"),
    [
        ([3.0, 3.0], Axis("a"), (0.0, 3.15)),
        ([90.0, 100.0], Axis("a"), (89.5, 100.5)),
        ([2.0], Axis("a", scale="log"), (1.0, 4.0)),
        ([np.nan, -1.0], Axis("a", scale="log"), (5.0, 20.0)),
        ([1.0], Axis("a", limits=(0, 9)), (0, 9)),
        ([], Axis("a", categories=("x", "y")), (-0.5, 1.5)),
    ],
)
def test_limits(values, axis, limits):
    if np.isnan(values).any():
        assert span([np.array(values)], axis)[0] > 0  # nothing to show: some decade
    else:
        assert span([np.array(values)], axis) == pytest.approx(limits)


# ---- packing


REAL = st.one_of(st.floats(1e-9, 1e9), st.floats(-1e9, -1e-9), st.just(0.0), st.just(float("nan")))


@given(st.lists(REAL, min_size=1, max_size=50))
def test_packed_values_keep_three_digits(values):
    a = np.array(values)
    back = restore(*quantise(a))
    assert (np.isnan(back) == np.isnan(a)).all()
    tiny = np.nanmax(np.abs(a), initial=0.0) * 1e-9  # what is nine decades below the largest is zero
    np.testing.assert_allclose(back, a, rtol=3.2e-4, atol=tiny)
    np.testing.assert_allclose(restore(*quantise(np.abs(a))), np.abs(a), rtol=1.6e-4, atol=tiny)


@given(st.lists(st.integers(0, 65534), min_size=1, max_size=50))
def test_counts_come_back_exactly(counts):
    a = np.array(counts, float)
    assert restore(*quantise(a)).tolist() == a.tolist()


def unpack(spec):
    """The numbers of a page figure, read as its script reads them."""
    import base64
    import gzip
    import json

    raw = gzip.decompress(base64.b64decode(spec["data"]))
    n = spec["count"]
    steps = np.frombuffer(raw[:n], np.uint8).astype(np.int64) + 256 * np.frombuffer(raw[n : 2 * n], np.uint8).astype(
        np.int64
    )
    return steps, json.loads(raw[2 * n :])


@pytest.mark.parametrize("own", SAMPLES, ids=lambda e: e.id)
def test_a_page_holds_the_numbers_of_its_view(own):
    spec = page.specification(own, own.grid, frame(own.grid))
    steps, words = unpack(spec)
    for i, index in enumerate(states(own)):
        now = own.at(index)
        for p, panel in enumerate(now.panels):
            for drawn, part in zip(spec["panels"][p]["parts"], panel.elements, strict=True):
                for name, array, _ in channels(part):
                    if not isinstance(drawn.get(name), int):
                        continue
                    ref = spec["refs"][drawn[name]]
                    if "fixed" in ref:
                        got = np.array([np.nan if v is None else v for v in ref["fixed"]])
                        error = 1e-6 * np.abs(array.ravel())
                    else:
                        at, scale = ref["at"] + i * ref["n"], {k: ref[k] for k in ("low", "high", "steps") if k in ref}
                        got = restore(np.cumsum(steps[at : at + ref["n"]]) % 65536, scale)
                        error = 3.2e-4 * np.abs(array)
                    same_gaps = np.isnan(got) == np.isnan(array.ravel())
                    assert same_gaps.all()
                    assert not (np.abs(got - array.ravel()) > np.ravel(error) + 1e-300).any()
        for part, said in zip(("reading", "failure"), own.words(now, index), strict=True):
            ref = spec["refs"][spec[part]]
            assert ref.get("text", words[steps[ref["words"] + i]] if "words" in ref else None) == said


def test_gaps_and_constants_pack():
    pack = Packer(2)
    pack.array(np.array([[1.0, np.nan], [np.inf, 2.0]]), 1)
    pack.array(np.full((2, 2), 0.7), 1)
    pack.array(np.full((2, 2), np.nan), 1)
    pack.words(["same", "same"])
    assert pack.blocks[0].tolist() == [1, GAP - 1, GAP, (2 - GAP) % 65536]
    assert restore(np.array([1, 1]), {"low": 0.7, "high": 0.7, "steps": 65534}).tolist() == [0.7, 0.7]
    assert pack.refs[1]["low"] == pack.refs[1]["high"] == 0.7
    assert pack.blocks[2].tolist() == [GAP, 0, GAP, 0]
    assert pack.refs[3] == {"text": "same"}


# ---- the page


@pytest.mark.parametrize("own", SAMPLES, ids=lambda e: e.id)
def test_a_bake_is_small_plain_and_repeatable(own):
    first, again = page.render(own), page.render(own)
    assert first == again
    assert len(first.encode()) <= 150_000
    assert first.count("<svg") == 1
    assert not re.search(r"https?://(?!www\.w3\.org/)", first)
    ids = re.findall(r'\bid="([^"]+)"', first)
    assert len(ids) == len(set(ids))
    assert all(i.startswith(f"nx-{own.id}-") for i in ids)
    assert "<noscript>" in first
    assert first.count("<table>") == len(tables(own()))


def test_a_changed_explorer_gets_another_id():
    def other(n: Annotated[Array, Knob(1, 2, 3, default=2, unit="nodes")]) -> Figure:
        return Figure((Line("y", np.arange(4.0), 1.5 * n * np.arange(4.0)),), "{n} nodes")

    ids = [re.search(r'id="([^"]+)"', page.render(make(view)))[1] for view in (one_knob, other)]
    assert ids[0] != ids[1]


def test_bakes_are_cached_until_netlib_changes(tmp_path, monkeypatch):
    home = tmp_path / "netlib"
    home.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (home / "a.py").write_text("1")
    monkeypatch.setattr(page, "HOME", home)
    own = engine.find("ring-or-tree")
    calls = []
    monkeypatch.setattr(page, "render", lambda e: calls.append(e.id) or f"bake {len(calls)}")
    assert [page.bake(own), page.bake(own)] == ["bake 1", "bake 1"]
    (home / "a.py").write_text("2")
    assert page.bake(own) == "bake 2"
    assert len(list((tmp_path / "build" / "bakes").iterdir())) == 1  # the stale one is gone


def test_titles_and_names_are_escaped():
    def view(n: Annotated[Array, Knob("<b>", "</script>", "<!--<script>")]) -> Figure:
        return Figure((Line("a < b", [0, 1], [0, 1]),), "{n}")

    text = page.render(make(view, caption="x < y & z"))
    assert "x &lt; y &amp; z" in text
    assert "<b>" not in text.replace('"texts":["<b>"', "").split('<script type="application/json"')[0]
    assert text.count("</script>") == text.count("<script") == 1
    assert "<!--" not in text.split('<script type="application/json"')[1]


@pytest.mark.parametrize("value", [3, "8", None, [8], np.array([1, 2]), np.nan, 10**400, 1j, {}, object()])
def test_a_value_off_the_grid_is_refused_whatever_it_is(value):
    with pytest.raises(ValueError, match="is not on the knob's grid; choose one of 1, 8"):
        Knob(1, 8).index(value)
    assert [Knob(1, 8).index(v) for v in (8, 8.0, np.float32(8), np.int64(8), 8 * (1 + 1e-12))] == [1] * 5
    with pytest.raises(ValueError, match="does not exist"):
        state(value)


# ---- colours


def luminance(colour):
    c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return float(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def declared(selector):
    block = re.search(re.escape(selector) + r"\s*\{(.*?)\}", CSS.read_text(), re.S)[1]
    return dict(re.findall(r"--nx-([\w-]+): (#[0-9a-f]{6});", block))


def test_inks_stand_out_and_the_style_sheet_agrees():
    for selector, theme, ramp in ((":root", "light", RAMP_LIGHT), ('html[data-theme="dark"]', "dark", RAMP_DARK)):
        css = declared(selector)
        for name, look in INKS.items():
            assert css[name] == getattr(look, theme)
            assert contrast(css[name], css["paper"]) >= (4.5 if name == "failure" else 3)
        assert [css[f"ramp-{k}"] for k in range(8)] == list(ramp)
        lightness = [luminance(c) for c in ramp]
        assert lightness == sorted(lightness, reverse=theme == "light")
        for words in ("text", "quiet"):
            assert contrast(css[words], css["paper"]) >= 4.5


# ---- the notebook


def png_size(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


@pytest.mark.parametrize("own", SAMPLES, ids=lambda e: e.id)
def test_live_repaints_and_says_the_same_words(own):
    box = explore(own)
    assert repr(box) == f"Explorer({own.id!r})"
    assert box._repr_mimebundle_()["text/plain"] == repr(box)
    assert png_size(box.image.value) == (704, 429 if len(own().panels) < 3 else 599)  # more panels, more room
    before = box.image.value
    name, knob = next(iter(own.knobs.items()))
    box.knobs[name].value = len(knob.values) - 1
    assert box.image.value != before
    index = own.index(**{name: knob.values[-1]})
    assert own.words(own.at(index), index)[0] in box.said.value
    box.numbers.value = True
    assert fill(tables(own.grid)[0], own.at(index))[0][0].split(" →")[0] in box.table.value
    moved = box.image.value
    box._reset(None)
    assert [k.value for k in box.knobs.values()] == list(own.start)
    assert box.image.value != moved
    assert box.image.value == before


def test_live_brings_the_colours_of_jupyterlabs_dark_theme():
    box = explore(SAMPLES[0])
    assert "netlib-figure" in box.image._dom_classes
    style = re.search("<style>(.*)</style>", box.caption.value)[1]
    night = dict(re.findall(r"--nx-([\w-]+):(#[0-9a-f]{6})", style))
    assert set(INKS) <= set(night)
    assert contrast(night["text"], night["paper"]) > 7
    assert all(contrast(night[name], night["paper"]) >= 3 for name in INKS)
    rules = re.findall(r"([^{}]+)\{", style)
    assert rules
    assert all('[data-jp-theme-light="false"]' in rule for rule in rules)  # nothing changes in the light


def test_live_shows_an_error_instead_of_swallowing_it():
    def view(n: Annotated[Array, Knob(1.0, 2.0)]) -> Figure:
        if n.shape == (1,) and n[0] == 2.0:
            raise RuntimeError("the model <broke>")
        return Figure((Line("y", [0.0, 1.0], n * [0.0, 1.0]),), "fine")

    box = explore(make(view))
    assert "fine" in box.said.value
    box.knobs["n"].value = 1
    assert "RuntimeError: the model &lt;broke&gt;" in box.said.value
    assert 'role="alert"' in box.said.value
    box.knobs["n"].value = 0
    assert "fine" in box.said.value


def test_the_book_build_gets_the_page_figure(monkeypatch):
    monkeypatch.setenv("NETLIB_BOOK", "1")
    shown = explore(make(one_knob))
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == repr(shown) == "Explorer('made')"
    assert bundle["text/html"] == page.render(make(one_knob))


def test_marks_of_the_page_can_be_moved_by_their_first_point():
    """The script puts a mark somewhere by its first M: a second absolute one would stay behind."""
    script = (Path(__file__).parents[2] / "assets" / "explorer.js").read_text(encoding="utf-8")
    marks = re.findall(
        r"'(M[^']+)'", script[script.index("const MARKS") : script.index("};", script.index("const MARKS"))]
    )
    assert len(marks) >= 8
    assert all(re.fullmatch(r"M[^A-Z]+z?", mark) for mark in marks)
