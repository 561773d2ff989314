"""One JupyterLab for all the tests of this folder, on a copy of the notebooks: it saves what it runs."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from netlib.course.jupyter import Lab, lab_server

ROOT = Path(__file__).resolve().parents[2]

# A notebook that needs nothing but the frame: a slider that redraws a picture, and an answer to type. Where it fails,
# the frame is to blame; where it passes and a chapter's notebook fails, the chapter is.
DESK = (
    """import io

import ipywidgets
from matplotlib.figure import Figure

picture = ipywidgets.Image()
slider = ipywidgets.SelectionSlider(options=[1, 2, 4, 8, 16], description="ranks")


def draw(change=None):
    figure = Figure(figsize=(3, 2))
    figure.add_subplot().plot([0, 1], [0, slider.value])
    page = io.BytesIO()
    figure.savefig(page, format="png")
    picture.value = page.getvalue()


slider.observe(draw, "value")
draw()
ipywidgets.VBox([slider, picture])""",
    """def check(name, answer):
    print("not answered yet" if answer is ... else "right" if answer == 42 else "wrong")""",
    """check("desk-01", ...)""",
)


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows: copies of the notebooks, and beside them one that the tests wrote."""
    folder = tmp_path_factory.mktemp("desk")
    # With the logs that they read, without what a person has answered or changed in passing.
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(ROOT / "labs", folder / "labs", ignore=shutil.ignore_patterns(".*", "source"))
    cells = [nbformat.v4.new_markdown_cell("# Desk"), *map(nbformat.v4.new_code_cell, DESK)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "desk.ipynb")
    return folder


@pytest.fixture(scope="session")
def lab(desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A real JupyterLab on the desk; its kernels find netlib as it stands here."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    home = tmp_path_factory.mktemp("lab")
    # All cells in the page at once: by default JupyterLab draws those in sight, and a test could not count the others.
    tracker = home / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    tracker.write_text('{"windowingMode": "none", "autoStartDefaultKernel": true}')
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    try:
        with lab_server(desk, port, home) as served:
            yield served
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before
