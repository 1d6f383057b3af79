"""Who waits for what: the tasks of a loop that cannot go on, in words."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

MOST_TASKS = 30
"""How many tasks are told."""

LIBRARY = (str(Path(asyncio.__file__).parent), str(Path(__file__).parents[1]))
"""Where code is that waits on behalf of programs."""


def who_waits(loop: asyncio.AbstractEventLoop) -> str:
    """Tell each task of a loop that has not ended, with the line at which it waits, and for what."""
    tasks = sorted((task for task in asyncio.all_tasks(loop) if not task.done()), key=_order)
    if not tasks:
        return ""
    lines = [f"\n  {_described(task)}" for task in tasks[:MOST_TASKS]]
    if len(tasks) > MOST_TASKS:
        lines.append(f"\n  and {len(tasks) - MOST_TASKS} more")
    return "; who waits:" + "".join(lines)


def _order(task: asyncio.Task[Any]) -> tuple[int, str]:
    number = re.search(r"(\d+)$", task.get_name())
    return (int(number[1]) if number else 0, task.get_name())


def _described(task: asyncio.Task[Any]) -> str:
    frames = _frames(task.get_coro())
    own = [frame for frame in frames if not frame.f_code.co_filename.startswith(LIBRARY)]
    name = task.get_name()
    if not frames:
        return f"{name}: {task.get_coro()!r}"
    frame = own[-1] if own else frames[0]
    file = Path(frame.f_code.co_filename).name
    place = f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
    return f"{name}: {place}, {_reason(frames, task)}"


def _frames(coroutine: Any) -> list[FrameType]:  # noqa: ANN401 - a coroutine, a generator, or what stands for one
    frames: list[FrameType] = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        frame = frame or getattr(coroutine, "ag_frame", None)
        if frame is None:
            break
        frames.append(frame)
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return frames


WORDS = {
    ("Queue", "get"): "for an item of a queue",
    ("Queue", "put"): "for room in a queue",
    ("Queue", "join"): "for a queue to be done",
    ("Event", "wait"): "for an event",
    ("Condition", "wait"): "for a condition",
    ("Lock", "acquire"): "for a lock",
    ("Semaphore", "acquire"): "for a semaphore",
    ("TaskGroup", "__aexit__"): "for the tasks of its group",
    ("StreamReaderProtocol", "_drain_helper"): "for room to write",
}


def _reason(frames: list[FrameType], task: asyncio.Task[Any]) -> str:
    deepest = frames[-1]
    code, holder = deepest.f_code, deepest.f_locals.get("self")
    kinds = [kind.__name__ for kind in type(holder).__mro__]
    named = (WORDS.get((kind, code.co_name)) for kind in kinds)
    match code.co_name:
        case "_wait_for_data":
            transport = getattr(holder, "_transport", None)
            peer = transport.get_extra_info("peername") if transport is not None else None
            reason = f"for bytes of {peer[0]}:{peer[1]}" if peer else "for bytes"
        case "wait_for" if "Bells" in kinds:
            reason = _of_associations(deepest, frames)
        case "serve_forever":
            reason = f"serves until it is cancelled ({holder!r})"
        case "_call" if "remote" in deepest.f_locals:
            reason = "for a connection to {}:{}".format(*deepest.f_locals["remote"])
        case _:
            reason = next((word for word in named if word is not None), "") or _of_future(deepest, task)
    return reason


def _of_future(deepest: FrameType, task: asyncio.Task[Any]) -> str:
    awaited = getattr(task, "_fut_waiter", None)
    if isinstance(awaited, asyncio.Task):
        return f"for task {awaited.get_name()}"
    if children := getattr(awaited, "_children", None):
        open_ones = [one.get_name() for one in children if isinstance(one, asyncio.Task) and not one.done()]
        return f"for tasks {', '.join(open_ones)}"
    code = deepest.f_code
    if code.co_filename.startswith(LIBRARY):
        return f"in {getattr(code, 'co_qualname', code.co_name)}"
    return "for a future that nobody has set"


def _of_associations(deepest: FrameType, frames: list[FrameType]) -> str:
    concern = deepest.f_locals.get("concern")
    user = frames[-2].f_locals.get("self") if len(frames) > 1 else None
    words = {
        "caller": "to be called",
        "ended": "for associations to end",
        "notified": "for a notification",
        "readable": "for a message",
        "standing": "for the association to be up or to end",
        "writable": "for room to send",
    }
    return f"{words.get(str(concern), str(concern))} ({user!r})"
