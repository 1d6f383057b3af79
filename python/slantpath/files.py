"""Files that are there whole or not at all, and directories of one command at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slantpath import _native

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_locks: set[_native.DirectoryLock] = set()
"""What this process holds."""


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file, whole or not at all; give its path."""
    _native.write_file(path, data)
    return path


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold a directory, which is made if it is not there, against every other command that writes into it.

    Workers do not hold it, whatever processes they are; it is free when this process ends, however it ends.
    What killed processes left of files in it is removed.
    """
    lock = _native.DirectoryLock(directory, ["runs", "unfinished"])
    _locks.add(lock)
    try:
        yield
    finally:
        _locks.discard(lock)
        lock.release()


def _let_go() -> None:
    for lock in _locks:
        lock.release_copy()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    # Windows does not fork.
    os.register_at_fork(after_in_child=_let_go)
