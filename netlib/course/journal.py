"""The learner's journal: predictions, answers and opened hints, one JSON object a line.

The file `.netlib-answers.jsonl` lies beside the notebook (git ignores it), so that work survives a restarted kernel and
a teacher can ask for it. Builds and tests write none: NETLIB_BOOK=1 or NETLIB_JOURNAL=off keeps the journal in memory.
"""

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

FILE = ".netlib-answers.jsonl"
SCHEMA = 1


@dataclass(frozen=True)
class Entry:
    """One line: in `exercise`, the learner made a `kind` ("prediction", "answer", "hint" or "gave up") of `value`.

    `value` is text as typed, or a mapping of part to text; `status` is the verdict on an answer; `at` is UTC.
    """

    exercise: str
    kind: str
    value: str | Mapping[str, str] = ""
    status: str = ""
    at: str = ""
    schema: int = SCHEMA


# What this kernel knows and no file holds. A notebook's kernel is one learner's sitting, so one list is enough.
_unwritten: list[Entry] = []
_warned: list[str] = []


def writing(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether entries go to the file.

    >>> writing({}), writing({"NETLIB_JOURNAL": "off"}), writing({"NETLIB_BOOK": "1"})
    (True, False, False)
    """
    off = environment.get("NETLIB_JOURNAL", "").strip().lower() in {"off", "0", "no", "false"}
    return not off and environment.get("NETLIB_BOOK", "") in {"", "0"}


def keep(exercise: str, kind: str, value: str | Mapping[str, str] = "", status: str = "") -> str:
    """Append one entry; returns a sentence for the learner when the file cannot be written (once), else "".

    Running a cell again adds nothing: an entry equal to the exercise's last one is not repeated.
    """
    entry = Entry(exercise, kind, value, status, datetime.now(UTC).isoformat(timespec="seconds"))
    last = [*entries(exercise)][-1:]
    if kind != "hint" and last and (last[0].kind, last[0].value, last[0].status) == (kind, value, status):
        return ""
    if writing():
        try:
            _append(Path.cwd() / FILE, json.dumps(asdict(entry), ensure_ascii=False, sort_keys=True))
            return ""
        except OSError as error:
            _unwritten.append(entry)
            if _warned:
                return ""
            _warned.append(FILE)
            why = error.strerror or type(error).__name__
            return f"(Your work is not kept after this session: {FILE} cannot be written here, {why.lower()}.)"
    _unwritten.append(entry)
    return ""


def entries(exercise: str | None = None) -> list[Entry]:
    """All entries, oldest first, of one exercise or of every one. Damaged lines are passed over.

    >>> entries("no-such-exercise")
    []
    """
    found: list[Entry] = []
    if writing():
        try:
            text = (Path.cwd() / FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        found = [entry for line in text.split("\n") if (entry := _entry(line))]
    return [entry for entry in [*found, *_unwritten] if exercise in (None, entry.exercise)]


def forget() -> None:
    """Drop what only this session remembers (the file stays)."""
    _unwritten.clear()
    _warned.clear()


def _append(path: Path, line: str) -> None:
    """One write in append mode, so two kernels do not cut each other's lines; a half-written last line is closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        start = ""
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            start = "" if os.read(descriptor, 1) == b"\n" else "\n"
        data = f"{start}{line}\n".encode(errors="replace")
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(descriptor)


def _entry(line: str) -> Entry | None:
    """The entry on one line, or None when the line is empty, cut or not ours."""
    try:
        fields = json.loads(line)
        entry = Entry(**{name: fields[name] for name in Entry.__dataclass_fields__ if name in fields})
    except (ValueError, TypeError, RecursionError):
        return None
    value = entry.value
    texts = [*value, *value.values()] if isinstance(value, dict) else [value]
    plain = all(isinstance(item, str) for item in [entry.exercise, entry.kind, entry.status, entry.at, *texts])
    return entry if plain else None
