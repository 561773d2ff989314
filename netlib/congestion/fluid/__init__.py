"""Congestion control as a fluid: rates and queues as equations with delay, their rest, and whether they stay there.

delays       integrating delay differential equations for many scenarios at once
bottleneck   which flows share a link: classes of identical ones, or distinct ones
marks        the share that a switch marks: RED's ramp, or a PI controller
dcqcn        DCQCN in time
timely       TIMELY and its patch: runs, rest, margin, convergence
window       DCTCP, Swift, HPCC, PowerTCP
planes       voltage, current and power: vector fields of window and queue
rest         the exact fixed point of DCQCN, its cube-root approximation, the most flows that have one
loops        phase margins and critical delays of linearised models
stability    DCQCN linearised exactly, its map over flows and delay, and runs that confirm it
published    the paper's linearisation, and what each of its approximations does
verdicts     published, exact and run side by side
convergence  how long DCQCN needs until it is fair
"""

from netlib.congestion.fluid.convergence import Convergence, dcqcn_convergence
from netlib.congestion.fluid.dcqcn import dcqcn_run
from netlib.congestion.fluid.delays import CheckedRun, Settled, State, Traces, checked_step, integrate
from netlib.congestion.fluid.loops import Loop, critical_delay, phase_margin
from netlib.congestion.fluid.marks import PiMarking, marked
from netlib.congestion.fluid.planes import Plane, plane_path, power_left
from netlib.congestion.fluid.published import corrected, published_loop
from netlib.congestion.fluid.rest import Rest, cube_root_marks, most_flows, rest_point
from netlib.congestion.fluid.stability import StabilityMap, dcqcn_loop, growth, stability_map
from netlib.congestion.fluid.timely import (
    timely_convergence,
    timely_margin,
    timely_most_flows,
    timely_rest,
    timely_run,
)
from netlib.congestion.fluid.verdicts import Verdicts, critical_delays, dcqcn_verdicts
from netlib.congestion.fluid.window import hpcc_rest, power_tcp_rest, swift_target, window_run

__all__ = [
    "CheckedRun",
    "Convergence",
    "Loop",
    "PiMarking",
    "Plane",
    "Rest",
    "Settled",
    "StabilityMap",
    "State",
    "Traces",
    "Verdicts",
    "checked_step",
    "corrected",
    "critical_delay",
    "critical_delays",
    "cube_root_marks",
    "dcqcn_convergence",
    "dcqcn_loop",
    "dcqcn_run",
    "dcqcn_verdicts",
    "growth",
    "hpcc_rest",
    "integrate",
    "marked",
    "most_flows",
    "phase_margin",
    "plane_path",
    "power_left",
    "power_tcp_rest",
    "published_loop",
    "rest_point",
    "stability_map",
    "swift_target",
    "timely_convergence",
    "timely_margin",
    "timely_most_flows",
    "timely_rest",
    "timely_run",
    "window_run",
]
