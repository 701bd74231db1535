"""``python -m clustruct``: the command."""

import sys

from clustruct.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
