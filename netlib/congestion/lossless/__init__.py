"""Lossless: what pauses and credits do to a whole fabric, before and while it runs.

dependencies  which buffer can wait for which: the cycles of a set of ways
lanes         a second lane that takes the cycle away: dragonfly, dateline
bounces       ways that go up again, after a dead cable
"""
