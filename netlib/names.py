"""Names: what an unknown one may have meant, for every list that is asked by name."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """What an unknown name may have meant, as the end of a sentence.

    >>> nearest("ring-or-tee", ["ring-or-tree", "rails"])
    'did you mean ring-or-tree?'
    >>> nearest("xyz", ["ring-or-tree", "rails"])
    'the first is ring-or-tree'
    """
    names = list(known)
    close = get_close_matches(str(name)[:40].strip().lower(), names, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else otherwise or f"the first is {names[0]}"
