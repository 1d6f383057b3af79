"""Pages that code writes: commands by their help, what is told of broken files, the library by docstrings.

`SLANTPATH_UPDATE=1` writes them anew.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slantpath.command import OWN

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python/slantpath"
TOLD = re.compile(r"^# ([^\s:]+):(\d+)(?::\d+)?: (.*)$")
HELP = "#   help: "
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DIRECTORIES = {
    "Scenarios": "crates/runner/tests/broken",
    "Topologies": "crates/topology/tests/broken",
    "Warnings": "crates/runner/tests/warned",
}


def hold(file: str, given: str) -> None:
    """Hold a page to what is given, or write it."""
    if "SLANTPATH_UPDATE" in os.environ:
        (ROOT / file).write_text(given, encoding="utf-8")
    kept = (ROOT / file).read_text(encoding="utf-8")
    assert given == kept, (
        f"{file} is not what the code gives. If it is meant: SLANTPATH_UPDATE=1 and this test"
    )


def helped(*words: str) -> str:
    """Give the help of a command, as wide as a page."""
    # The program tells commands by their help as it does in a shell.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(  # noqa: S603 - the command of the package
        ["slantpath", *words, "--help"],  # noqa: S607
        check=True,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PATH": path},
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def commands_below(text: str) -> list[str]:
    """Give the names of the commands that a help lists."""
    names = re.findall(
        r"^  ([a-z-]+)  ", text.partition("\nCommands:\n")[2].partition("\n\n")[0], re.MULTILINE
    )
    return [name for name in names if name != "help"]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 sets help otherwise")
def test_the_page_on_commands_has_the_help_of_each() -> None:
    whole = helped()
    page = [
        "# Commands",
        "",
        "Each command by its own help, which `slantpath help COMMAND` prints. `slantpath keys WORD` finds",
        "a flag by a word of its name or meaning. `slantpath completions` and `man` serve the shell.",
        "",
        "```text",
        whole,
        "```",
    ]
    for name in sorted([*commands_below(whole), *OWN]):
        text = helped(name)
        page += ["", f"## `slantpath {name}`", "", "```text", text, "```"]
        for below in commands_below(text):
            page += ["", f"### `slantpath {name} {below}`", "", "```text", helped(name, below), "```"]
    assert len(page) > 100
    hold("docs/commands.md", "\n".join(page) + "\n")


def faults(file: Path) -> Iterator[tuple[str, str, str, str]]:
    """Give what is told of a file: its table, the line, what is wrong, and what would be right."""
    text, _, told = file.read_text(encoding="utf-8").partition("\n# told:\n")
    lines = text.splitlines()
    entries: list[list[str]] = []
    for one in told.splitlines():
        if TOLD.match(one):
            entries.append([one, ""])
        elif one.startswith(HELP):
            entries[-1][1] = one.removeprefix(HELP)
        elif entries:
            entries[-1][1 if entries[-1][1] else 0] += " " + one.removeprefix("#").strip()
    for head, cure in entries:
        parts = TOLD.match(head)
        assert parts is not None
        number = int(parts[2]) if parts[1] == file.name else 0
        above = [line for line in lines[:number] if re.match(r"^\[+[a-z]", line)]
        table = re.split(r"[.\]]", above[-1].lstrip("["))[0] if above else ""
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        yield table, line, parts[3], cure


def cell(text: str) -> str:
    """Give a string as a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Give a line of a file as a cell of a table."""
    short = text if len(text) <= 60 else text[:59] + "…"
    return f"`{short}`".replace("|", "\\|") if short and "`" not in short else ""


def test_the_page_on_errors_has_what_is_told_of_each_broken_file() -> None:
    page = [
        "# Errors and warnings",
        "",
        "Texts of faults in files, by the table of the file in which each stands. Each has the line that",
        "it was told of, and what would be right. Names and numbers are those of files that test the texts.",
        "`slantpath check FILE` tells all faults and warnings of a file at once.",
    ]
    count = 0
    for title, directory in DIRECTORIES.items():
        told: dict[str, dict[tuple[str, str], str]] = {}
        for file in sorted((ROOT / directory).glob("*.toml")):
            for table, line, wrong, cure in faults(file):
                told.setdefault(table, {}).setdefault((wrong, cure), line)
        for table in sorted(told):
            name = f"`[{table}]`" if table else "the file itself, and traces"
            page += ["", f"## {title}: {name}", "", "| wrong | line | right |", "|---|---|---|"]
            for (wrong, cure), line in sorted(told[table].items()):
                page.append(f"| {cell(wrong)} | {code(line)} | {cell(cure)} |")
                count += 1
    assert count > 400
    hold("docs/errors.md", "\n".join(page) + "\n")


def sources() -> Iterator[tuple[str, list[Definition]]]:
    """Give each public name: its module, and the statements that define it."""
    for module, file in {
        "slantpath": "__init__.py",
        "slantpath.live": "live.py",
        "slantpath.testing": "testing/__init__.py",
        "slantpath.plots": "plots/__init__.py",
        "slantpath.figures": "figures.py",
        "slantpath.sky_figures": "sky_figures.py",
        "slantpath.report": "report/__init__.py",
        "slantpath.view": "view/__init__.py",
    }.items():
        tree = ast.parse((PYTHON / file).read_text(encoding="utf-8"))
        places = {
            alias.name: part.module
            for part in tree.body
            if isinstance(part, ast.ImportFrom) and part.module
            for alias in part.names
        }
        for name in public(tree):
            place = places.get(name)
            yield f"{module}.{name}", defining(tree if place is None else parsed(place), name)


def public(tree: ast.Module) -> list[str]:
    """Give the public names of a module: those of `__all__`, else all without an underscore."""
    for part in tree.body:
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(part.value)
            return names
    return [
        part.name
        for part in tree.body
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and not part.name.startswith("_")
    ]


def parsed(module: str) -> ast.Module:
    """Give the source of a module of the package; of the engine its stub."""
    path = PYTHON.parent / module.replace(".", "/")
    found = [path.with_suffix(".pyi"), path.with_suffix(".py"), path / "__init__.py"]
    return ast.parse(next(file for file in found if file.exists()).read_text(encoding="utf-8"))


def defining(tree: ast.Module, name: str) -> list[Definition]:
    """Give the definitions of a name: several if it is overloaded."""
    return [part for part in tree.body if isinstance(part, Definition) and part.name == name]


def signature(part: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    """Give a function's name with its arguments, without types, which editors show."""
    arguments = part.args
    for each in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ):
        if each is not None:
            each.annotation = None
    arguments.args = [each for each in arguments.args if each.arg not in ("self", "cls")]
    awaited = "await " if isinstance(part, ast.AsyncFunctionDef) else ""
    return f"{awaited}{name}({ast.unparse(arguments)})"


def said(part: Definition) -> str:
    """Give the docstring of a definition, as Markdown."""
    text = re.sub(r"``(.+?)``", r"`\1`", ast.get_docstring(part) or "")
    return re.sub(r"::\n\n((?:    .*\n?|\n)+)", lambda found: f":\n\n{found[1]}", text)


def members(part: ast.ClassDef) -> Iterator[str]:
    """Give the lines on a class: its fields, and its methods with the first sentence of each."""
    for inner in part.body:
        if isinstance(inner, ast.AnnAssign):
            yield f"- `{ast.unparse(inner.target)}: {ast.unparse(inner.annotation)}`"
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.name.startswith("_"):
            is_property = any(ast.unparse(each).endswith("property") for each in inner.decorator_list)
            first = said(inner).partition("\n\n")[0].replace("\n", " ")
            title = inner.name if is_property else signature(inner, inner.name)
            yield f"- `{title}`{': ' if first else ''}{first}"


def test_the_page_on_the_library_has_every_public_name() -> None:
    page = [
        "# The library, name by name",
        "",
        "Written from the docstrings, which `help(slantpath)` shows, too. [Python](python.md) is the guide.",
    ]
    module = ""
    for name, parts in sources():
        if name.rpartition(".")[0] != module:
            module = name.rpartition(".")[0]
            page += ["", f"## `{module}`"]
        for part in parts[:1]:
            title = name if isinstance(part, ast.ClassDef) else signature(part, name)
            page += ["", f"### `{name}`", ""]
            if title != name:
                page += ["```text", title, "```", ""]
            page.append(said(part))
            if isinstance(part, ast.ClassDef) and (lines := list(members(part))):
                page += ["", *lines]
    assert page.count("") > 60
    hold("docs/python-reference.md", "\n".join(page) + "\n")
