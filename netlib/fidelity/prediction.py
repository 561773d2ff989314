"""Prediction: a model's value for a row, and the reason where there is none."""

from dataclasses import dataclass


class Unanswerable(ValueError):
    """A row that the models cannot answer; the message is the reason."""


@dataclass(frozen=True)
class Prediction:
    """A model's value in `unit`, which model gave it, and the group it is scored in (None: by size of message)."""

    value: float
    unit: str
    note: str
    group: tuple[str, str] | None = None
