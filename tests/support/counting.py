"""Work, counted rather than timed."""

import sys


def lines_run(function):
    """Lines of Python that a call runs: a measure of work that no other process disturbs."""
    count = 0

    def follow(frame, event, argument):
        nonlocal count
        count += event == "line"
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
