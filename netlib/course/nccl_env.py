"""A learner's own configuration before the lint: paste the export lines, get a verdict with its reason for each.

    lint_env('''
    export NCCL_IB_TIMEOUT=22
    export NCCL_ALGO=Ring
    ''')

Nothing is graded and nothing is kept. It never raises: what cannot be read is said in one sentence.
"""

from html import escape

from netlib.collectives.nccl import VERDICTS, Verdict, edition, lint_nccl_env, named
from netlib.course.judge import OPEN, UNREADABLE, Reply
from netlib.course.reasons import ended

ID = "lint"


def lint_env(text: object = ..., version: str = "2.30.7", machine: str = "dgx-h100", nodes: int = 128) -> Reply:
    """One line for each variable: its verdict and why, for that version of NCCL on that many nodes of a type.

    >>> print(lint_env("export NCCL_IB_RETRY_CNT=7"))
    lint: 1 line on 128 x dgx-h100, NCCL 2.30.7.
    NCCL_IB_RETRY_CNT=7: no-op. 7 is the default of NCCL 2.30.7.
    """
    if text is None or text is Ellipsis or (isinstance(text, str) and text.strip() in ("", "...")):
        return Reply(ID, OPEN, "Nothing pasted yet. Put the export lines of your job between the quotes.")
    if not isinstance(text, str):
        return Reply(
            ID, UNREADABLE, f"Cannot read this: a text of export lines is asked for, not one of type {_kind(text)}."
        )
    try:
        found = lint_nccl_env(text, version, named(machine, nodes, version=version))
    except (ValueError, TypeError) as error:
        return Reply(ID, UNREADABLE, ended(f"Cannot read this: {str(error)[:300]}"))
    if not found:
        return Reply(ID, OPEN, "There is no assignment in it: a line reads export NAME=value.")
    if all(each.verdict == "unread" for each in found):
        return Reply(ID, UNREADABLE, ended(f"Cannot read this: {found[0].reason[:300]}"))
    head = f"{len(found)} line{'s' if len(found) > 1 else ''} on {nodes} x {machine}, NCCL {version}."
    if note := edition(version).note:
        head += f" {_sentence(note)}"
    told = [f"{each.line}: {each.verdict}. {_sentence(each.reason)}" for each in found]
    return Reply(ID, "linted", "\n".join([head, *told]), _table(head, found))


def _kind(text: object) -> str:
    return type(text).__name__[:40]


def _sentence(reason: str) -> str:
    return ended(f"{reason[:1].upper()}{reason[1:]}")


def _table(head: str, found: list[Verdict]) -> str:
    """The same as an HTML table; the title of a verdict says what the word means."""
    rows = "".join(
        f"<tr><td><code>{escape(each.line)}</code></td>"
        f'<td title="{escape(VERDICTS[each.verdict])}"><strong>{escape(each.verdict)}</strong></td>'
        f"<td>{escape(_sentence(each.reason))}</td><td>{escape(each.source)}</td></tr>"
        for each in found
    )
    names = "".join(f'<th scope="col">{name}</th>' for name in ("line", "verdict", "why", "source"))
    return f"<p>{escape(head)}</p><table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
