"""Settings of a merged scenario: what was chosen, beside its default, and how two scenarios differ."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slantpath import Scenario
from slantpath.plots.results import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMED = ("flows", "links", "nodes", "sctp", "tcp")
"""Tables of tables with names of the user's own."""
TITLES = ("scenario.name", "scenario.description")
"""Settings that head a report."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of the merged form with its value, as TOML without the quotes of a string."""

    value: str
    is_chosen: bool
    """Somebody wrote it: the merged form says of every other value where it comes from."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A setting that was chosen, beside the default of its key."""

    path: str
    value: str
    default: str | None
    """None where the key has none, or it is not known."""


def settings(merged: str) -> dict[str, Setting]:
    """Take a merged form apart: its settings by their paths, `links.satellite.forward.rate`."""
    found: dict[str, Setting] = {}
    table = ""
    counts: dict[str, int] = {}
    for line in merged.splitlines():
        text = line.strip()
        if text.startswith("[[") and text.endswith("]]"):
            name = text[2:-2]
            counts[name] = counts.get(name, -1) + 1
            table = f"{name}.{counts[name]}"
        elif text.startswith("[") and text.endswith("]"):
            table = text[1:-1]
        elif " = " in text and not text.startswith("#"):
            key, _, rest = text.partition(" = ")
            value, comment = _apart(rest)
            path = printable(f"{table}.{key}" if table else key)
            found[path] = Setting(_plain(value), not comment)
    return found


def choices(merged: str) -> list[Choice]:
    """List what was chosen and differs from the default of its key."""
    all_settings = settings(merged)
    defaults = _defaults(all_settings)
    chosen = []
    for path, setting in all_settings.items():
        default = defaults.get(path, defaults.get(_general(path)))
        if setting.is_chosen and path not in TITLES and setting.value != default:
            chosen.append(Choice(path, setting.value, default))
    return chosen


def differences(first: str, second: str) -> list[tuple[str, str | None, str | None]]:
    """List the paths whose values differ between two merged forms; None where a form has no such key."""
    ours, theirs = settings(first), settings(second)
    pairs = (
        (path, ours[path].value if path in ours else None, theirs[path].value if path in theirs else None)
        for path in dict.fromkeys((*ours, *theirs))
        if path not in TITLES
    )
    return [pair for pair in pairs if pair[1] != pair[2]]


def items(merged: str, table: str) -> list[dict[str, str]]:
    """Give the entries of a list of tables: the events of `script`."""
    found: dict[str, dict[str, str]] = {}
    for path, setting in settings(merged).items():
        head, _, rest = path.partition(".")
        number, _, key = rest.partition(".")
        if head == table and number.isdecimal() and key:
            found.setdefault(number, {})[key] = setting.value
    return list(found.values())


def _apart(rest: str) -> tuple[str, str]:
    """Part a value from the comment behind it; a string may have a number sign in it."""
    quote = ""
    skipped = False
    for place, letter in enumerate(rest):
        if skipped:
            skipped = False
        elif quote:
            skipped = letter == "\\" and quote == '"'
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return rest[:place].strip(), rest[place + 1 :].strip()
    return rest.strip(), ""


def _plain(value: str) -> str:
    try:
        read = tomllib.loads(f"x = {value}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return printable(value)
    return printable(read if isinstance(read, str) else value)


def _general(path: str) -> str:
    """Give a path with a star for a name of the user's own."""
    head, *rest = path.split(".")
    return ".".join((head, "*", *rest[1:])) if head in NAMED and rest else path


def _defaults(all_settings: Mapping[str, Setting]) -> dict[str, str]:
    """Ask the engine for defaults: the merged form of the least scenario, with the presets of this one."""
    profiles = "\n".join(_profiles(all_settings))
    text = f"""
[scenario]
name = "least"
duration = "1 s"
[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}
[links.l]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "1 ms"
[flows.f]
transport = "sctp"
from = "a"
to = "b"
profile = "least"
application = {{ kind = "bulk", total = "1 kB", message_size = "1 kB" }}
[sctp.least]
{profiles}
"""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            merged = Scenario.parse(text).merged()
    except ValueError:
        # Of another version, or a topology: no default is told, and every choice is listed.
        return {}
    found = {}
    for path, setting in settings(merged).items():
        # The preset is the one choice of these profiles; its own default is that of the least one.
        if not setting.is_chosen:
            is_own = path.startswith(("sctp.", "tcp.")) and not path.startswith("sctp.least.")
            found[path if is_own else _general(path)] = setting.value
    return {path: value for path, value in found.items() if not path.endswith((".addresses", ".primary"))}


def _profiles(all_settings: Mapping[str, Setting]) -> Iterator[str]:
    for path, setting in all_settings.items():
        head, _, rest = path.partition(".")
        if head in ("sctp", "tcp") and rest.endswith(".preset") and rest.count(".") == 1:
            name = rest.partition(".")[0]
            if name != "least":
                yield f'[{head}.{name}]\npreset = "{setting.value}"'
