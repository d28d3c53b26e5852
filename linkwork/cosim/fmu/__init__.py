"""FMUs as a host calls them, through FMPy."""
