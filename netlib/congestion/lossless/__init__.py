"""Lossless: what pauses and credits do to a whole fabric, before and while it runs.

Three modules are the core: what can wait for what, a victim, a deadlock. The rest are variants and tools.

dependencies  which buffer can wait for which: the cycles of a set of ways                        (core)
victims       flows that stand in line behind traffic which is not going where they go            (core)
deadlocks     switches that wait for each other in a cycle, built, run, and broken again          (core)
pausing       one paused link, pauses that climb, and who acts first, the mark or the pause
storms        one slow receiver, and how far its pauses climb
watchdogs     a receiver that reads nothing, and the switch that throws away what waits for it
lanes         a second lane that takes the cycle away: dragonfly, dateline, bounces
bounces       ways that go up again, after a dead cable
waiting       which link stands still because of which, at one moment of a run
greedy        the sender that nothing but its switch holds back
slots         the same fabric packet by packet, as a second model; slotted: a whole run of it
"""

from netlib.congestion.lossless.bounces import all_bounces, bounced, cables_between, climbs_once
from netlib.congestion.lossless.deadlocks import Deadlock, facing_bounces, round_ways, switch_ring, until_stuck
from netlib.congestion.lossless.dependencies import (
    Dependencies,
    buffer_dependencies,
    in_words,
    shortest_cycle,
    vertex_names,
)
from netlib.congestion.lossless.greedy import ENDLESS, Greedy, step_of
from netlib.congestion.lossless.lanes import lanes_by_bounce, lanes_by_dateline, lanes_by_global
from netlib.congestion.lossless.pausing import (
    First,
    PauseCycle,
    fan_in_for_marks,
    first_to_act,
    pause_arrival,
    pause_cycle,
)
from netlib.congestion.lossless.slotted import SlotRun, run_slots
from netlib.congestion.lossless.storms import Storm, chain, slow_receiver, slowed_all_to_all, storm
from netlib.congestion.lossless.victims import (
    flow_shares,
    sender_victim,
    sender_victim_shares,
    switch_victim,
    switch_victim_shares,
    two_switches,
)
from netlib.congestion.lossless.waiting import Cause, Waits, causes, stuck, waiting_cycle, waits_of
from netlib.congestion.lossless.watchdogs import Hang, Watchdog, sonic_watchdog

__all__ = [
    "ENDLESS",
    "Cause",
    "Deadlock",
    "Dependencies",
    "First",
    "Greedy",
    "Hang",
    "PauseCycle",
    "SlotRun",
    "Storm",
    "Waits",
    "Watchdog",
    "all_bounces",
    "bounced",
    "buffer_dependencies",
    "cables_between",
    "causes",
    "chain",
    "climbs_once",
    "facing_bounces",
    "fan_in_for_marks",
    "first_to_act",
    "flow_shares",
    "in_words",
    "lanes_by_bounce",
    "lanes_by_dateline",
    "lanes_by_global",
    "pause_arrival",
    "pause_cycle",
    "round_ways",
    "run_slots",
    "sender_victim",
    "sender_victim_shares",
    "shortest_cycle",
    "slow_receiver",
    "slowed_all_to_all",
    "sonic_watchdog",
    "step_of",
    "storm",
    "stuck",
    "switch_ring",
    "switch_victim",
    "switch_victim_shares",
    "two_switches",
    "until_stuck",
    "vertex_names",
    "waiting_cycle",
    "waits_of",
]
