"""The variables of a compiled mechanism by name, as users, results and FMUs see them."""
