"""Pages of figures for a real browser: written to files, opened with an eye on what goes wrong, moved by keys."""

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

from netlib.course.page import HOME

ASSETS = (HOME.parent / "assets").as_uri()
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>Figures</title>
<meta name="viewport" content="width=device-width">{styles}
<style>body {{ margin: 12px; background: {paper}; }}</style></head>
<body><main>{figures}</main>{scripts}</body></html>"""


def written(folder: Path, figures: list[str], *assets: str) -> Path:
    """light.html and dark.html in a folder, with the style sheets and scripts of these names."""
    styles = "\n".join(f'<link rel="stylesheet" href="{ASSETS}/{name}.css">' for name in assets)
    scripts = "\n".join(f'<script src="{ASSETS}/{name}.js"></script>' for name in assets)
    for theme, paper in (("light", "#ffffff"), ("dark", "#14181e")):
        text = PAGE.format(theme=theme, paper=paper, styles=styles, scripts=scripts, figures="\n".join(figures))
        (folder / f"{theme}.html").write_text(text, encoding="utf-8")
    return folder


def opened(chromium, files, kind, many, theme="light", width=900, **options):
    """A tab with `many` figures of a kind that are ready; `.problems` and `.asked` are what it said and asked for."""
    tab = chromium.new_page(viewport={"width": width, "height": 900}, **options)
    tab.problems, tab.asked = [], []
    tab.on("pageerror", lambda e: tab.problems.append(str(e)))
    tab.on("console", lambda m: tab.problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("request", lambda r: tab.asked.append(r.url))
    tab.goto((files / f"{theme}.html").as_uri())
    if options.get("java_script_enabled", True):
        tab.wait_for_function(f"document.querySelectorAll('.{kind}[data-ready]').length === {many}")
    return tab


def to_state(figure, index):
    """Walk each knob to a place with the keyboard, as a reader would."""
    for knob, place in zip(figure.locator(".nx-knobs input").all(), index, strict=True):
        knob.focus()
        knob.press("Home")
        for _ in range(place):
            knob.press("ArrowRight")


def violations(tab):
    """What axe finds with everything unfolded, the frame of a whole page apart."""
    tab.locator("details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    found = Axe().run(tab).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["id"] not in ("page-has-heading-one", "region")]
