"""The pages of `docs/` and README are run: what they print is compared.

A block is run by its info string:

- `console`: a command stands behind `$ `, and what it prints below. With an ellipsis (`…`) among these lines,
  they are parts of what it prints, in this order; each may be the beginning of a line. Where nothing stands
  below any command of a block, the page leaves out what they print.
- `python`: all of a page are one program.
- a language and a name, such as `toml first.toml`: the file is written.
- `console (not run: REASON)` and `python (not run: REASON)` are only shown.
- any other language is only shown.

Each page has a directory of its own, with the scenarios and studies of the checkout in it.
`SLANTPATH_UPDATE=1` writes what is printed now into the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(.*)$")
NOT_RUN = re.compile(r"^(console|python) \(not run: .{8,}\)$")
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    if re.search(r"^```(console|python)", page.read_text(encoding="utf-8"), re.MULTILINE)
)
SECONDS = 120
"""The longest that a command of a page may take on a busy machine."""

VOID = 3
"""Exit status of an emulation whose packets left too late."""


class Place:
    """A directory in which a page is run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, object] = {"__name__": "page"}
        for directory in ("scenarios", "studies"):
            shutil.copytree(ROOT / directory, path / directory, ignore=shutil.ignore_patterns("__pycache__"))

    def shell(self, line: str) -> tuple[str, int]:
        """Give what a line prints and complains of, as on a terminal, and its exit status."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(  # noqa: S603 - commands of the pages
            ["bash", "-c", f"exec 2>&1; {line}"],  # noqa: S607 - the shell of the pages
            cwd=self.path,
            env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            check=False,
            timeout=SECONDS,
        )
        lines = (line.rstrip() for line in done.stdout.splitlines() if not line.endswith(" s elapsed"))
        return "".join(f"{line}\n" for line in lines), done.returncode

    def console(self, body: list[str]) -> list[str]:
        """Give a block of commands with what they print now."""
        made = []
        parts = commands(body)
        for command, shown in parts:
            line = "\n".join(command).removeprefix("$ ")
            if " ping " in line and shutil.which("ping") is None:
                pytest.skip("no ping: apt-get install iputils-ping")
            printed, status = self.shell(line)
            if status and "slantpath emulate" in line and "namespace" in printed:
                pytest.skip(printed.strip())
            if status == VOID and "slantpath emulate" in line and "void" in printed:
                pytest.skip("this machine was too busy to keep the pace of an emulation")
            made += command
            if all(not shown for _, shown in parts):
                # The page leaves out what they print.
                assert status in (0, 3), f"{line}: {printed}"
            elif "…" in shown and holds(shown, printed.splitlines()):
                made += shown
            else:
                made += printed.splitlines()
        return made

    def python(self, body: list[str]) -> None:
        """Run a block of Python, which has the names of those before it."""
        before = Path.cwd()
        os.chdir(self.path)
        try:
            exec("\n".join(body), self.names)  # noqa: S102 - that is what the page asks for
        finally:
            os.chdir(before)

    def executed(self, text: str) -> str:
        """Give a page with what its commands print now."""
        made = []
        lines = iter(text.splitlines())
        for line in lines:
            made.append(line)
            fence = FENCE.match(line)
            if fence is None:
                continue
            margin, info = fence[1], fence[2].strip()
            body = []
            for inner in lines:
                if inner.strip() == "```":
                    break
                body.append(inner.removeprefix(margin))
            language, _, name = info.partition(" ")
            if info == "console":
                body = self.console(body)
            elif info == "python":
                self.python(body)
            elif name and not name.startswith("("):
                (self.path / name).write_text("\n".join(body) + "\n", encoding="utf-8")
            elif language in ("console", "python"):
                assert NOT_RUN.match(info), f"`{info}` does not say why the block is not run"
            made += [f"{margin}{inner}".rstrip() for inner in body]
            made.append(f"{margin}```")
        return "\n".join(made) + "\n"


def commands(body: list[str]) -> list[tuple[list[str], list[str]]]:
    """Give the commands of a block, which may have several lines, each with what stands below it."""
    parts: list[tuple[list[str], list[str]]] = []
    goes_on = False
    for line in body:
        if line.startswith("$ "):
            parts.append(([line], []))
        else:
            assert parts, f"a block of commands begins with `$ `, not `{line}`"
            parts[-1][0 if goes_on else 1].append(line)
        goes_on = line.endswith("\\") and (goes_on or line.startswith("$ "))
    return parts


def holds(shown: list[str], printed: list[str]) -> bool:
    """Tell if these lines are printed in this order; others may stand between."""
    rest = iter(printed)
    return all(any(one.startswith(line) for one in rest) for line in shown if line != "…")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("default")
def test_the_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    kept = (ROOT / page).read_text(encoding="utf-8")
    given = Place(tmp_path).executed(kept)
    if "SLANTPATH_UPDATE" in os.environ:
        (ROOT / page).write_text(given, encoding="utf-8")
    assert given == kept, f"{page} shows other output. If it is meant: SLANTPATH_UPDATE=1 and this test"


def test_pages_begin_with_the_scenarios_of_the_project() -> None:
    scenarios = {
        "README.md": "first.toml",
        "docs/captures.md": "first.toml",
        "docs/tutorial.md": "first.toml",
        "docs/topology.md": "iridium-london-boston.toml",
    }
    for page, name in scenarios.items():
        block = f"```toml {name}\n" if page != "README.md" else "```toml\n"
        text = (ROOT / page).read_text(encoding="utf-8")
        assert f"{block}{(ROOT / 'scenarios' / name).read_text(encoding='utf-8')}```" in text, page


def test_output_that_differs_and_blocks_without_a_reason_are_found(tmp_path: Path) -> None:
    place = Place(tmp_path)
    right = "```console\n$ echo one; echo two\none\ntwo\n```\n"
    assert place.executed(right) == right
    assert place.executed(right.replace("two\n`", "2\n`")) == right
    part = "```console\n$ echo one; \\\n  echo two\n…\ntw\n```\n"
    assert place.executed(part) == part
    assert "one\ntwo\n" in place.executed(part.replace("tw\n`", "three\n`"))
    with pytest.raises(AssertionError, match="does not say why"):
        place.executed("```console (later)\n$ reboot\n```\n")
    with pytest.raises(AssertionError, match="false"):
        place.executed("```console\n$ false\n```\n")
    with pytest.raises(ZeroDivisionError):
        place.executed("```python\nzero = 0\n```\n\n```python\n1 / zero\n```\n")
