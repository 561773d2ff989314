"""Agreements of the chapter "Scale-out"."""

import numpy as np

from netlib.fidelity.agreement import Agreement
from netlib.links import bytes_in_flight


def bytes_in_flight_counted(bandwidth: float, round_trip: float) -> float:
    """Packets of 4 KiB sent back to back until the first acknowledgement returns, counted by the clock."""
    packet = 4096.0
    departures = np.arange(1, int(1.01 * bandwidth * round_trip / packet) + 2) * packet / bandwidth
    return packet * np.count_nonzero(departures <= round_trip * (1 + 1e-12))


AGREEMENTS = (
    Agreement(
        "bytes-in-flight",
        "bytes under way when the first acknowledgement returns",
        bytes_in_flight,
        bytes_in_flight_counted,
        ((50e9, 4e-6), (100e9, 100e-6), (100e9, 10e-3), (12.5e9, 65e-3)),
        "executed packet by packet",
        0.03,  # a whole number of packets: one of 4 KiB in 200 kB
    ),
)
