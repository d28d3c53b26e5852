"""Benchmarks: how long the core takes beside other libraries, in one run on one core; `python -m bench --help`."""
