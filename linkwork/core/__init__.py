"""The C core seen from Python: the only modules that touch its FFI, and the C sources."""
