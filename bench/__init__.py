"""Benchmarks: CPU time of the core compared with other libraries, in one run on one core; `python -m bench --help`."""
