"""Fieldwork: what practitioners paste becomes arrays, and an honest reading.

nccl_tests     the reader: tables of nccl-tests and rccl-tests   (start here)
nccl_check     printed algbw and busbw, recomputed
reading        what a table says, and what it cannot say
nccl_cells     a printed number and its rounding
nccl_rows      one printed line becomes numbers
nccl_scan      which lines belong to which table
nccl_json      the same rows from `-J`
nccl_identity  which collective, how many ranks
curve          features of a measured curve: floor, half-peak size, dips, outliers
"""

from netlib.fieldwork.nccl_cells import Half
from netlib.fieldwork.nccl_check import disagreements, recomputed
from netlib.fieldwork.nccl_tests import NcclTests, measured, read_all, read_nccl_tests

__all__ = [
    "Half",
    "NcclTests",
    "disagreements",
    "measured",
    "read_all",
    "read_nccl_tests",
    "recomputed",
]
