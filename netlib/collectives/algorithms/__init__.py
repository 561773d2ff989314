"""Algorithms: collectives as schedules. Each builder returns a `Schedule`; netlib.collectives exports their names.

rings        rings and chains, many channels, both directions
trees        binomial trees, any root
twotrees     two binary trees at once, pipelined
doublings    recursive doubling, halving-doubling, Bruck's gather
exchanges    all-to-all (also of unequal blocks), gather, scatter, send/recv, everything at once
hierarchies  inside nodes and across them, serial and pipelined; one ring for each NIC
buckets      rings along the axes of a torus
switched     switches that add: NVLS, NVLSTree, SHARP, two shots
relays       all-to-all by rails, PXN
experts      tokens to their experts and back
"""
