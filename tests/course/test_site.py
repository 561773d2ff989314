"""Building the book: what changes the cache, what may not be loaded, what is packed (tests/book builds it all)."""

import zipfile
from pathlib import Path

import pytest

from netlib.course import site


def test_the_fingerprint_follows_the_sources(tmp_path, monkeypatch):
    package, root = tmp_path / "netlib", tmp_path / "root"
    for path in (
        package / "deep/model.py",
        package / "hardware.toml",
        root / "requirements.txt",
        root / "notebooks/data/log.txt",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")
    monkeypatch.setattr(site, "PACKAGE", package)
    seen = {site.fingerprint(root)}
    for changed in (
        package / "deep/model.py",
        package / "hardware.toml",
        root / "requirements.txt",
        root / "notebooks/data/log.txt",
    ):
        changed.write_text("two")
        seen.add(site.fingerprint(root))
    (package / "new.py").write_text("")
    seen.add(site.fingerprint(root))
    assert len(seen) == 6
    (root / "README.md").write_text("not a source")
    assert site.fingerprint(root) in seen
    assert site.notebook_cache(root).name == site.fingerprint(root)
    (root / "assets").mkdir()
    before = site.fingerprint(root, site.PAGE_SOURCES)
    (root / "assets" / "course.css").write_text("p {}")
    assert site.fingerprint(root, site.PAGE_SOURCES) != before


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        (
            "a.html",
            '<script src="https://cdn.example/x.js"></script>',
            ["a.html loads https://cdn.example/x.js"],
        ),
        (
            "a.html",
            '<link rel="stylesheet" href="//cdn.example/x.css"/>',
            ["a.html loads //cdn.example/x.css"],
        ),
        ("a.html", "<IMG alt='' SRC='http://cdn.example/x.png'>", ["a.html loads http://cdn.example/x.png"]),
        (
            "a.html",
            "<p style=\"background: url('https://cdn.example/x.png')\">",
            ["a.html loads https://cdn.example/x.png"],
        ),
        ("a.css", '@import "https://cdn.example/x.css";', ["a.css loads https://cdn.example/x.css"]),
        ("a.css", "p { background: url(//cdn.example/x.png) }", ["a.css loads //cdn.example/x.png"]),
        (
            "a.html",
            '<script type="application/vnd.jupyter.widget-view+json">{}</script>',
            ["a.html carries a live widget, which needs a kernel"],
        ),
        (
            "a.html",
            '<a href="https://example.org">a link may leave</a><img src="x.png"><script src="x.js"></script>',
            [],
        ),
        ("a.js", '"https://example.org/only-a-comment"', []),
        ("a.css", "p { background: url(x.png) }", []),
    ],
)
def test_what_a_page_may_load(tmp_path, name, text, faults):
    (tmp_path / name).write_text(text)
    assert site.outside_loads(tmp_path) == faults


def test_the_zip_depends_on_the_pages_alone(tmp_path):
    pages = tmp_path / "pages"
    (pages / "book").mkdir(parents=True)
    (pages / "index.html").write_text("first")
    (pages / "book" / "a.html").write_text("second")
    (pages / ".buildinfo").write_text("changes with each configuration")
    first = site.pack(pages, tmp_path / "out" / "first.zip").read_bytes()
    (pages / "index.html").touch()
    (pages / ".buildinfo").write_text("changed")
    assert site.pack(pages, tmp_path / "second.zip").read_bytes() == first
    with zipfile.ZipFile(tmp_path / "second.zip") as archive:
        assert archive.namelist() == [f"{site.NAME}/book/a.html", f"{site.NAME}/index.html"]
    (pages / "index.html").write_text("other")
    assert site.pack(pages, tmp_path / "third.zip").read_bytes() != first


@pytest.fixture
def pretend(monkeypatch):
    """Let a build print the given lines and end with a code, in place of Jupyter Book."""

    def install(lines: list[str], code: int) -> None:
        program = f"import sys; [print(line) for line in {lines!r}]; sys.exit({code})"
        real = site.subprocess.Popen
        monkeypatch.setattr(site.subprocess, "Popen", lambda words, **more: real([words[0], "-c", program], **more))

    return install


def test_progress_and_success(tmp_path, pretend):
    (tmp_path / "_build" / "html").mkdir(parents=True)
    (tmp_path / "_build" / "html" / "index.html").write_text("<p>book</p>")
    old = tmp_path / "_build" / ".jupyter_cache" / "of-another-netlib"
    old.mkdir(parents=True)
    pretend(
        [
            "reading sources... [ 50%] a",
            "reading sources... [100%] b",
            f"{tmp_path}/notebooks/n.ipynb: Executing notebook using",
        ],
        0,
    )
    said: list[str] = []
    assert site.build_book(root=tmp_path, say=said.append) == tmp_path / "_build" / "html"
    assert [line.strip() for line in said[1:3]] == ["reading sources", "executing notebooks/n.ipynb"]
    assert (tmp_path / "build" / f"{site.NAME}.zip").exists()
    assert not old.exists()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["ROOT/book/a.md:3: WARNING: fact: no such fact", "ROOT/book/b.md: ERROR: more"],
            "book/a.md:3: fact: no such fact and 1 more",
        ),
        (
            [
                "\x1b[91mROOT/n.ipynb: WARNING: Executing notebook failed: CellExecutionError [mystnb.exec]\x1b[0m",
                "ValueError: bad",
            ],
            "n.ipynb: Executing notebook failed: CellExecutionError [mystnb.exec], ValueError: bad",
        ),
        ([], "Jupyter Book stopped"),
    ],
)
def test_failure_is_one_sentence(tmp_path, pretend, lines, sentence):
    pretend([line.replace("ROOT", str(tmp_path)) for line in lines], 1)
    with pytest.raises(site.BookError) as raised:
        site.build_book(root=tmp_path, say=lambda line: None)
    assert str(raised.value) == f"the book did not build: {sentence}; the whole log is {Path('build/book.log')}"


def test_a_page_that_leaves_fails_the_build(tmp_path, pretend):
    (tmp_path / "_build" / "html").mkdir(parents=True)
    (tmp_path / "_build" / "html" / "index.html").write_text('<script src="https://cdn.example/x.js"></script>')
    pretend([], 0)
    with pytest.raises(site.BookError, match=r"not self-contained: index.html loads https://cdn\.example/x\.js"):
        site.build_book(root=tmp_path, say=lambda line: None)
