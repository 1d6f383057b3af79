"""The command ``slantpath``, where its script is not in the path: ``python -m slantpath``."""

from __future__ import annotations

import sys

from slantpath_command import main

if __name__ == "__main__":
    sys.exit(main())
