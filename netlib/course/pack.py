"""Pack: the arrays of a grid as 16-bit numbers, small enough to live in a page.

Each array is quantised between its own smallest and largest value, on a log scale when it spans one, so that the
error is at most half of 1/65534 of that span: for eight decades 1.4e-4 of the value. 65535 is a gap (NaN).
Neighbours differ little, so differences, split into low and high bytes, compress well.
"""

import base64
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netlib.course.figure import Array

GAP = 65535
STEPS = 65534


@dataclass
class Packer:
    """Collects arrays and words for one page figure; `refs` says where each went."""

    states: int
    refs: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    blocks: list[Array] = field(default_factory=list)
    filled: int = 0

    def array(self, values: Array, own: int, log: bool) -> int:
        """Pack an array with `own` axes of its own; returns the number of its reference."""
        if values.ndim == own:  # the same in every state: plain numbers
            plain = [float(f"{v:.7g}") if np.isfinite(v) else None for v in values.ravel()]
            self.refs.append({"fixed": plain})
            return len(self.refs) - 1
        flat = values.reshape(self.states, -1)
        q, low, high, log = quantise(flat, log)
        finite = flat[np.isfinite(flat)]
        whole = bool(np.all(finite == np.round(finite)))
        ref = {"at": self.filled, "n": flat.shape[1], "low": low, "high": high, "log": log, "whole": whole}
        return self._add(q, ref)

    def words(self, texts: list[str]) -> int:
        """Pack one text per state; returns the number of its reference."""
        if len(set(texts)) == 1:
            self.refs.append({"text": texts[0]})
            return len(self.refs) - 1
        places = [self.texts.setdefault(text, len(self.texts)) for text in texts]
        return self._add(np.array(places, np.uint16)[:, None], {"words": self.filled})

    def _add(self, q: Array, ref: dict[str, Any]) -> int:
        steps: Array = np.diff(q.astype(np.int64), axis=1, prepend=0)
        self.blocks.append((steps % 65536).astype("<u2").ravel())
        self.filled += q.size
        self.refs.append(ref)
        return len(self.refs) - 1

    def data(self) -> str:
        """Everything packed, as base64 of gzip: low bytes, high bytes, then the words as JSON."""
        stream = np.concatenate(self.blocks) if self.blocks else np.zeros(0, "<u2")
        low, high = (stream & 255).astype(np.uint8), (stream >> 8).astype(np.uint8)
        words = json.dumps(list(self.texts), ensure_ascii=False, separators=(",", ":")).encode()
        return base64.b64encode(gzip.compress(low.tobytes() + high.tobytes() + words, 9, mtime=0)).decode()


def quantise(values: Array, log: bool) -> tuple[Array, float, float, bool]:
    """Steps 0-65534 between the least and the largest finite value, those limits, and whether the steps are in log."""
    seen = np.isfinite(values)
    low, high = (float(values[seen].min()), float(values[seen].max())) if seen.any() else (0.0, 0.0)
    log = log and low > 0
    held = np.where(seen, values, low)
    scaled = np.log(held / low) / np.log(high / low) if log and high > low else (held - low) / ((high - low) or 1.0)
    return np.where(seen, np.rint(scaled * STEPS), GAP).astype(np.uint16), low, high, log


def restore(q: Array, low: float, high: float, log: bool) -> Array:
    """The values that `quantise` stored.

    >>> restore(*quantise(np.array([1.0, 1000.0, np.nan]), log=True)).round(9).tolist()
    [1.0, 1000.0, nan]
    """
    t = q / STEPS
    values = low * (high / low) ** t if log else low + t * (high - low)
    return np.where(q == GAP, np.nan, values)
