"""Where the command ``slantpath`` begins: Ctrl-C ends it quietly from here on.

A package of its own: ``slantpath`` takes a tenth of a second to load, in which Python would print a
traceback.
"""

from __future__ import annotations

import signal

# When it is imported and not called: what comes next is the load.
signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run the command with the arguments of the process; give its exit status."""
    from slantpath import command  # noqa: PLC0415 - only once Ctrl-C is seen to

    return command.main()
