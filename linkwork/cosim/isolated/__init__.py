"""Runs in a process of its own: an FMU that crashes or hangs takes nothing with it but that process."""
