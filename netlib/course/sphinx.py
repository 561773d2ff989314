"""The book's own roles and directives (a local Sphinx extension, named in _config.yml).

Roles: `fact`, `ratio`, `calc` (netlib.course.prose). Directives (netlib.course.directives): `explorer`, `player`,
`exercise`, `exercises`, `agreement`, `agreement-table`, `registry-table`, `takeaway`, `generated`. A name that does not
exist is a warning with file and line, and the build treats warnings as errors.

Prose pages start no kernel: everything here runs inside the build.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from netlib.course import directives, prose, site

HARDWARE = "book/hardware"  # the page that holds the registry table

_ROLE = re.compile(r"\{[a-z:-]+\}`")  # a role's opening, seen where only its result should be

log = logging.getLogger(__name__)


class Value(SphinxRole):
    """`fact`, `ratio` or `calc`: a printed value with its origin on hover; a fact links to its row in the registry."""

    def __init__(self, compute: Callable[[str], tuple[str, str]], link: bool = False) -> None:
        super().__init__()
        self.compute, self.link = compute, link

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        try:
            printed, origin = self.compute(self.text)
        except Exception as error:
            log.warning("%s: %s", self.name, error, location=self.get_location())
            return [nodes.literal("", self.text)], []
        if self.link:
            where = self.env.app.builder.get_relative_uri(self.env.docname, HARDWARE) + f"#fact-{self.text}"
            return [nodes.reference("", printed, refuri=where, reftitle=origin, internal=True, classes=["nx-fact"])], []
        return [nodes.abbreviation("", printed, explanation=origin, classes=["nx-calc"])], []


def name_cache(app: Sphinx, config: Config) -> None:
    """Keep executed notebooks in a folder named after the sources they import: a change of netlib re-executes them."""
    config["nb_execution_cache_path"] = str(site.notebook_cache(Path(app.srcdir)))


def outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Every page is read again when netlib, the notebooks' data or the assets changed."""
    kept, now = (
        vars(env),
        site.fingerprint(Path(app.srcdir), site.PAGE_SOURCES),
    )  # what env holds is stored between builds
    before = kept.setdefault("netlib_fingerprint", now)
    kept["netlib_fingerprint"] = now
    return [] if before == now else env.found_docs


def unread_roles(app: Sphinx, doctree: nodes.document) -> None:
    """Warn where a role was not read but printed, as happens when a table cell holds `|` without a backslash."""
    for text in doctree.findall(nodes.Text):
        found = _ROLE.search(text)
        if found and not isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw):
            where = text.parent
            while where.parent and not isinstance(where, nodes.table):
                where = where.parent  # inside a table only the table itself knows its line
            message = "%s is printed, not read; in a table write \\| for |"
            log.warning(message, found[0], location=where if isinstance(where, nodes.table) else text.parent)


def link_exercises(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn each mention of an exercise into a link to it, once all pages are known."""
    home = {id: name for name, data in app.env.metadata.items() for id in data.get("exercises", ())}
    for mention in list(
        doctree.findall(lambda node: "nx-mention" in getattr(node, "attributes", {}).get("classes", ()))
    ):
        if (id := mention.astext()) in home:
            where = "" if home[id] == page else app.builder.get_relative_uri(page, home[id])
            mention.replace_self(
                nodes.reference("", "", nodes.literal("", id), refuri=f"{where}#exercise-{id}", internal=True)
            )


def known_name(app: Sphinx, env: BuildEnvironment, node: nodes.Element, shown: nodes.Node) -> nodes.Node | None:
    """Print a reference such as {mod}`netlib.collectives` as code when netlib has it; otherwise it stays a warning."""
    target = str(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not target.startswith("netlib."):
        return None
    try:
        resolve_name(target)
    except (ImportError, AttributeError, ValueError):
        return None
    return shown


def plain_citations(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Drop two roles of docutils' citation list: to a screen reader it is a list without items."""
    if "citation-list" in context.get("body", ""):
        context["body"] = context["body"].replace(' role="list"', "").replace(' role="doc-biblioentry"', "")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_role("fact", Value(prose.fact, link=True))
    app.add_role("ratio", Value(prose.ratio))
    app.add_role("calc", Value(prose.calc))
    for name, directive in directives.DIRECTIVES.items():
        app.add_directive(name, directive)
    app.connect("config-inited", name_cache, priority=900)
    app.connect("env-get-outdated", outdated)
    app.connect("doctree-read", unread_roles)
    app.connect("doctree-resolved", link_exercises)
    app.connect("missing-reference", known_name)
    app.connect("html-page-context", plain_citations)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
