"""Congestion: who waits when flows want more than a link has, and what makes them stop.

parameters  what each control can be told, as plain data
fluid       rates and queues as equations with delay: runs, rest, stability (netlib.congestion.fluid)
"""

from netlib.congestion.parameters import (
    Checked,
    Control,
    Credits,
    Dcqcn,
    Dctcp,
    Hpcc,
    Marking,
    Nscc,
    PowerTcp,
    Swift,
    Timely,
    Uncontrolled,
)

__all__ = [
    "Checked",
    "Control",
    "Credits",
    "Dcqcn",
    "Dctcp",
    "Hpcc",
    "Marking",
    "Nscc",
    "PowerTcp",
    "Swift",
    "Timely",
    "Uncontrolled",
]
