#!/usr/bin/env python3
"""Write a mechanism as an FMU: ``python build_fmu.py examples/four_bar.py -o four_bar.fmu --fmi 3.0``."""

from linkwork.cli.export import main

if __name__ == "__main__":
    raise SystemExit(main())
