"""Versions of result directories: which of them this one reads."""

from __future__ import annotations

import re

from slantpath import _native

OURS = _native.VERSION


def form(version: str) -> tuple[int, ...] | None:
    """Give what two versions have in common whose directories have one form; None of what is no version.

    By Semantic Versioning a column may mean something else when the first number changes, before 1.0 when the
    second one does.
    """
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})(?:[.+-]|$)", version)
    if numbers is None:
        return None
    major, minor = map(int, numbers.groups())
    return (major,) if major else (major, minor)


def unread(version: str) -> str | None:
    """Say why results of a version are not read, and what helps; None if they are."""
    theirs = form(version)
    if theirs == form(OURS):
        return None
    if theirs is None:
        return f"is of an unknown version, `{version[:40]}`: give the command that made it anew with this one"
    with_theirs = ".".join(map(str, theirs))
    return (
        f"is of slantpath {version[:40]}, whose tables may mean something else than those of {OURS}: "
        f"give the command that made it anew with this version, or read it with slantpath {with_theirs}"
    )
