"""How long a slider step takes, in the page and in JupyterLab: real Chromium, real kernel, no GPU.

Each row's peer is its budget, but for the repaint in the kernel, whose peer is the usual way: a new matplotlib figure
for every step. Figures hold for a quiet machine; run it twice and take the better.
"""

import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync"]  # fmt: skip
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>
<link rel="stylesheet" href="{assets}/explorer.css">
<body>{figure}<script src="{assets}/explorer.js"></script></body></html>"""
# script: until the input event's handlers return; paint: until the frame after that is on screen
STEPS = """async () => {
  const slider = document.querySelector('.nx-knobs input'), script = [], paint = [];
  const painted = () => new Promise(r => requestAnimationFrame(() => {
    const c = new MessageChannel(); c.port1.onmessage = () => r(performance.now()); c.port2.postMessage(0); }));
  for (let i = 0; i < 120; i++) {
    slider.value = i % (+slider.max + 1);
    const begin = performance.now();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    script.push(performance.now() - begin);
    paint.push((await painted()) - begin);
    await new Promise(r => setTimeout(r, 25));
  }
  return { script: script.slice(20), paint: paint.slice(20) };
}"""
WATCH = """() => {
  const image = document.querySelector('.netlib-figure');
  window.steps = []; let begin = 0;
  document.addEventListener('keydown', () => { begin = performance.now(); }, true);
  new MutationObserver(async () => { const from = begin; await image.decode();
    window.steps.push(performance.now() - from); }).observe(image, { attributes: true, attributeFilter: ['src'] });
}"""


def p95(values: list[float]) -> float:
    """The 95th percentile, nearest rank."""
    return sorted(values)[round(0.95 * (len(values) - 1))]


def row(name: str, size: object, ours: float, peer: str, theirs: float) -> dict[str, object]:
    """One row of the report, in seconds."""
    return {"name": name, "size": size, "ours_s": ours, "peer": peer, "peer_s": theirs, "ratio": ours / theirs}


def kernel_rows(id: str) -> list[dict[str, object]]:
    """A cold bake, and one repaint in the kernel against a figure drawn from nothing."""
    from netlib.course.draw import Picture
    from netlib.course.explorer import find
    from netlib.course.frame import frame
    from netlib.course.page import render

    own = find(id)
    begin = time.perf_counter()
    text = render(own)
    cold = time.perf_counter() - begin
    picture, limits, ours, theirs = Picture(own(), frame(own.grid)), frame(own.grid), [], []
    for i in range(40):
        index = tuple(i % n for n in own.shape)
        begin = time.perf_counter()
        picture.show(own.at(index))
        picture.png()
        ours.append(time.perf_counter() - begin)
        if i < 10:
            begin = time.perf_counter()
            Picture(own.at(index), limits).png()
            theirs.append(time.perf_counter() - begin)
    return [
        row(f"{id}: cold bake", f"{len(text)} B", cold, "budget", 3.0),
        row(
            f"{id}: repaint in the kernel",
            1,
            statistics.median(ours),
            "new matplotlib figure",
            statistics.median(theirs),
        ),
    ]


def page_rows(browser: object, id: str) -> list[dict[str, object]]:
    """A slider step in the page."""
    from netlib.course.explorer import bake

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(PAGE.format(assets=(ROOT / "assets").as_uri(), figure=bake(id)), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1000, "height": 900})
        tab.goto(file.as_uri())
        tab.wait_for_selector(".nx-figure[data-ready]")
        found = tab.evaluate(STEPS)
        tab.close()
    return [
        row(f"{id}: page, script p95", 100, p95(found["script"]) / 1e3, "budget", 4e-3),
        row(f"{id}: page, to paint p95", 100, p95(found["paint"]) / 1e3, "budget", 20e-3),
    ]


def lab_rows(browser: object, id: str) -> list[dict[str, object]]:
    """A key step in a real JupyterLab, from the key to the decoded picture."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        code = f"from netlib.course.explorer import explore\nexplore({id!r})"
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": code, "outputs": [], "execution_count": None}
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (Path(folder) / "step.ipynb").write_text(json.dumps(notebook))
        names = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
        places = {name: f"{folder}/{name}" for name in names}
        words = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token=t",
                 f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}",
                 "--LabApp.extension_manager=readonly", "--LabApp.news_url=",
                 "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]  # fmt: skip
        env = {**os.environ, **places, "PYTHONPATH": str(ROOT)}
        env.pop("NETLIB_BOOK", None)
        log = subprocess.DEVNULL
        server = subprocess.Popen(words, stdout=log, stderr=log, env=env, start_new_session=True)
        try:
            return _steps_in_lab(browser, f"http://127.0.0.1:{port}", id)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)


def _steps_in_lab(browser: object, address: str, id: str) -> list[dict[str, object]]:
    from playwright.sync_api import TimeoutError

    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/api?token=t", timeout=1)
            break
        except OSError:
            time.sleep(0.2)
    tab = browser.new_page(viewport={"width": 1300, "height": 1100})
    tab.goto(f"{address}/lab/tree/step.ipynb?token=t&reset")
    tab.wait_for_selector(".jp-NotebookPanel .jp-CodeCell", timeout=120_000)
    accept, figure = tab.locator(".jp-Dialog button.jp-mod-accept"), tab.locator(".netlib-figure[src]")
    for _ in range(12):  # at times Lab asks which kernel, early or late, and forgets the run
        if accept.is_visible():
            accept.click()
        tab.get_by_role("menuitem", name="Run", exact=True).click()
        tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        try:
            figure.or_(accept).first.wait_for(timeout=15_000)
        except TimeoutError:
            continue
        if figure.count():
            break
    tab.wait_for_timeout(1500)
    tab.evaluate(WATCH)
    handle = tab.locator(".noUi-handle").first
    for i in range(44):
        handle.focus()
        seen = tab.evaluate("window.steps.length")
        handle.press("ArrowLeft" if (i // 5) % 2 else "ArrowRight")
        tab.wait_for_function(f"window.steps.length > {seen}", timeout=10_000)
        tab.wait_for_timeout(60)
    tab.screenshot(path=str(ROOT / "build" / "explorer-lab.png"))
    steps = [s / 1e3 for s in tab.evaluate("window.steps")[4:]]
    tab.close()
    return [
        row(f"{id}: JupyterLab median", len(steps), statistics.median(steps), "budget", 0.12),
        row(f"{id}: JupyterLab p95", len(steps), p95(steps), "budget", 0.2),
    ]


def rows(id: str = "ring-or-tree") -> list[dict[str, object]]:
    """Every row; needs Debian's chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("This benchmark needs Debian's chromium: apt-get install chromium")
    (ROOT / "build").mkdir(exist_ok=True)
    found = kernel_rows(id)
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=ARGS)
        found += page_rows(browser, id) + lab_rows(browser, id)
        browser.close()
    return found


if __name__ == "__main__":
    for one in rows(*sys.argv[1:2]):
        ours, theirs = (f"{one[key] * 1e3:9.2f} ms" for key in ("ours_s", "peer_s"))
        print(f"{one['name']:<40} {one['size']!s:>10} {ours}   {one['peer']} {theirs}")
