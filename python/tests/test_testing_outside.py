"""What stands around tests in virtual time: the plugin of pytest, programs in real time, the notebook."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if sys.platform != "linux":
    pytest.skip("slantpath.testing stands on slantpath.live, which is Linux's", allow_module_level=True)

from slantpath import testing

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs/bad-network.ipynb"

SUITE = """
import asyncio

import pytest


@pytest.mark.slantpath_network(delay="300 ms")
async def test_passes(slantpath_network, tmp_path):
    await asyncio.sleep(3600)
    assert asyncio.get_running_loop().time() == slantpath_network.now == 3600
    assert tmp_path.is_dir()


@pytest.mark.slantpath_network(delay="300 ms", seed=5)
async def test_fails(slantpath_network):
    await asyncio.sleep(2)
    assert False


def test_is_of_another_kind(slantpath_network):
    async def scene():
        await asyncio.sleep(1)

    slantpath_network.run(scene())
"""

OTHERS = """
import sys


def test_nothing_was_loaded_that_other_suites_would_pay_for():
    assert "slantpath_pytest" in sys.modules
    assert not {"slantpath", "asyncio", "numpy", "matplotlib", "pyarrow"} & set(sys.modules)
"""


def pytest_in(directory: Path, text: str, *flags: str) -> tuple[int, str]:
    (directory / "test_suite.py").write_text(text, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - the tests' own
        [sys.executable, "-m", "pytest", "-p", "slantpath_pytest", "-p", "no:cacheprovider", *flags],
        cwd=directory,
        # Without the plugins of others, which may load what they like.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_coroutine_runs_on_the_network_of_its_marker_and_a_failure_says_where_its_files_are(
    tmp_path: Path,
) -> None:
    status, said = pytest_in(tmp_path, SUITE)
    assert "2 passed" in said
    assert "1 failed" in said
    assert status == 1
    assert "slantpath: seed 5, at 2.000000 s of simulated time" in said
    kept = re.search(r"slantpath: kept in (\S+): deliveries\.csv, link\.pcapng, scenario\.toml", said)
    assert kept is not None
    assert Path(kept[1], "link.pcapng").is_file()


def test_seeds_that_are_asked_for_make_as_many_tests(tmp_path: Path) -> None:
    _, said = pytest_in(tmp_path, SUITE, "--slantpath-seeds", "3", "-k", "passes", "-v")
    assert "3 passed" in said
    assert "test_passes[seed-3]" in said


BUSY = """
import asyncio, os, signal, sys, threading
from slantpath import testing

SCENARIO = '''
[scenario]
name = "busy"
duration = "1 min"
[nodes]
a.kind = "attached"
b.kind = "host"
c.kind = "host"
[links.one]
ends = ["a", "b"]
rate = "10 Mbit/s"
delay = "1 ms"
[links.two]
ends = ["b", "c"]
rate = "1 Gbit/s"
delay = "1 ms"
[flows.load]
from = "b"
to = "c"
transport = "udp"
application = { kind = "constant-rate", message_size = "100 B", interval = "40 us" }
'''


is_swallowed = threading.Event()


def interrupt():
    while net.now < 0.1:
        pass
    os.kill(os.getpid(), signal.SIGINT)
    # Two that come before either is seen are one.
    if sys.argv[1] == "twice":
        is_swallowed.wait()
        os.kill(os.getpid(), signal.SIGINT)


async def scene():
    if sys.argv[1] == "once":
        await asyncio.sleep(50)
    while True:
        try:
            await asyncio.sleep(50)
        except asyncio.CancelledError:
            is_swallowed.set()


try:
    with testing.network(SCENARIO, capture=False) as net:
        threading.Thread(target=interrupt, daemon=True).start()
        net.run(scene())
except KeyboardInterrupt:
    print("interrupted", net.now < 40)
"""


@pytest.mark.parametrize("times", ["once", "twice"])
def test_ctrl_c_ends_a_network_that_is_busy_and_is_what_is_raised(times: str) -> None:
    done = subprocess.run(  # noqa: S603 - the tests' own
        [sys.executable, "-c", BUSY, times], capture_output=True, text=True, check=False
    )
    assert done.stdout == "interrupted True\n", done.stderr


def test_other_suites_load_no_module_of_the_library(tmp_path: Path) -> None:
    status, said = pytest_in(tmp_path, OTHERS)
    assert status == 0, said


def test_the_library_s_tests_load_no_matplotlib_and_no_numpy() -> None:
    text = """import sys, slantpath.testing
print({"matplotlib", "numpy", "pyarrow"} & set(sys.modules))"""
    told = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "set()"


def echo(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            while data := connection.recv(1000):
                connection.sendall(data)


def ask(address: tuple[str, int]) -> bytes:
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(b"are you there?")
        return client.recv(100)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=echo, args=(listening,), daemon=True).start()
        yield listening
        listening.shutdown(socket.SHUT_RDWR)


def test_a_program_as_it_is_calls_a_port_that_leads_through_an_emulation(server: socket.socket) -> None:
    with testing.relayed(str(server.getsockname()[1]), delay="20 ms", late="30 s") as path:
        assert ask(path.address) == b"are you there?"
        assert path.address == ("127.0.0.1", path.port)
    assert path.void is None
    assert "far at `link`: " in path.said


def test_a_run_that_was_late_is_an_error_or_a_note_at_what_has_failed(server: socket.socket) -> None:
    port = str(server.getsockname()[1])
    path = testing.relayed(port, delay="20 ms", late="1 ns")
    with pytest.raises(testing.VoidRunError, match="says nothing of the program: "), path:
        ask(path.address)
    path = testing.relayed(port, delay="20 ms", late="1 ns")

    def fails() -> None:
        ask(path.address)
        # By what is no `Exception`.
        pytest.fail("as it is meant to")

    with pytest.raises(pytest.fail.Exception, match="as it is meant to") as failed, path:
        fails()
    assert failed.value.__notes__[0].startswith("slantpath: void run, perhaps no fault of the program: ")


def test_an_emulation_that_does_not_start_says_why() -> None:
    path = testing.relayed("0:nowhere:80")
    with pytest.raises(RuntimeError, match=r"did not start:\n.*nowhere"), path:
        pass


def test_the_notebook_s_cells_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["language"]) == (4, "python")
    names: dict[str, object] = {"__name__": "notebook"}
    for number, cell in enumerate(notebook["cells"]):
        assert cell["cell_type"] in {"code", "markdown"}
        assert isinstance(cell["metadata"], dict)
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}:{number}", "exec"), names)  # noqa: S102
    said = capsys.readouterr().out
    assert said.startswith("600 answers, 0.5")
    assert " 10 %: median 0.50 s" in said
