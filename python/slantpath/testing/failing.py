"""The exceptions by which a test has failed."""

from __future__ import annotations

NO_FAILURES = {"Skipped", "SkipTest"}
"""Names of what pytest and unittest raise to leave a test out: nothing imports either for them."""


def is_failure(failure: BaseException) -> bool:
    """Tell if a test has failed by this: it was not skipped, and nobody has ended the process."""
    has_ended = isinstance(failure, KeyboardInterrupt | SystemExit | GeneratorExit)
    return not has_ended and type(failure).__name__ not in NO_FAILURES
