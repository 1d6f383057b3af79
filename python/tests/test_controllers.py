"""Congestion controllers that are classes of Python."""

from __future__ import annotations

import asyncio
import importlib.util
import pickle
import sys
import threading
from typing import TYPE_CHECKING, ClassVar

import pytest

import slantpath
from slantpath import Controller, RunError, Scenario, ScenarioError, testing
from slantpath.controllers import code_of

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from slantpath import Ack, Terms, live

LOSSY = """
[scenario]
name = "lossy"
duration = "20 s"

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.path]
ends = ["left", "right"]
rate = "2 Mbit/s"
delay = "50 ms"
queue = "15 kB"
loss = "1 %"

[tcp.default]
congestion_control = "new-reno"

[flows.bulk]
transport = "tcp"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }

[probes]
paths = "20 ms"
"""
CONTROL = "tcp.default.congestion_control"
linux = pytest.mark.skipif(sys.platform != "linux", reason="slantpath.live drives the sockets of Linux")


class Reno(Controller):
    """NewReno of RFC 5681 and 6582, as Slantpath has it."""

    def __init__(self, terms: Terms, **parameters: bool | float | str) -> None:
        super().__init__(terms, **parameters)
        self.counted: float = 0

    def on_ack(self, ack: Ack) -> None:
        if ack.is_recovering or ack.acked_bytes == 0:
            return
        if self.ssthresh is None or self.cwnd < self.ssthresh:
            self.cwnd += min(ack.acked_bytes, self.segment_bytes)
            return
        self.counted += ack.acked_bytes
        if self.counted >= self.cwnd:
            self.counted = min(self.counted - self.cwnd, self.cwnd)
            self.cwnd = min(self.cwnd + self.segment_bytes, self.max_cwnd_bytes)

    def on_loss(self, in_flight_bytes: int) -> None:
        self.ssthresh = max(in_flight_bytes // 2, 2 * self.segment_bytes)
        self.cwnd = self.ssthresh
        self.counted = 0

    def on_timeout(self, in_flight_bytes: int, is_new: bool) -> None:  # noqa: FBT001 - it comes by position
        if is_new:
            self.on_loss(in_flight_bytes)
        self.cwnd = self.segment_bytes
        self.counted = 0


class Failing(Reno):
    """One that goes wrong on its hundredth acknowledgement."""

    parameters: ClassVar[dict[str, bool | float | int | str]] = {"how": "raise"}
    how: str

    def __init__(self, terms: Terms, **parameters: bool | float | str) -> None:
        super().__init__(terms, **parameters)
        self.acks = 0

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self.acks += 1
        if self.acks < 100:
            return
        match self.how:
            case "nan":
                self.cwnd = float("nan")
            case "negative":
                self.cwnd = -1
            case "nothing":
                self.cwnd = 0
            case "text":
                self.cwnd = "much"  # type: ignore[assignment]
            case "interrupt":
                raise KeyboardInterrupt
            case _:
                message = "it does not like this"
                raise LookupError(message)


def lossy(**controllers: type[Controller]) -> Scenario:
    return Scenario.parse(LOSSY, controllers=controllers)


def test_new_reno_in_python_gives_the_series_of_the_built_in_one() -> None:
    scenario = lossy(reno=Reno)
    built_in, own = (slantpath.run(scenario.with_values({CONTROL: name})) for name in ("new-reno", "reno"))
    assert own.tables.keys() == built_in.tables.keys()
    for name, table in built_in.tables.items():
        for column in table.column_names:
            assert own[name][column] == table[column], (name, column)
    assert own.digest == built_in.digest
    # The loss leaves traces: there is something to be equal.
    assert len(set(built_in["paths"]["cwnd_bytes"])) > 20


@pytest.mark.parametrize(
    ("how", "said", "cause"),
    [
        ("raise", "it does not like this", LookupError),
        ("nan", "`on_ack` leaves `cwnd` = nan: that is no number", ValueError),
        ("negative", "`on_ack` leaves `cwnd` = -1: it is negative", ValueError),
        ("nothing", "`cwnd` of 0 bytes", ValueError),
        ("text", "`cwnd` = much: write a number", ValueError),
    ],
)
def test_what_goes_wrong_in_a_controller_ends_the_run(how: str, said: str, cause: type[Exception]) -> None:
    scenario = lossy(failing=Failing).with_values({CONTROL: {"kind": "failing", "how": how}})
    with pytest.raises(
        RunError, match=r"controller `failing` failed in `on_ack` at [0-9.]+ s of the run"
    ) as error:
        slantpath.run(scenario)
    assert said in str(error.value)
    assert isinstance(error.value.__cause__, cause)
    # The next run knows nothing of it.
    slantpath.run(scenario.with_values({CONTROL: "new-reno"}))


class Calls(Reno):
    """One that goes wrong in the call that a parameter names, by raising or by its window."""

    parameters: ClassVar[dict[str, bool | float | int | str]] = {"where": "on_ack", "how": "raise"}
    where: str
    how: str

    def __init__(self, terms: Terms, **parameters: bool | float | str) -> None:
        super().__init__(terms, **parameters)
        self.fail("__init__")

    def fail(self, method: str) -> None:
        if method != self.where:
            return
        if self.how == "raise":
            message = f"{method} does not like this"
            raise LookupError(message)
        self.cwnd = {"nan": float("nan"), "negative": -1.0}[self.how]

    def on_ack(self, ack: Ack) -> None:
        super().on_ack(ack)
        self.fail("on_ack")

    def on_idle(self, timeouts: int) -> None:
        super().on_idle(timeouts)
        self.fail("on_idle")

    def on_loss(self, in_flight_bytes: int) -> None:
        super().on_loss(in_flight_bytes)
        self.fail("on_loss")

    def on_mark(self, in_flight_bytes: int) -> None:
        # Not as a loss, which is a call of its own here.
        self.cwnd = max(in_flight_bytes // 2, 2 * self.segment_bytes)
        self.fail("on_mark")

    def on_recovered(self, now_s: float) -> None:
        super().on_recovered(now_s)
        self.fail("on_recovered")

    def on_sent(self, now_s: float, sent_bytes: int, in_flight_before_bytes: int) -> None:
        super().on_sent(now_s, sent_bytes, in_flight_before_bytes)
        self.fail("on_sent")

    def on_spurious(self, now_s: float) -> None:
        super().on_spurious(now_s)
        self.fail("on_spurious")

    def on_timeout(self, in_flight_bytes: int, is_new: bool) -> None:  # noqa: FBT001 - it comes by position
        # Without a loss, which is a call of its own here.
        self.ssthresh = max(in_flight_bytes // 2, 2 * self.segment_bytes) if is_new else self.ssthresh
        self.cwnd = self.segment_bytes
        self.fail("on_timeout")


class Ruling(Calls):
    """One that is told that a loss was none; of others the transport takes back the copy from before."""

    rules_recovery = True


ALL_CALLS = """
[scenario]
name = "all-calls"
duration = "60 s"

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.path]
ends = ["left", "right"]
rate = "1 Mbit/s"
delay = "50 ms"
loss = "0.5 %"
discipline = { kind = "codel", ecn = true }

[tcp.default]
congestion_control = "calls"
ecn = true
loss_detection = "rack"
duplicate_reports = true
sack_recovery = "prr"

[flows.data]
transport = "tcp"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }

[flows.seldom]
transport = "tcp"
from = "left"
to = "right"
application = { kind = "constant-rate", message_size = "40 kB", interval = "15 s" }

[[script]]
at = "4 s"
link = "path"
action = "set"
delay = "3 s"

[[script]]
at = "12 s"
link = "path"
action = "set"
delay = "50 ms"

[[script]]
at = "30 s"
link = "path"
action = "down"

[[script]]
at = "36 s"
link = "path"
action = "up"
"""
CALLS = (
    *("__init__", "on_ack", "on_idle", "on_loss", "on_mark"),
    *("on_recovered", "on_sent", "on_spurious", "on_timeout"),
)


@pytest.mark.parametrize("how", ["raise", "nan", "negative"])
@pytest.mark.parametrize("where", CALLS)
def test_each_call_that_goes_wrong_ends_the_run_with_its_instant(where: str, how: str) -> None:
    controller = Ruling if where == "on_spurious" else Calls
    scenario = Scenario.parse(ALL_CALLS, controllers={"calls": controller}).with_values(
        {CONTROL: {"kind": "calls", "where": where, "how": how}}
    )
    with pytest.raises(RunError, match=rf"controller `calls` failed in `{where}` at ([0-9.]+) s") as error:
        slantpath.run(scenario)
    cause = error.value.__cause__
    assert isinstance(cause, LookupError if how == "raise" else ValueError)
    if how == "raise":
        assert cause.__traceback__ is not None
        assert cause.__traceback__.tb_frame.f_code.co_name in (where, "fail")


def test_a_controller_of_a_network_under_test_ends_it_whichever_thread_calls_it() -> None:
    async def serve() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.read(1000))

        server = await asyncio.start_server(answer, port=8000)
        await server.serve_forever()

    async def scene(net: testing.Network) -> None:
        net.host("server").run(serve())
        _, writer = await net.host("client").run(asyncio.open_connection("server", 8000))
        writer.write(b"x" * 1000)
        await asyncio.sleep(60)

    for where in ("on_sent", "on_ack"):
        scenario = Scenario.parse(ATTACHED, controllers={"calls": Calls}).with_values(
            {CONTROL: {"kind": "calls", "where": where, "how": "raise"}}
        )
        with (
            pytest.raises(RunError, match=f"controller `calls` failed in `{where}` at "),
            testing.network(scenario) as net,
        ):
            net.run(scene(net))


ATTACHED = """
[scenario]
name = "attached"
duration = "1 h"

[nodes]
client = { kind = "attached" }
server = { kind = "attached" }

[links.path]
ends = ["client", "server"]
rate = "1 Mbit/s"
delay = "50 ms"

[tcp.default]
congestion_control = "calls"
"""


class Listing(Controller):
    """One of a live endpoint: calls are listed, and one may fail."""

    parameters: ClassVar = {"fails_in": "nothing"}
    told: ClassVar[list[str]] = []

    def tell(self, method: str) -> None:
        self.told.append(method)
        if self.fails_in == method:  # type: ignore[attr-defined]
            message = f"{method} is not ready"
            raise LookupError(message)

    def on_ack(self, ack: Ack) -> None:
        self.tell("on_ack")
        self.cwnd += ack.acked_bytes

    # pytest changes the code of an `assert`, and so the hash: there is none here.
    def on_sent(self, now_s: float, sent_bytes: int, in_flight_before_bytes: int) -> None:  # noqa: ARG002
        self.tell("on_sent")


async def associated(
    client: live.Endpoint, server: live.Endpoint
) -> tuple[live.Association, live.Association]:
    return await asyncio.gather(client.connect(["127.0.0.1"], server.port), server.accept())


@linux
def test_a_live_endpoint_has_its_controllers_and_says_their_code() -> None:
    from slantpath import live  # noqa: PLC0415 - it is of Linux

    async def scene() -> None:
        own = {"listing": Listing}
        async with await live.Endpoint.bind("127.0.0.1", udp=live.Udp(0)) as server:
            there = live.Udp(0, server.addresses[0][1])
            control = {"kind": "listing", "fails_in": "nowhere"}
            async with await live.Endpoint.bind(
                "127.0.0.1", udp=there, controllers=own, congestion_control=control
            ) as client:
                assert client.settings["congestion_control"] == {**control, "code": code_of(Listing)}
                # Another port of the same sockets has what it was given itself.
                with pytest.raises(ScenarioError, match="listing"):
                    await client.bind_beside(congestion_control="listing")
                beside = await client.bind_beside(controllers=own, congestion_control="listing")
                for endpoint in (client, beside):
                    Listing.told.clear()
                    call, accepted = await associated(endpoint, server)
                    await call.send(0, b"x" * 5000)
                    assert await accepted.receive() is not None
                    await accepted.shutdown()
                    assert {"on_ack", "on_sent"} <= set(Listing.told)

    asyncio.run(asyncio.wait_for(scene(), 120))


@linux
@pytest.mark.parametrize("where", ["on_ack", "on_sent"])
def test_what_a_controller_raises_ends_its_live_endpoint_and_tells_the_peer(where: str) -> None:
    from slantpath import live  # noqa: PLC0415 - it is of Linux

    async def scene() -> None:
        async with await live.Endpoint.bind("127.0.0.1", udp=live.Udp(0)) as server:
            client = await live.Endpoint.bind(
                "127.0.0.1",
                udp=live.Udp(0, server.addresses[0][1]),
                controllers={"listing": Listing},
                congestion_control={"kind": "listing", "fails_in": where},
            )
            call, accepted = await associated(client, server)
            reading = asyncio.create_task(call.receive())
            accepting = asyncio.create_task(client.accept())
            await call.send(0, b"hello")
            said = rf"`listing` failed in `{where}` at [0-9.]+ s of the endpoint: {where} is not ready"
            for waiting in (reading, accepting):
                with pytest.raises(live.LiveError, match=said) as error:
                    await waiting
                cause = error.value.__cause__
                assert isinstance(cause, LookupError)
                assert cause.__traceback__ is not None
                assert cause.__traceback__.tb_frame.f_code.co_name == where
            with pytest.raises(live.LiveError, match=said):
                await call.send(0, b"hello")
            with pytest.raises(live.AssociationLost, match="aborted"):
                await accepted.ended()
            await client.close()

    asyncio.run(asyncio.wait_for(scene(), 120))


@linux
@pytest.mark.parametrize("where", ["on_ack", "on_sent"])
def test_a_controller_of_an_association_under_test_ends_the_network(where: str) -> None:
    from slantpath import live  # noqa: PLC0415 - it is of Linux

    async def take() -> None:
        endpoint = await live.Endpoint.bind(port=5000)
        async for _ in await endpoint.accept():
            pass

    async def scene(net: testing.Network) -> None:
        net.host("server").run(take())

        async def give() -> None:
            endpoint = await live.Endpoint.bind(
                controllers={"listing": Listing},
                congestion_control={"kind": "listing", "fails_in": where},
            )
            call = await endpoint.connect(net.host("server").address, 5000)
            await call.send(0, b"hello")
            await asyncio.sleep(60)

        await net.host("client").run(give())

    with (
        pytest.raises(RunError, match=rf"controller `listing` failed in `{where}` at [0-9.]+ s of the run"),
        testing.network(delay="200 ms") as net,
    ):
        net.run(scene(net))


@linux
def test_another_thread_asks_an_endpoint_while_its_controller_waits_for_the_interpreter() -> None:
    from slantpath import live  # noqa: PLC0415 - it is of Linux

    is_over = threading.Event()

    def ask(endpoint: live.Endpoint) -> int:
        count = 0
        while not is_over.is_set():
            endpoint.counters()
            count += 1
        return count

    async def scene() -> int:
        async with (
            await live.Endpoint.bind("127.0.0.1", udp=live.Udp(0)) as server,
            await live.Endpoint.bind(
                "127.0.0.1",
                udp=live.Udp(0, server.addresses[0][1]),
                controllers={"listing": Listing},
                congestion_control="listing",
            ) as client,
        ):
            asking = asyncio.create_task(asyncio.to_thread(ask, client))
            call, accepted = await associated(client, server)
            for _ in range(200):
                await call.send(0, b"x" * 5000)
                assert await accepted.receive() is not None
            is_over.set()
            await accepted.shutdown()
            return await asking

    assert asyncio.run(asyncio.wait_for(scene(), 120)) > 0


def test_an_exception_has_its_traceback() -> None:
    with pytest.raises(RunError) as error:
        slantpath.run(lossy(failing=Failing).with_values({CONTROL: "failing"}))
    assert error.value.__cause__ is not None
    traceback = error.value.__cause__.__traceback__
    assert traceback is not None
    assert traceback.tb_frame.f_code.co_name == "on_ack"


def test_ctrl_c_in_a_controller_is_a_keyboard_interrupt() -> None:
    scenario = lossy(failing=Failing).with_values({CONTROL: {"kind": "failing", "how": "interrupt"}})
    with pytest.raises(KeyboardInterrupt):
        slantpath.run(scenario)


def test_a_name_that_is_not_given_is_refused_with_what_is_like_it() -> None:
    with pytest.raises(ScenarioError, match=r"`rena` is none of the choices(?s:.*)did you mean `reno`"):
        lossy(reno=Reno).with_values({CONTROL: "rena"})
    with pytest.raises(TypeError, match=r"derives from slantpath\.Controller"):
        lossy(mine=int)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is a controller `cubic` already"):
        lossy(cubic=Reno)
    with pytest.raises(ValueError, match="there is a controller `new-reno` already"):
        lossy(**{"new-reno": Reno})


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"code": 1}, "`code`, as every kind has"),
        ({"first gain": 1}, "`first gain` is no name"),
        ({"ceiling": float("inf")}, "`ceiling` is inf; write a finite number"),
    ],
)
def test_a_parameter_that_no_merged_file_could_have_is_refused(
    parameters: dict[str, float], said: str
) -> None:
    class Odd(Reno):
        pass

    Odd.parameters = parameters
    with pytest.raises(ValueError, match=f"`odd`: .*{said}"):
        lossy(odd=Odd)


def test_a_scenario_takes_its_controllers_to_other_processes() -> None:
    scenario = lossy(reno=Reno).with_values({CONTROL: "reno"})
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert slantpath.run(again).digest == slantpath.run(scenario).digest


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


MINE = """
from slantpath import Controller

def step(controller):
    return {step} * controller.segment_bytes

class Mine(Controller):
    "One."

    def on_ack(self, ack):
        self.cwnd += step(self)
"""


def test_what_is_kept_of_a_controller_is_found_for_the_same_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "own_controller_of_a_test.py"
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def swept() -> list[tuple[int, int]]:
        told: list[tuple[int, int]] = []
        module = imported(path)
        scenario = lossy(mine=module.Mine).with_values({CONTROL: "mine", "scenario.duration": "2 s"})
        slantpath.sweep(
            scenario,
            {"links.path.loss": ["0 %"]},
            out=tmp_path / "out",
            progress=lambda done, all_runs: told.append((done, all_runs)),
        )
        code = code_of(module.Mine)
        assert code is not None
        assert code in scenario.merged()
        return told

    path.write_text(MINE.replace("{step}", "1"))
    first = swept()
    assert (tmp_path / "out" / "flows.parquet").exists()
    again = swept()
    path.write_text(MINE.replace("{step}", "2 "))
    edited = swept()
    assert (first, again, edited) == ([(1, 1)], [(1, 1)], [(1, 1)])
    kept = len(list((tmp_path / "out" / "runs").iterdir()))
    assert kept == 2, "one of each code"
    # The file is another by now than what runs.
    module = imported(path)
    path.write_text(MINE.replace("{step}", "3").replace("self.cwnd += step", "self.cwnd = 9 + step"))
    assert code_of(module.Mine) is None


def test_a_class_without_source_is_told_of() -> None:
    module: dict[str, type[Controller]] = {}
    exec("import slantpath\nclass Typed(slantpath.Controller): pass", module)  # noqa: S102 - as an interpreter does
    with pytest.warns(slantpath.ScenarioWarning, match="source of `typed` cannot be had"):
        one = lossy(typed=module["Typed"]).with_values({CONTROL: "typed"})
    with pytest.warns(slantpath.ScenarioWarning, match="source of `typed` cannot be had"):
        other = lossy(typed=module["Typed"]).with_values({CONTROL: "typed"})
    assert one.hash != other.hash


def test_controllers_are_compared_with_all_of_slantpath_in_a_figure(tmp_path: Path) -> None:
    tables = slantpath.compare_controllers({"reno": Reno}, tmp_path, runs=1, duration="2 s")
    for case in ("geo", "leo"):
        names = tables[case]["flows"][CONTROL_IN_COMPARISON]
        assert set(names) == {"reno", "new-reno", "cubic", "hybla", "westwood", "bbr", "bbr3", "backlog"}
        assert (tmp_path / case / "flows-throughput_bit_per_s.png").exists()


CONTROL_IN_COMPARISON = "tcp.tested.congestion_control"
