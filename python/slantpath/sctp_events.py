"""Events that an SCTP association tells as notifications of `slantpath.live`, with the fields of each.

Written by ``SLANTPATH_UPDATE=1 cargo test -p slantpath-live --test python``; a test holds it to the
declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence


class PathChanged(TypedDict, total=False):
    """Fields of ``active``, ``inactive``, ``potentially failed``.

    The layer above has been told that an address has become reachable, unreachable or potentially failed.
    """

    path: str
    """Address of the path."""

    state: str
    """State of the path from now on. One of ``active``, ``inactive``, ``potentially-failed``,
    ``unconfirmed``."""


class PrimaryChanged(TypedDict, total=False):
    """Fields of ``primary``.

    Another path has become the primary one without the user's command (RFC 7829, section 5).
    """

    path: str
    """Address of the path."""


class FailedOver(TypedDict, total=False):
    """Fields of ``failed over``.

    New DATA goes to another path, since the one that carried it has not answered (RFC 9260, section 6.4.1).
    """

    path: str
    """Address of the path that carries new DATA from now on."""

    former: str
    """Address of the path that has carried it."""

    message: int
    """Number of the first message that goes there; left out for what has none."""

    unanswered_ns: int
    """Time since the last DATA, HEARTBEAT or probe left that the former path has answered. What was
    retransmitted does not count: nobody knows which of its packets is answered. Left out if none was."""

    first_timeout_ns: int
    """Time since an answer of the former path was first due and did not come; left out if its own link has
    gone."""

    decided_ns: int
    """Time since another path was decided on; left out of what only a capture shows."""


class PathMtuChanged(TypedDict, total=False):
    """Fields of ``path MTU changed``.

    The path MTU has changed: by a report of ICMP, by probes or by losses (RFC 8899).
    """

    path: str
    """Address of the path."""

    mtu_bytes: int
    """Longest packet from now on, in bytes, IP header included."""

    before_bytes: int
    """Longest packet before, in bytes."""


class Abandoned(TypedDict, total=False):
    """Fields of ``abandoned``.

    A message has been given up as its reliability asks (RFC 3758, RFC 7496). What was sent of it may have
    arrived.
    """

    message: int
    """Number of the message; left out for what has none."""

    stream: int
    """Stream of the message."""

    policy: str
    """By which rule. One of ``lifetime``, ``retransmissions``, ``priority``."""

    sent: bool
    """True if a part of it had been sent."""


class PeerReported(TypedDict, total=False):
    """Fields of ``error reported``.

    The peer has reported something that is not fatal.
    """

    causes: str
    """Causes that the peer has reported."""


class Restarted(TypedDict, total=False):
    """Fields of ``restarted``.

    The peer has begun anew.
    """


class StreamsAnswered(TypedDict, total=False):
    """Fields of ``request accepted``, ``request refused``.

    The peer has answered a request of ours about streams (RFC 6525); also told if it is over without an
    answer.
    """

    request: str
    """Request that was answered. One of ``add-inbound``, ``add-outbound``, ``reset-association``,
    ``reset-inbound``, ``reset-outbound``."""

    streams: Sequence[int]
    """The streams that it names, 256 at most; left out: all, or none."""

    count: int
    """Number of streams that it adds, if it does."""

    answer: str
    """Answer of the peer. One of ``already-in-progress``, ``bad-sequence-number``, ``denied``,
    ``in-progress``, ``nothing-to-do``, ``performed``, ``unknown``, ``wrong-stream``."""


class StreamsChanged(TypedDict, total=False):
    """Fields of ``streams added``, ``association reset``, ``streams reset``.

    Streams have been reset or added, by whosever request (RFC 6525).
    """

    change: str
    """Change of the streams. One of ``added``, ``association-reset``, ``inbound-reset``,
    ``outbound-reset``."""

    streams: Sequence[int]
    """Streams that have changed, 256 at most; left out: all."""

    outbound_streams: int
    """Number of streams on which we can send, if some were added."""

    inbound_streams: int
    """Number of streams on which the peer may send, if some were added."""


class AddressAnswered(TypedDict, total=False):
    """Fields of ``change accepted``, ``change refused``.

    The peer has answered a request of ours about addresses (RFC 5061).
    """

    request: str
    """Request that was answered. One of ``add``, ``delete``, ``set-primary``, ``unknown``."""

    address: str
    """The address; left out for what is not known here."""

    accepted: bool
    """True if the peer has done it."""


class PeerAddress(TypedDict, total=False):
    """Fields of ``address added``, ``address deleted``, ``address preferred``.

    The peer has said something about its addresses (RFC 5061).
    """

    change: str
    """Change of the address. One of ``added``, ``primary``, ``removed``."""

    path: str
    """The address, by which its path is called."""


class AdaptationLayer(TypedDict, total=False):
    """Fields of ``adaptation layer``.

    The peer has said what its layer above is (RFC 5061, section 4.2.6).
    """

    code: int
    """Adaptation Code Point of the layer above."""


class NotAuthenticated(TypedDict, total=False):
    """Fields of ``not authenticated``, ``authentication failed``.

    Chunks of the peer's are not authenticated as they should be (RFC 4895): what has come is dropped.
    """

    key: int
    """The number of the peer's key; left out where the peer has not offered to authenticate any."""

    known: bool
    """True if there is a key of that number here, which is another one; left out together with it."""


EVENTS: dict[str, type] = {
    "active": PathChanged,
    "inactive": PathChanged,
    "potentially failed": PathChanged,
    "primary": PrimaryChanged,
    "failed over": FailedOver,
    "path MTU changed": PathMtuChanged,
    "abandoned": Abandoned,
    "error reported": PeerReported,
    "restarted": Restarted,
    "request accepted": StreamsAnswered,
    "request refused": StreamsAnswered,
    "streams added": StreamsChanged,
    "association reset": StreamsChanged,
    "streams reset": StreamsChanged,
    "change accepted": AddressAnswered,
    "change refused": AddressAnswered,
    "address added": PeerAddress,
    "address deleted": PeerAddress,
    "address preferred": PeerAddress,
    "adaptation layer": AdaptationLayer,
    "not authenticated": NotAuthenticated,
    "authentication failed": NotAuthenticated,
}
"""The class of the fields of each event, by the name that `live.Notification.what` has."""
