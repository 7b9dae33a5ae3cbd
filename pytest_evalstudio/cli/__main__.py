"""`python -m pytest_evalstudio.cli`."""

import sys

from pytest_evalstudio.cli.main import main

sys.exit(main())
