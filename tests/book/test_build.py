"""A book that is wrong does not build, and does not build the second time either; shown on a book of two pages."""

import json

import pytest

from netlib.course.site import BookError, build_book

CONFIG = """\
title: Toy
only_build_toc_files: true
exclude_patterns: [_build, build]
execute: {execute_notebooks: cache, stderr_output: error}
sphinx:
  config:
    extensions: [myst_nb, jupyter_book, sphinx_comments, sphinx_external_toc, sphinx_togglebutton,
                 sphinx_copybutton, sphinx_book_theme, netlib.course.sphinx]
    nb_execution_raise_on_error: true
    html_theme_options: {}
"""


def cell(source):
    return {
        "cell_type": "code",
        "id": "one",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": [source],
    }


@pytest.fixture
def toy(tmp_path):
    """A book of one page and one notebook."""
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n  - file: cell\n")
    (tmp_path / "page.md").write_text("# Toy\n\nText.\n")

    def write(source):
        kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# Cell"]}
        notebook = {"cells": [title, cell(source)], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (tmp_path / "cell.ipynb").write_text(json.dumps(notebook))
        return tmp_path

    return write


def quiet(line):
    pass


def test_a_failing_cell_fails_every_build(toy):
    root = toy("print(1 / 0)")
    for _ in range(2):
        with pytest.raises(BookError) as raised:
            build_book(root=root, say=quiet)
        assert "cell.ipynb" in str(raised.value)
        assert "ZeroDivisionError: division by zero" in str(raised.value)


def test_a_wrong_name_in_prose_fails_with_file_and_line(toy):
    root = toy("import os\nprint(os.environ['NETLIB_BOOK'])")
    (root / "page.md").write_text("# Toy\n\nText.\n\nA {fact}`pigeon-post`.\n")
    with pytest.raises(BookError, match=r"page\.md:5: fact: .*pigeon-post"):
        build_book(root=root, say=quiet)
    (root / "page.md").write_text("# Toy\n\nA {fact}`ndr-400`.\n")
    pages = build_book(root=root, say=quiet)
    assert "400 Gb/s, one way" in (pages / "page.html").read_text(encoding="utf8")
    assert "<span></span>1\n" in (pages / "cell.html").read_text(encoding="utf8"), (
        "notebooks know that they run for the book"
    )
