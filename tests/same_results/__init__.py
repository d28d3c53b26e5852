"""Two installations side by side: whether they find the same results for examples and random mechanisms."""
