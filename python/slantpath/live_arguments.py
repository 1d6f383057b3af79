"""Arguments of live calls: what is given in another form, and what would be right where a type is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def addresses_of(addresses: str | Sequence[str]) -> list[str]:
    """Give addresses as a list: one may stand alone."""
    return [addresses] if isinstance(addresses, str) else list(addresses)


def sendable(stream: object, payload: object, lifetime: object) -> bytes:
    """Give the payload of a message; say what would be right where a type is not."""
    if not isinstance(stream, int):
        message = f'the stream comes first, then the payload: send(0, b"…"); {stream!r} is no stream'
        raise TypeError(message)
    if isinstance(payload, str):
        message = 'a payload is bytes, not text: send(0, "text".encode())'
        raise TypeError(message)
    if isinstance(lifetime, str):
        message = f"a lifetime is a number of seconds, such as 0.2, not {lifetime!r}"
        raise TypeError(message)
    # Of bytes, or what has some: a number would be as many zero bytes.
    return bytes(memoryview(payload))  # type: ignore[arg-type]
