"""Functional mock-up units: export of mechanisms, checks of any FMU."""
