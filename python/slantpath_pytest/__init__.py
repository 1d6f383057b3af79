"""The plugin of pytest: tests over a bad network, in virtual time. It loads nothing until a test asks for it.

A test that has the fixture ``slantpath_network`` gets a network of its own, as its marker says::

    @pytest.mark.slantpath_network(delay="270 ms", loss="1 %")
    async def test_an_answer_comes_over_a_satellite(slantpath_network):
        slantpath_network.host("server").run(serve())
        await slantpath_network.host("client").run(ask("server", 8000))
        slantpath_network.assert_no_later_than("2 s")

One that is a coroutine runs on that network's loop. ``--slantpath-seeds 20`` makes each such test with 20
seeds.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from slantpath.testing import Network

FIXTURE = "slantpath_network"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take how many seeds there are to be."""
    group = parser.getgroup("slantpath")
    words = "make each test with the fixture slantpath_network with so many seeds, from 1 on"
    group.addoption("--slantpath-seeds", type=int, default=None, metavar="N", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker is."""
    words = "the network of the test, by the arguments of slantpath.testing.network"
    config.addinivalue_line("markers", f"{FIXTURE}(scenario=None, **link): {words}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make tests of as many seeds as are asked for."""
    seeds = metafunc.config.getoption("--slantpath-seeds")
    if seeds and FIXTURE in metafunc.fixturenames:
        metafunc.parametrize(FIXTURE, range(1, seeds + 1), indirect=True, ids=lambda seed: f"seed-{seed}")


@pytest.fixture
def slantpath_network(request: pytest.FixtureRequest) -> Generator[Network]:
    """Give a network in virtual time, as the marker ``slantpath_network`` of the test says."""
    from slantpath import testing  # noqa: PLC0415 - other suites do not pay for it

    marker = request.node.get_closest_marker(FIXTURE)
    arguments: tuple[Any, ...] = marker.args if marker else ()
    settings: dict[str, Any] = dict(marker.kwargs) if marker else {}
    if getattr(request, "param", None) is not None:
        settings["seed"] = request.param
    network = testing.network(*arguments, **settings)
    try:
        yield network
    finally:
        network.close()


def _network_of(item: pytest.Function) -> Network | None:
    network: Network | None = item.funcargs.get(FIXTURE)  # type: ignore[assignment]
    return network


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Keep the files of a network whose test fails, and say where they are."""
    network = _network_of(pyfuncitem)
    try:
        return (yield)
    except BaseException as failure:
        if network is not None:
            network.close(failure)
        raise


@pytest.hookimpl(tryfirst=True, specname="pytest_pyfunc_call")
def pytest_pyfunc_call_of_coroutine(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine on the loop of its network."""
    network = _network_of(pyfuncitem)
    if network is None or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as pytest itself calls it
    network.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
