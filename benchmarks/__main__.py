"""``python -m benchmarks``."""

import sys

from benchmarks.runner import main

if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
