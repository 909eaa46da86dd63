"""`python -m sparring`: the command line, for where the script `sparring` is not on the path."""

import sys

from sparring.cli import main

sys.exit(main())
