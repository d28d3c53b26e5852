"""Helpers of the tests: random mechanisms, an independent solution of their dynamics, and published cases."""
