"""The site of the documents: their pages, studies and scenarios as HTML that opens from disk.

`make docs` runs it. Pages are read where they lie in the checkout and staged in the same directories, so
that links between them hold as they are. A link to a file that is no page takes the file along. A link to a
directory leads to a list of its pages, one to a scenario to that scenario's page. One that leads nowhere
ends the build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "*.md",
    "docs/**/*.md",
    "peers/*/README.md",
    "scenarios/README.md",
    "studies/*/README.md",
    "studies/*/*/*.md",
)
"""Documents of the checkout that are pages."""

LINK = re.compile(r"(?<=\]\()([^)\s#]+)")
FENCE = re.compile(r"^\s*(```+)(.*)$")
KEYS = "| key | value | default | meaning |"
"""Head of a table of keys."""
UNITS = {
    "ns us ms s min h d": "time",
    "bit/s kbit/s Mbit/s Gbit/s Tbit/s": "rate",
    "B kB MB GB KiB MiB GiB": "size",
    "packets": "number of packets",
    "%": "share",
    "deg": "angle",
    "km": "length",
}
"""Units of examples, with the kind of their quantity."""
BOUND = re.compile(r" ?(At most [^:|]+: .+?\.)(?= |$)")
"""Bound of a key, with its reason."""
EDGE = re.compile(r"^(\S+) --> (\S+?)(?:: ([^/]*?)(?: / (.*))?)?$")
NAV: dict[str, list[str | dict[str, str | list[str]]]] = {
    "Learn": ["README.md", "docs/tutorial.md", {"Scenarios to look at": "scenarios"}],
    "Do": [
        "docs/do/*.md",
        {
            "Guides": [
                "docs/topology.md",
                "docs/planner.md",
                "docs/emulate.md",
                "docs/control.md",
                "docs/live.md",
                "docs/testing.md",
                "docs/gateway.md",
                "docs/captures.md",
                "docs/view.md",
            ]
        },
    ],
    "Look up": [
        "docs/scenario.md",
        "docs/tables.md",
        "docs/commands.md",
        "docs/errors.md",
        "docs/python.md",
        "docs/python-reference.md",
        "docs/trace.md",
        "docs/gateway-metrics.md",
    ],
    "Understand": [
        {"Studies": "studies"},
        {"Models": "docs/models"},
        {"State machines": "docs/machines"},
        "docs/security.md",
        "docs/benchmarks.md",
        {"Beside other stacks": "peers"},
        {"Notes": "docs/notes"},
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ],
}
"""Order of the pages. A string is a page or a pattern, a name over a string a directory."""
DIRECTORIES = {
    inside: name
    for parts in NAV.values()
    for part in parts
    if isinstance(part, dict)
    for name, inside in part.items()
    if isinstance(inside, str)
}
"""Directories with their names."""

SETTINGS = {
    "site_name": "Slantpath",
    "site_description": "SCTP, TCP and signalling over satellite networks.",
    "docs_dir": "pages",
    "site_dir": "html",
    "use_directory_urls": False,
    "extra_css": ["site/extra.css"],
    "extra_javascript": ["site/fold-names.js", "site/scroll-regions.js"],
    # Browsers start no worker from a file. Unless it is named here, a foreign host is asked for this script.
    "extra": {
        "polyfills": [{"path": "site/iframe-worker.js", "type": "text/javascript"}],
        "generator": False,
    },
    "theme": {
        "font": False,
        "features": [
            "content.code.copy",
            "navigation.indexes",
            "navigation.tabs",
            "navigation.top",
            "search.highlight",
            "toc.follow",
        ],
        "palette": [
            {
                "media": "(prefers-color-scheme: light)",
                "scheme": "default",
                "toggle": {"icon": "lucide/sun", "name": "Dark"},
            },
            {
                "media": "(prefers-color-scheme: dark)",
                "scheme": "slate",
                "toggle": {"icon": "lucide/moon", "name": "Light"},
            },
        ],
    },
    "plugins": ["search", "offline"],
    "markdown_extensions": [
        "attr_list",
        "tables",
        "md_in_html",
        "sane_lists",
        {"pymdownx.highlight": {"anchor_linenums": False}},
        "pymdownx.superfences",
    ],
}


def fenced(lines: list[str]) -> Iterator[tuple[str, str | None, list[str]]]:
    """Give the parts of a page: a line outside all blocks, or a block's head, info string and lines."""
    at = iter(lines)
    for line in at:
        fence = FENCE.match(line)
        if fence is None:
            yield line, None, []
            continue
        body = []
        for inner in at:
            if inner.strip() == fence[1]:
                break
            body.append(inner)
        yield line, fence[2].strip(), body


def block(head: str, info: str, body: list[str]) -> list[str]:
    """Give a block as the site has it: with its file's name as a title, and a state diagram as a table."""
    language, _, name = info.partition(" ")
    if language == "mermaid":
        return table_of_machine(body)
    fence = head[: head.index("```") + 3]
    name = name.strip("()").replace("not run:", "not run by the tests:")
    title = f' title="{name}"' if name else ""
    return [f"{fence} {language}{title}", *body, fence]


def table_of_machine(body: list[str]) -> list[str]:
    """Give the edges of a state diagram as rows: wide diagrams of forty edges are read on no screen."""
    rows = []
    for line in body[1:]:
        edge = EDGE.match(line.strip())
        if edge is None:
            message = f"this is no edge of a state diagram: {line}"
            raise SystemExit(message)
        source, target, event, actions = (part or "" for part in edge.groups())
        start = "*start*" if source == "[*]" else f"`{source}`"
        end = "*end*" if target == "[*]" else f"`{target}`"
        rows.append(f"| {start} | {event} | {end} | {actions} |")
    return ["| state | event | next state | actions |", "|---|---|---|---|", *rows]


def row_of_keys(row: str) -> str:
    """Give a row of a table of keys with the type of the value, and the bound behind a fold."""
    cells = row.strip("| ").split(" | ")
    if row == KEYS or len(cells) != KEYS.count("|") - 1:
        return row.replace(" value ", " type ")
    key, value, default, meaning = cells
    fold = r'<details class="bound"><summary>bound</summary>\1</details>'
    return f"| {key} | {type_of(value)} | {default} | {BOUND.sub(fold, meaning)} |"


def type_of(value: str) -> str:
    """Give the type of a key, of whose values these are examples or all; each kind of quantity has one."""
    listed = "a list of: "
    if value.startswith(listed):
        return listed + type_of(value.removeprefix(listed))
    words: list[str] = []
    quantities: dict[str, str] = {}
    for code in re.findall(r"`[^`]*`", value):
        kind = kind_of(code.strip('`"'))
        if kind is None:
            words.append(code)
        else:
            quantities.setdefault(kind, code)
    if not quantities:
        return value
    return " or ".join([*words, *(f"{kind}, as {code}" for kind, code in quantities.items())])


def kind_of(example: str) -> str | None:
    """Give the kind of quantity of an example; of a word there is none."""
    number = re.fullmatch(r"-?[0-9][0-9.]*(e-?[0-9]+)?(?: (\S+))?", example)
    if number is None:
        return None
    if number[2] is None:
        return "share" if number[1] else "number"
    return next((kind for units, kind in UNITS.items() if number[2] in units.split()), None)


class Stage:
    """A directory with all pages, as the builder of the site reads them."""

    def __init__(self, root: Path, into: Path) -> None:
        """Find the pages of a checkout."""
        self.root = root
        self.into = into
        self.faults: list[str] = []
        self.titles: dict[str, str] = {}
        found = {file.relative_to(root).as_posix() for pattern in PAGES for file in root.glob(pattern)}
        self.pages = sorted(found)

    def fill(self) -> None:
        """Write every page, what the pages link to, the pages of scenarios and the lists of directories."""
        scenarios = sorted((self.root / "scenarios").glob("*.toml"))
        for file in scenarios:
            self.write(f"scenarios/{file.stem}.md", scenario_page(file))
        for page in self.pages:
            self.write(page, self.staged(page))
        self.pages = sorted({*self.pages, *(f"scenarios/{file.stem}.md" for file in scenarios)})
        for directory, name in DIRECTORIES.items():
            if f"{directory}/README.md" not in self.pages:
                self.write_list(directory, name)
        shutil.copytree(self.root / "website" / "assets", self.into / "site", dirs_exist_ok=True)

    def write(self, page: str, text: str) -> None:
        """Write a page, and keep its title."""
        heading = re.search(r"^# (.+)$", text, re.MULTILINE)
        if heading is None:
            self.faults.append(f"{page}: a page begins with a heading")
        self.titles[page] = heading[1].replace("`", "") if heading else page
        path = self.into / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def staged(self, page: str) -> str:
        """Give the text of a page with links and blocks as the site has them."""
        made = []
        lines = (self.root / page).read_text(encoding="utf-8").splitlines()
        of_keys = False
        for head, info, body in fenced(lines):
            if info is None:
                of_keys = head == KEYS or (of_keys and head.startswith("|"))
                line = row_of_keys(head) if of_keys else head
                made.append(LINK.sub(lambda link: self.target(page, link[1]), line))
            else:
                made.extend(block(head, info, body))
        return "\n".join(made) + "\n"

    def target(self, page: str, link: str) -> str:
        """Give what a link becomes, and take along what it leads to."""
        if re.match(r"[a-z]+:", link):
            return link
        path = os.path.normpath(Path(page).parent / link)
        if path in self.pages:
            return link
        file = self.root / path
        if path.startswith("..") or not file.exists():
            self.faults.append(f"{page}: `{link}` leads nowhere")
        elif file.is_dir():
            return f"{link.rstrip('/')}/index.md"
        elif file.parent == self.root / "scenarios" and file.suffix == ".toml":
            return f"{link.removesuffix('.toml')}.md"
        else:
            copy = self.into / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        return link

    def write_list(self, directory: str, name: str) -> None:
        """Write the list of a directory's pages."""
        pages = self.below(directory)
        rows = [f"- [{self.titles[page]}]({Path(page).relative_to(directory).as_posix()})" for page in pages]
        self.write(f"{directory}/index.md", "\n".join([f"# {name}", "", *rows, ""]))

    def below(self, directory: str) -> list[str]:
        """Give the pages of a directory, with its own first."""
        inside = [page for page in self.pages if page.startswith(f"{directory}/")]
        return sorted(inside, key=lambda page: (page != f"{directory}/README.md", self.titles[page].lower()))

    def nav(self) -> list[object]:
        """Give the sections with their pages, each once."""
        left = list(self.pages)

        def entry(page: str) -> dict[str, str]:
            left.remove(page)
            title = self.titles[page]
            # Where all pages of a list are of one kind, the name alone tells them apart.
            return {re.sub("^(Scenario|State machines? of) ", "", title): page}

        def entries(part: str | dict[str, str | list[str]]) -> list[object]:
            if isinstance(part, dict):
                ((name, inside),) = part.items()
                if isinstance(inside, str):
                    own = [] if f"{inside}/README.md" in left else [f"{inside}/index.md"]
                    return [{name: [*own, *(entry(page) for page in self.below(inside))]}]
                return [{name: [one for each in inside for one in entries(each)]}]
            if "*" in part:
                place = part.rpartition("/")[0]
                return [entry(page) for page in self.below(place)]
            if part not in left:
                self.faults.append(f"the order of the site names {part}, which is no page")
                return []
            return [entry(part)]

        made: list[object] = [
            {name: [one for part in parts for one in entries(part)]} for name, parts in NAV.items()
        ]
        self.faults += [f"{page} has no place in the order of the site" for page in left]
        return made


def scenario_page(file: Path) -> str:
    """Give the page of a scenario: what its comment says, how it is run, and the file."""
    text = file.read_text(encoding="utf-8")
    comment = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").strip())
    name = f"scenarios/{file.name}"
    command = "topology" if re.search(r"^\[topology\]", text, re.MULTILINE) else "run"
    return "\n".join(
        [
            f"# Scenario `{file.stem}`",
            "",
            *(line for line in comment if not line.startswith(":schema")),
            "",
            "``` console",
            f"$ slantpath {command} {name}",
            "```",
            "",
            f'``` toml title="{name}"',
            text.rstrip(),
            "```",
            "",
        ]
    )


def build(into: Path) -> int:
    """Build the site into `into`/html, and give the exit status."""
    shutil.rmtree(into, ignore_errors=True)
    stage = Stage(ROOT, into / "pages")
    stage.fill()
    settings = {**SETTINGS, "nav": stage.nav()}
    if stage.faults:
        print(*stage.faults, sep="\n", file=sys.stderr)
        return 1
    # JSON is YAML.
    (into / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    words = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "mkdocs.yml"]
    return subprocess.run(words, cwd=into, check=False).returncode  # noqa: S603 - the builder of the site


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out" / "site"))
