"""Fidelity: every model beside published measurements, misses shown.

setup        a published row's set-up, read from its columns
rates        what links achieve, as NCCL's own tables assume
calibration  the constants fitted to rows, and which rows
models       the model's answer for a set-up; never sees the published value
tuned        the second model: what NCCL itself plans and chooses
tokens       bytes of a dispatch or combine of experts, counted on its schedule
peaks        large messages of named machines, and curves to thousands of GPUs
boards       tables that set models beside each other
wording      one spelling for numbers, shapes and the words for what is counted
subjects     what a row is about: how to build it, and what is known beside it
machines     machines that rows call by name
fabrics      which fabric a row is about, for any parameters
counts       how many, alone or one of each other
models_topology  counts, distances, cuts and bandwidths of fabrics
hashed       flows on links, and permutations of queue pairs
ecmp_runs    permutations hashed over a fat-tree
optics       modules and their watts
params       the set-up of a row about congestion, from names and values
models_congestion  pauses, headroom, thresholds, credits, losses by arithmetic
models_fluid rests, margins and critical delays of congestion control
peers        ns-3's and htsim's runs, set up again in the packet engine
congestion_runs  what those gave, and (data) the table of it
agreement    a formula and the same number found another way, compared
agreements   those of each chapter
score        rows, statuses, tolerances, the report
published    (data) the rows this project holds itself against
"""

from netlib.fidelity.rows import published_rows, read_rows
from netlib.fidelity.score import Judged, judge, summary

__all__ = ["Judged", "judge", "published_rows", "read_rows", "summary"]
