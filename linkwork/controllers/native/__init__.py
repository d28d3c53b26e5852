"""Built-in controllers as FMUs of the C library: no Python runs in the importer."""
