"""Built-in controllers: each file is the one that its FMU runs, and has the function that writes the FMU."""
