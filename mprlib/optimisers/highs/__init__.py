"""Programmes on HiGHS, which no other module imports."""
