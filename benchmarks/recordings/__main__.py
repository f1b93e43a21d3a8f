"""Let `python -m benchmarks.recordings` run the benchmark."""

import sys

from benchmarks.recordings.run import main

if __name__ == "__main__":
    sys.exit(main())
