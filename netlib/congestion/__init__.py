"""Congestion: who waits when flows want more than a link has, and what makes them stop.

parameters  what each control can be told, as plain data
presets     what papers, drivers and simulators set, dated and sourced; comparison: what they do
pauses      for how long PFC stops a port; headroom, thresholds: what that takes of a buffer
buffers     how long memory lasts, how fast an incast fills it
losses      what a lost packet costs; latency: when a steady slow link beats a hesitant fast one
shares      what classes get by priority and by weight; schedulers: the same packet by packet
credits     InfiniBand's counters on one lane; arbitration: which lane goes next
recovery    how long DCQCN takes back to its rate; counters: what a NIC's totals say
fluid       rates and queues as equations with delay: runs, rest, stability (netlib.congestion.fluid)
packets     queues, senders and receivers packet by packet (netlib.congestion.packets)
lossless    pauses and credits on a whole fabric: victims, storms, deadlocks (netlib.congestion.lossless)
experiments any control in any scenario, from one function; surroundings: the switches that it needs
repetition  the same experiment under several seeds; rates: bytes/s, and not Gb/s
"""

from netlib.congestion.arbitration import Arbitration, arbitrate, low_share
from netlib.congestion.buffers import (
    buffer_needed,
    buffer_time,
    dctcp_threshold,
    drain_time,
    incast_fill_time,
    incast_peak,
    paced_queue,
    paced_queue_limit,
    sampled_queue,
)
from netlib.congestion.comparison import Difference, difference_table, differences
from netlib.congestion.counters import marked_rate
from netlib.congestion.credits import LaneRun, credit_rate, credit_reach, simulate_lane
from netlib.congestion.headroom import (
    cable_bytes,
    cell_occupancy,
    dynamic_headroom,
    lossless_classes,
    nic_headroom,
    simulator_headroom,
    static_headroom,
)
from netlib.congestion.latency import break_even_step, jittered
from netlib.congestion.losses import (
    Transfer,
    go_back_n_goodput,
    halving_loss,
    selective_repeat_goodput,
    simulate_transfer,
)
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
from netlib.congestion.pauses import (
    Outage,
    frame_rate,
    pause_time,
    paused_share,
    response_quanta,
    storm_frames,
    watchdog_outage,
)
from netlib.congestion.presets import Preset, Setting, preset, preset_names, preset_record
from netlib.congestion.recovery import Walk, forgetting_time, recovered_share, recovery_time, walk_recovery
from netlib.congestion.schedulers import Served, serve_packets
from netlib.congestion.shares import slowdown, strict_shares, weighted_shares
from netlib.congestion.thresholds import (
    dynamic_mark_bound,
    dynamic_pause_threshold,
    shared_buffer,
    static_mark_bound,
    static_pause_threshold,
)

__all__ = [
    "Arbitration",
    "Checked",
    "Control",
    "Credits",
    "Dcqcn",
    "Dctcp",
    "Difference",
    "Hpcc",
    "LaneRun",
    "Marking",
    "Nscc",
    "Outage",
    "PowerTcp",
    "Preset",
    "Served",
    "Setting",
    "Swift",
    "Timely",
    "Transfer",
    "Uncontrolled",
    "Walk",
    "arbitrate",
    "break_even_step",
    "buffer_needed",
    "buffer_time",
    "cable_bytes",
    "cell_occupancy",
    "credit_rate",
    "credit_reach",
    "dctcp_threshold",
    "difference_table",
    "differences",
    "drain_time",
    "dynamic_headroom",
    "dynamic_mark_bound",
    "dynamic_pause_threshold",
    "forgetting_time",
    "frame_rate",
    "go_back_n_goodput",
    "halving_loss",
    "incast_fill_time",
    "incast_peak",
    "jittered",
    "lossless_classes",
    "low_share",
    "marked_rate",
    "nic_headroom",
    "paced_queue",
    "paced_queue_limit",
    "pause_time",
    "paused_share",
    "preset",
    "preset_names",
    "preset_record",
    "recovered_share",
    "recovery_time",
    "response_quanta",
    "sampled_queue",
    "selective_repeat_goodput",
    "serve_packets",
    "shared_buffer",
    "simulate_lane",
    "simulate_transfer",
    "simulator_headroom",
    "slowdown",
    "static_headroom",
    "static_mark_bound",
    "static_pause_threshold",
    "storm_frames",
    "strict_shares",
    "walk_recovery",
    "watchdog_outage",
    "weighted_shares",
]
