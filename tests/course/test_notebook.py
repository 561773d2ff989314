"""Notebooks on the command line: what is refused, and that nothing is half-written."""

import json
from pathlib import Path

import pytest

from netlib.__main__ import main
from netlib.course import notebook


def cells(*sources: str) -> str:
    """A notebook of these cells."""
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for i, source in enumerate(sources)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made})


@pytest.mark.parametrize(
    "content",
    ["", "# A page", "[]", "{}", '{"nbformat": 99, "cells": []}', '{"nbformat": 4, "cells": [{}]}', "\udcff\udcfe"],
)
def test_what_is_no_notebook_is_refused_by_name(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.ipynb"
    path.write_text(content, errors="surrogateescape")
    assert main(["notebooks", str(path)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"netlib notebooks: {path} is no Jupyter notebook (")
    assert said.endswith("; name an .ipynb file\n")
    assert said.count("\n") == 1
    assert path.read_bytes() == content.encode(errors="surrogateescape")


def test_a_cell_that_fails_is_one_sentence_and_stores_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NETLIB_JOURNAL", raising=False)
    path = tmp_path / "a.ipynb"
    path.write_text(before := cells("print(1)", "1 / 0"))
    assert main(["notebooks", str(path)]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith("did not run to its end, so nothing was stored: ZeroDivisionError: division by zero")
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.ipynb"]


def test_outputs_are_stored_in_one_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(cells("print(6 * 7)"))
    assert main(["notebooks", "--check", str(path)]) == 1
    assert "differs from a fresh run" in capsys.readouterr().out
    assert main(["notebooks", str(path)]) == 0
    assert json.loads(path.read_text())["cells"][0]["outputs"][0]["text"] == ["42\n"]
    assert [file.name for file in tmp_path.iterdir()] == ["a.ipynb"]


def test_pieces_of_a_stream_are_one():
    def piece(name, text):
        return {"output_type": "stream", "name": name, "text": text}

    value = {"output_type": "execute_result", "data": {}}
    pieces = [piece("stdout", "a"), piece("stdout", "b"), value, piece("stdout", "c"), piece("stderr", "d")]
    assert notebook.joined(pieces) == [
        piece("stdout", "ab"), value, piece("stdout", "c"), piece("stderr", "d")
    ]  # fmt: skip
