"""A command line of two ends, and judges that several lines have."""

import importlib.util
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BOTH = ("preload", "notify")
OWN = "own"
"""End of a program that has a stack of its own."""


class FailedError(Exception):
    """What was asked does not hold."""


def hold(condition: object, told: str) -> None:
    """Fail with these words unless it holds."""
    if not condition:
        raise FailedError(told)


def nothing(_where: Path, _words: dict[str, str]) -> None:
    """Write no file."""


@dataclass(frozen=True)
class Line:
    """A command line of two ends. Words in braces are replaced: addresses, the port, this directory."""

    name: str
    package: str
    """Debian's, or what else brings it."""
    program: str
    """Without it the line is left out: a command, or a file."""
    client: str
    server: str
    """Empty: the client holds both ends."""
    judge: Callable[[Path], str]
    """Reads what the ends have written, in their directory."""
    prepare: Callable[[Path, dict[str, str]], None] = nothing
    """Writes files of the ends there."""
    module: str = ""
    """Module of Python without which it is left out as well."""
    doors: tuple[str, ...] = BOTH
    is_stopped: bool = False
    """The server does not end by itself."""
    brings_its_own: bool = False
    """The server has a stack of its own, and runs as it is, in UDP."""

    def lacks(self) -> str | None:
        """Say what is missing here."""
        if not shutil.which(self.program) and not Path(self.program).exists():
            return f"no {self.program} ({self.package})"
        if self.module and importlib.util.find_spec(self.module) is None:
            return f"no {self.module} ({self.package})"
        return None

    def applies(self, client: str, server: str) -> bool:
        """Tell if it can run between these ends."""
        if self.brings_its_own != (server == OWN):
            return False
        ends = {client, server} - {"kernel", OWN}
        is_alone = not self.server and client != server
        return not is_alone and ends <= set(self.doors)


def said(where: Path, who: str) -> str:
    return (where / f"{who}.out").read_text(errors="replace")


def whole(where: Path) -> str:
    """Have the client say that all came back."""
    told = re.search(r"^whole: (.*)$", said(where, "client"), re.MULTILINE)
    hold(told, f"it was not whole: {said(where, 'client')[-200:]}")
    assert told is not None
    return told.group(1)


def counted(pattern: str, who: str, least: int) -> Callable[[Path], str]:
    """Judge by how often an end has said something."""

    def judge(where: Path) -> str:
        count = len(re.findall(pattern, said(where, who)))
        hold(count >= least, f"{count} of {least}: {said(where, who)[-300:]}")
        return f"{count} times `{pattern}`"

    return judge
