"""Packets: the packet-level engine of congestion control.

traffic   flows on the links of a network, one scenario or many side by side
queues    first in, first out, by cumulative arrival curves
gates     PFC and link credits: how a full switch holds back what fills it
engine    senders, queues and receivers, step by step
"""
