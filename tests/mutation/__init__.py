"""Deliberate faults in the mechanics, one at a time: does the fast set of the tests find each?

`./run mutate run` goes through tests/mutation/faults.json and resumes where it stopped; `./run mutate table` shows the
results. No part of `./run test`: each fault costs a build and a part of the tests.
"""
