"""`python -m ms2torch`."""

import sys

from ms2torch.cli import main

if __name__ == "__main__":
    sys.exit(main())
