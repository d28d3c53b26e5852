"""Mechanisms as differential-algebraic equations."""
