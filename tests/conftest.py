"""Shared by all tests: hypothesis without a clock (these machines are noisy) and with fixed seeds."""

from hypothesis import settings

settings.register_profile("course", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("course")
