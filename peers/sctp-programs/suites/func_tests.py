"""The func_tests of lksctp-tools, from Debian's source package: one program each, IPv4 and IPv6."""

import re
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grounds import LOOPBACK, Door, Ground, MissingError
from table import PASSED, Case

V6 = (
    "test_basic",
    "test_sockopt",
    "test_fragments",
    "test_inaddr_any",
    "test_peeloff",
    "test_timetolive",
    "test_sctp_sendrecvmsg",
    "test_sctp_sendvrecvv",
    "test_getname",
    "test_tcp_style",
)
"""Programs that are built for IPv6 as well, as their own Makefile has it."""
SHORT = (
    "test_1_to_1_accept_close",
    "test_1_to_1_initmsg_connect",
    "test_1_to_1_rtoinfo",
    "test_1_to_1_sockopt",
    "test_connectx",
    "test_fragments",
    "test_inaddr_any_v6",
    "test_peeloff",
    "test_peeloff_v6",
    "test_recvmsg",
)
"""Ten that take a few seconds together, and pass whole by both doors.

They have sockets of one association and of many, options, peeling off, several addresses, and flags."""
MANY = tuple(f"127.0.{part}.{host}" for part in range(4) for host in range(1, 7))
"""Addresses of the loopback to which `test_connectx` binds: Linux has all of 127.0.0.0/8."""
LINE = re.compile(r"^(\S+\.c)\s+(\d+) (PASS|BROK) : (.*)$", re.MULTILINE)


def fetch(directory: Path) -> Path:
    """Fetch the source package by an apt configuration of its own, and give the directory of the tests."""
    for part in ("lists/partial", "cache/archives/partial", "source"):
        (directory / "apt" / part).mkdir(parents=True, exist_ok=True)
    apt = directory / "apt"
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    if release.get("ID") != "debian":
        raise MissingError("the source package of lksctp-tools is fetched from Debian")
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (apt / "sources.list").write_text(
        f"deb-src [signed-by={keys}] http://deb.debian.org/debian {release['VERSION_CODENAME']} main\n"
    )
    (apt / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{apt}/sources.list";\nDir::Etc::sourceparts "-";\n'
        f'Dir::State::lists "{apt}/lists";\n'
        f'Dir::Cache "{apt}/cache";\nAPT::Sandbox::User "root";\nAcquire::Languages "none";\n'
        'Acquire::Retries "1";\nAcquire::http::Timeout "20";\n'
    )
    where = apt / "source"
    for arguments in (["update"], ["source", "--download-only", "lksctp-tools"]):
        line = ["env", f"APT_CONFIG={apt}/apt.conf", "apt-get", "-qq", *arguments]
        try:
            done = subprocess.run(line, cwd=where, capture_output=True, text=True, check=False, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MissingError(f"the source package of lksctp-tools: {error}") from error
        if done.returncode:
            raise MissingError(f"the source package of lksctp-tools: {done.stderr.strip()}")
    archive = next(where.glob("*.orig.tar.*"), None)
    if archive is None:
        raise MissingError("the source package of lksctp-tools has no archive")
    tree = directory / "lksctp-tools"
    tree.mkdir(exist_ok=True)
    subprocess.run(["tar", "-xf", archive, "-C", tree, "--strip-components=1"], check=True)
    return tree / "src/func_tests"


def programs(sources: Path) -> list[str]:
    """All programs, those for IPv6 behind the others."""
    names = sorted(path.stem for path in sources.glob("test_*.c"))
    return [*names, *(f"{name}_v6" for name in V6 if name in names)]


def build(sources: Path, into: Path, names: Iterable[str], *, is_static: bool) -> Path:
    """Build programs against libsctp-dev."""
    if not Path("/usr/include/netinet/sctp.h").exists():
        raise MissingError("apt-get install libsctp-dev")
    into.mkdir(parents=True, exist_ok=True)
    objects = into.parent / "func-tests-objects"
    objects.mkdir(exist_ok=True)
    library = sources.parent / "testlib"
    flags = ["-O0", "-w", "-fno-strict-aliasing", "-DHAVE_SCTP_SENDV", f"-I{library}"]

    def compiled(source: Path, name: str) -> Path:
        compiled = objects / f"{name}.o"
        family = ["-DTEST_V6=1"] if name.endswith("_v6") else []
        if not compiled.exists():
            # By its relative name, which the program prints.
            line = ["cc", *flags, *family, "-c", source.name, "-o", compiled]
            subprocess.run(line, cwd=source.parent, check=True)
        return compiled

    common = compiled(library / "sctputil.c", "sctputil")

    def one(name: str) -> None:
        own = compiled(sources / f"{name.removesuffix('_v6')}.c", name)
        linked = ["-static"] if is_static else []
        subprocess.run(["cc", *linked, own, common, "-o", into / name, "-lsctp", "-lpthread"], check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, names))
    return into


def run(ground: Ground, built: Path, names: Iterable[str]) -> dict[Case, str]:
    """Run programs one after the other, and read what has become of each case."""
    results: dict[Case, str] = {}
    for name in names:
        place = ground
        if isinstance(ground, Door) and name == "test_connectx":
            place = Door(ground.slantpath, ground.name, (*LOOPBACK, *MANY[1:]))
        outcome = place.run([f"./{name}"], built, patience_s=60)
        for _, number, result, text in LINE.findall(outcome.said):
            results[Case(name, number)] = PASSED if result == "PASS" else f"broken: {text}"
        ended = PASSED if outcome.status == 0 else f"status {outcome.status}"
        results[Case(name, "exit")] = ended
    return results
