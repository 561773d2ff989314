"""Pack: the arrays of a grid as 16-bit numbers, small enough to live in a page.

Counts up to 65534 are stored as they are. Other values are stored as the logarithm of their size between the smallest
and the largest, whatever the axis, so that small values keep their digits too: the error is at most 1.6e-4 of the value
(3.2e-4 when both signs occur). Zero is exact, and so is what lies more than nine decades below the largest: it becomes
zero. 65535 is a gap (NaN). Neighbours differ little, so differences, split into low and high bytes, compress well.
"""

import base64
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netlib.course.figure import Array

GAP = 65535
DECADES = 1e9


@dataclass
class Packer:
    """Collects arrays and words for one page figure; `refs` says where each went."""

    states: int
    refs: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    blocks: list[Array] = field(default_factory=list)
    filled: int = 0

    def array(self, values: Array, own: int) -> int:
        """Pack an array with `own` axes of its own; returns the number of its reference."""
        if values.ndim == own:  # the same in every state: plain numbers
            plain = [float(f"{v:.7g}") if np.isfinite(v) else None for v in values.ravel()]
            self.refs.append({"fixed": plain})
            return len(self.refs) - 1
        flat = values.reshape(self.states, -1)
        q, scale = quantise(flat)
        return self._add(q, {"at": self.filled, "n": flat.shape[1], **scale})

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


def quantise(values: Array) -> tuple[Array, dict[str, float]]:
    """Values as steps 0-65535, and the scale that `restore` needs; an empty scale means counts.

    Step 0 is zero, then `steps` steps of positive values from `low` to `high`, then as many of negative ones.
    """
    seen = np.isfinite(values)
    size = np.abs(np.where(seen, values, 0.0))
    high = float(size.max(initial=0.0))
    if high < GAP and (values[seen] >= 0).all() and (size == np.round(size)).all():
        return np.where(seen, size, GAP).astype(np.uint16), {}
    low = float(size[size > high / DECADES].min())
    negative = values < 0
    steps = 32767 if negative[seen].any() else 65534
    share = np.log(np.maximum(size, low) / low) / (np.log(high / low) or 1.0)
    q = 1 + np.rint(share * (steps - 1)) + steps * (negative & seen)
    q = np.where(size > high / DECADES, q, 0)
    return np.where(seen, q, GAP).astype(np.uint16), {"low": low, "high": high, "steps": steps}


def restore(q: Array, scale: dict[str, float]) -> Array:
    """The values that `quantise` stored.

    >>> restore(*quantise(np.array([1.5, -1000.0, 0.0, np.nan]))).round(9).tolist()
    [1.5, -1000.0, 0.0, nan]
    """
    if not scale:
        return np.where(q == GAP, np.nan, q)
    negative = q > scale["steps"]
    place = q - 1.0 - scale["steps"] * negative
    size = scale["low"] * (scale["high"] / scale["low"]) ** (place / (scale["steps"] - 1))
    return np.where(q == GAP, np.nan, np.where(q == 0, 0.0, np.where(negative, -size, size)))
