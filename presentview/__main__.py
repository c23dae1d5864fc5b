"""`python -m presentview`."""

import sys

from presentview.cli import main

sys.exit(main())
