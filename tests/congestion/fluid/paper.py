"""The published numbers behind "ECN or Delay", and the set-up they belong to.

Zhu, Ghobadi, Misra and Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY" (CoNEXT 2016);
raw data of its figures in github.com/jitupadhye-zz/rdma @e7e9160, conext2016/figures. Packets of 1000 bytes.
"""

from netlib.congestion.parameters import Dcqcn, Marking, Timely

PAPER = Dcqcn(
    machine="paper",
    g=1 / 256,
    alpha_timer=55e-6,
    cnp_interval=50e-6,
    cut_interval=50e-6,
    increase_timer=55e-6,
    byte_counter=10e6,
    fast_recovery=5,
    additive=40e6 / 8,
    hyper=0.0,
    min_rate=0.0,
    initial_alpha=1.0,
    clamp_target=True,
)
RED = Marking(k_min=5e3, k_max=200e3, p_max=0.01)
AUTHORS_RED = Marking(k_min=5e3, k_max=2000e3, p_max=0.1)  # of their program: a slope 2.3 % lower
LONG_RED = Marking(k_min=5e3, k_max=1955e3, p_max=0.1)  # the slope of RED, ten times as long
PATCHED = Timely(True, 0.875, 0.008, 10e6 / 8, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
ORIGINAL = Timely(False, 0.875, 0.8, 10e6 / 8, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
GBPS = 1e9 / 8

# file, Gb/s, R_AI in Mb/s, K_max in KB, delay in us, {flows: phase margin in degrees}
DCQCN_MARGINS = (
    ("pm_rai40_delay0", 40, 40, 200, 0,
        {2: 26.624, 4: 13.407, 10: 4.7564, 20: 9.6336, 32: 20.256, 64: 43.472, 100: 56.48}),
    ("pm_rai40_delay50", 40, 40, 200, 50,
        {2: 8.2626, 4: -0.75215, 10: -6.5844, 20: -0.95129, 32: 9.2463, 64: 29.548, 100: 39.811}),
    ("pm_rai40_delay100", 40, 40, 200, 100,
        {2: -10.099, 4: -14.912, 10: -17.925, 20: -11.536, 32: -1.7638, 64: 15.625, 100: 23.142}),
    ("pm_rai10_delay0", 40, 10, 200, 0,
        {2: 58.388, 4: 53.503, 10: 20.979, 20: 11.332, 32: 12.297, 64: 25.271, 100: 38.249}),
    ("pm_rai10_delay50", 40, 10, 200, 50,
        {2: 39.145, 4: 39.061, 10: 12.613, 20: 4.4168, 32: 5.7065, 64: 17.871, 100: 29.215}),
    ("pm_rai10_delay100", 40, 10, 200, 100,
        {2: 19.902, 4: 24.618, 10: 4.2463, 20: -2.4981, 32: -0.88399, 64: 10.471, 100: 20.181}),
    ("pm_rai10_delay0_kmax1000", 40, 10, 1000, 0,
        {2: 81.571, 10: 63.6, 64: 46.414}),
    ("pm_rai10_delay50_kmax1000", 40, 10, 1000, 50,
        {2: 62.877, 10: 53.724, 64: 38.188}),
    ("pm_rai10_delay100_kmax1000", 40, 10, 1000, 100,
        {2: 44.183, 10: 43.849, 64: 29.962}),
    ("pm_100gbps_delay0", 100, 40, 200, 0,
        {2: 23.919, 10: 12.363, 34: -0.30535, 64: 2.7514, 100: 10.758}),
    ("pm_100gbps_delay50", 100, 40, 200, 50,
        {2: -16.686, 10: -10.139, 34: -16.582, 64: -12.102, 100: -3.7909}),
    ("pm_100gbps_delay100", 100, 40, 200, 100,
        {2: -57.292, 10: -32.642, 34: -32.858, 64: -26.955, 100: -18.34}),
)  # fmt: skip

# propagation in us, {flows: phase margin in degrees}: pm_timely_delay*_fixed
TIMELY_MARGINS = (
    (0, {2: -1.9535, 4: 5.2484, 10: 28.529, 20: 41.58, 38: 3.2215, 40: -1.3105, 50: -22.263}),
    (50, {2: -7.0458, 4: 1.6133, 10: 25.903, 20: 38.421, 38: -1.1109, 40: -5.7226, 50: -26.915}),
    (100, {2: -12.138, 4: -2.0217, 10: 23.277, 20: 35.263, 38: -5.4642, 40: -10.106, 50: -31.489}),
)

# what differs from the paper's set-up, seconds for 2, 4, 10, 20, 50 and 100 flows: convergence_*
CONVERGENCE_FLOWS = (2, 4, 10, 20, 50, 100)
CONVERGENCE = (
    ({}, {}, (0.096901, 0.063592, 0.035894, 0.023562, 0.014118, 0.010089)),
    ({"additive": 10e6 / 8}, {}, (0.35817, 0.22792, 0.12137, 0.074943, 0.040262, 0.025873)),
    ({"g": 1 / 16}, {}, (0.10007, 0.065715, 0.037117, 0.024374, 0.014611, 0.010444)),
    ({}, {"k_max": 1000e3}, (0.1027, 0.068737, 0.040103, 0.02711, 0.016911, 0.012405)),
)

# Gb/s, {flows: share of marks at the fixed point}; own roots of the paper's equation 11, five digits
EXACT_MARKS = (
    (40, {2: 0.00078, 4: 0.00189, 8: 0.00455, 10: 0.00603, 16: 0.01087, 20: 0.01435, 32: 0.02562, 64: 0.05905}),
    (100, {2: 0.00024, 8: 0.00142, 16: 0.00343}),
    (400, {2: 0.00004, 16: 0.00058, 64: 0.00343}),
)
CUBE_ROOT = {2: 0.00092, 4: 0.00232, 8: 0.00583, 10: 0.00785, 16: 0.01468, 20: 0.01976, 32: 0.03696, 64: 0.09312}
QUEUE_KB = {2: 20.2, 4: 41.8, 8: 93.8, 10: 122.6}

# flows: (critical delay in us of the paper's loop, exact), on the ramp's slope
CRITICAL = {
    2: (72.4, 85.6), 3: (60.1, 77.8), 4: (47.3, 71.7), 6: (30.5, 64.7), 8: (22.8, 62.2), 10: (20.8, 62.5),
    12: (22.4, 64.7), 15: (28.8, 70.3), 20: (45.5, 83.7), 36: (105.7, 141.6), 64: (156.1, 256.6),
}  # fmt: skip
# flows: exact margin in degrees at 0, 50, 85 and 100 us
EXACT_MARGINS = {
    2: (20.36, 8.48, 0.14, -3.45),
    8: (9.76, 1.92, -3.63, -6.02),
    12: (9.12, 2.08, -2.91, -5.08),
    64: (24.37, 20.19, 17.12, 15.77),
}

# marking, flows, delay in us, (mean, least, most) KB over the last 50 of 200 ms: an Euler integration with 1 us steps,
# independent of this one, of the model in conext2016/dcqcn-model.tex, identical flows from line rate
RUNS = (
    (RED, 2, 4, (20.2, 20.2, 20.2)),
    (RED, 10, 4, (122.6, 122.6, 122.6)),
    (RED, 64, 4, (166.5, 121.0, 227.5)),
    (RED, 2, 85, (20.2, 19.7, 20.6)),
    (RED, 10, 85, (56.6, 0, 233.9)),
    (RED, 64, 85, (126.5, 0, 441.9)),
    (AUTHORS_RED, 2, 4, (20.5, 20.5, 20.5)),
    (AUTHORS_RED, 10, 4, (125.3, 125.3, 125.3)),
    (AUTHORS_RED, 64, 4, (1183.1, 1183.1, 1183.1)),
    (AUTHORS_RED, 2, 85, (20.5, 20.4, 20.6)),
    (AUTHORS_RED, 10, 85, (130.9, 0, 275.6)),
    (AUTHORS_RED, 64, 85, (1183.1, 1183.1, 1183.1)),
)
