"""The compiled mechanism and what can be computed with it."""
