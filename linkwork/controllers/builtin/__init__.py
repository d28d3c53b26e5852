"""Ready controllers: each file is what its FMU runs, and has the function that writes it."""
