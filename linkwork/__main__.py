"""``python -m linkwork``: the command line."""

import sys

from linkwork.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
