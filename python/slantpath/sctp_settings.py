"""The settings of SCTP, by the names that ``[sctp.NAME]`` of a scenario has.

Written by ``SLANTPATH_UPDATE=1 cargo test -p slantpath-profiles``; a test holds it to the declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SctpSettings(TypedDict, total=False):
    """Times are numbers of seconds, or text with a unit; sizes numbers of bytes, or text with a unit."""

    active_key: int
    """Number of the key by which what is sent is authenticated at first, with the extension
    ``authentication``. 0 if absent."""
    association_max_retrans: int
    """Association.Max.Retrans: consecutive retransmissions over all paths after which the peer is lost. At
    most 10000: at a time-out of a minute that is a week. Default: 10."""
    authenticated_chunks: Sequence[str]
    """With the extension ``authentication``: the chunks that each end accepts only if they are
    authenticated. None unless written, but for those that ``dynamic-addresses`` wants. Any of ``abort``,
    ``asconf``, ``asconf-ack``, ``cookie-ack``, ``cookie-echo``, ``data``, ``error``, ``forward-tsn``,
    ``heartbeat``, ``heartbeat-ack``, ``i-data``, ``i-forward-tsn``, ``re-config``, ``sack``, ``shutdown``,
    ``shutdown-ack``."""
    base_path_mtu: float | str
    """With ``path_mtu_discovery = "probing"``, BASE_PLPMTU: the size that is expected to pass everywhere,
    IP header included. 1,200 bytes if absent; on IPv6 1,280 at least. At most 65535 B: a packet has 16
    bits for its length."""
    bundling_delay: float | str
    """Longest time for which new DATA that fills no packet waits for more to be bundled with. It does not
    if absent. At most 86400 s: no protocol waits longer than a day."""
    byte_counting_limit: int
    """Packets by which one SACK may open the window in slow start, ``L``. RFC 3465 allows 2. At most
    1000000: more packets are in no window. Default: 1."""
    congestion_control: str | Mapping[str, object]
    """Algorithm that governs the congestion window of a path. One of ``backlog``, ``bbr``, ``bbr3``,
    ``cubic``, ``hybla``, ``westwood``, ``rfc9260``. Default: "rfc9260"."""
    cwnd_growth: str
    """Acknowledgements that may open the window, with ``congestion_control = "rfc9260"``. One of
    ``any-new-acknowledgement``, ``cumulative-advance``. Default: "any-new-acknowledgement"."""
    ecn: bool
    """Offers and accepts ECN: the network may then mark packets in place of dropping them, if a
    ``discipline`` has ``ecn = true``, and a mark closes the window as a loss does (RFC 4960, appendix A).
    Default: false."""
    extensions: Sequence[str]
    """Extensions of RFC 9260 that are offered and accepted; each is used between two hosts that both list
    it. None unless written. Any of ``partial-reliability``, ``nr-sack``, ``interleaving``,
    ``stream-reconfiguration``, ``authentication``, ``dynamic-addresses``."""
    fast_convergence: bool
    """Lets a CUBIC path that is losing ground give way faster (RFC 9438, section 4.7). Default: true."""
    fast_retransmit_path: str
    """Path that a fast retransmission takes. One of ``alternate``, ``lowest-delay``, ``same-path``.
    Default: "same-path"."""
    fast_retransmit_threshold: int
    """Miss indications in a row after which a chunk is fast retransmitted (section 7.2.4). With
    ``loss_detection = "rack"``: chunks out of order that mean a loss at once, as long as no reordering was
    seen. At most 1000000: more packets are in no window. Default: 3."""
    fast_retransmit_window: str
    """Effect of a fast retransmission on the window of the path that the chunk was lost on, with
    ``congestion_control = "rfc9260"``. One of ``halve``, ``keep``. Default: "halve"."""
    first_sack: str
    """Time at which the first DATA of an association is acknowledged. One of ``as-any-other``,
    ``at-once``. Default: "at-once"."""
    fixed_cwnd: float | str | None
    """A cwnd that neither grows nor shrinks, for links whose capacity is reserved. At most 16384 MiB: it
    is held in memory. Or ``off``. Default: "off"."""
    hb_interval: float | str | None
    """HB.interval: how long a path may be idle before it is probed, on top of its RTO. At most 86400 s: no
    protocol waits longer than a day. Or ``off``. Default: "30 s"."""
    hb_max_burst: int
    """HB.Max.Burst: how many paths may be probed at one time. At most 10000: an INIT holds no more of
    them. Default: 1."""
    inbound_streams: int
    """Inbound streams that the peer may have. Default: 2048."""
    initial_cwnd: float | str
    """Initial cwnd of a path: that of RFC 9260, section 7.2.1, or a size. At most 16384 MiB: it is held in
    memory. Or ``rfc9260``. Default: "rfc9260"."""
    initial_path_mtu: float | str
    """Path MTU that a path starts with, IP header included. At most 65535 B: a packet has 16 bits for its
    length. Default: "1500 B"."""
    initial_ssthresh: float | str | None
    """Initial ssthresh of a path: slow start ends here even without a loss; ``off``: arbitrarily high, as
    RFC 9260, section 7.2.1, recommends. BBR and ``backlog`` have none. At most 16384 MiB: it is held in
    memory. Or ``off``. Default: "off"."""
    known_capacity: float | str
    """Capacity that the path is known to have, in bits of DATA chunks a second, for ``congestion_control =
    "backlog"``. At most 1000000 Gbit/s: no fibre carries more. Or ``measured``. Default: "measured"."""
    loss_detection: str
    """Method by which losses are found. One of ``rfc9260``, ``rack``. Default: "rfc9260"."""
    max_burst: int | str | None
    """Max.Burst: packets that one event may release, unless the controller paces; ``off``: no limit, as in
    RFC 2960. At most 1000000: more packets are in no window. Or ``off``. Default: 4."""
    max_cwnd: float | str
    """Largest cwnd. 64,000 bytes with the preset ``mb9``, else without a limit, if absent. At most 16384
    MiB: it is held in memory."""
    max_init_retransmits: int
    """Max.Init.Retransmits: how often INIT, and then COOKIE ECHO, are repeated. At most 10000: at a
    time-out of a minute that is a week. Default: 8."""
    max_path_mtu: float | str
    """MAX_PLPMTU, with ``path_mtu_discovery = "probing"``: the largest size that is probed, as the first
    link of the path has it. 1,500 bytes if absent. At most 65535 B: a packet has 16 bits for its length."""
    max_peer_addresses: int
    """Addresses of a peer that are used at most. At most 10000: an INIT holds no more of them. Default:
    16."""
    max_probes: int
    """MAX_PROBES, with ``path_mtu_discovery = "probing"``: probes without an answer after which a size
    counts as too large, and losses of long packets in a row after which the path is probed anew. 3 if
    absent. At most 10000: at a time-out of a minute that is a week."""
    multipath: str
    """Use of several paths at once for new DATA. One at a time if absent. One of ``off``, ``concurrent``,
    ``pooled-v1``, ``pooled-v2``."""
    new_data_after_timeout: str
    """Condition for which new DATA to a path waits after T3-rtx has expired there, and so the time at
    which the timer is restarted. One of ``association-window``, ``path-window``,
    ``retransmissions-first``. Default: "path-window"."""
    path_max_retrans: int
    """Path.Max.Retrans: consecutive retransmissions after which a path is inactive. At most 10000: at a
    time-out of a minute that is a week. Default: 5."""
    path_mtu_discovery: str
    """Method by which the path MTU is found. By ICMP alone if absent. One of ``icmp``, ``probing``."""
    pmtu_raise_timer: float | str
    """PMTU_RAISE_TIMER, with ``path_mtu_discovery = "probing"``: the time for which a path MTU is kept
    before a larger one is looked for. 600 s if absent. At most 86400 s: no protocol waits longer than a
    day."""
    potentially_failed_max_retrans: int | str | None
    """PotentiallyFailed.Max.Retrans: consecutive retransmissions after which a path is passed over before
    it is inactive (RFC 7829, section 3). At most 10000: at a time-out of a minute that is a week. Or
    ``off``. Default: "off"."""
    preset: str
    """Source of the defaults of the other keys. One of ``mb9``, ``mb9-sat``, ``multi-link-modified``,
    ``multi-link-standard``, ``rfc2960``, ``rfc9260``. Default: "rfc9260"."""
    primary_switchover_max_retrans: int | str | None
    """Primary.Switchover.Max.Retrans: consecutive retransmissions after which another path becomes the
    primary one (RFC 7829, section 5). At most 10000: at a time-out of a minute that is a week. Or ``off``.
    Default: "off"."""
    receive_buffer: float | str
    """Receive buffer, advertised as a_rwnd. At most 4294967295 B: a_rwnd has 32 bits. Default: "256 KiB"."""
    required_extensions: Sequence[str]
    """Extensions of ``extensions`` without which there is no association: a host that does not offer one
    of them is aborted, and told which. None unless written. Any of ``partial-reliability``, ``nr-sack``,
    ``interleaving``, ``stream-reconfiguration``, ``authentication``, ``dynamic-addresses``."""
    retransmission_after_timeout: str
    """Number of packets of what timed out that go out at once. One of ``one-packet``, ``window``. Default:
    "window"."""
    rto_alpha_shift: int
    """RTO.Alpha is 1 / 2^this: the weight of a measurement in SRTT. At most 16: an average that heeds less
    never moves. Default: 3."""
    rto_back_off_percent: int
    """Factor by which an expiry lengthens the RTO, in percent: 200 doubles it (section 6.3.3), 100 leaves
    it. At most 10000: a hundredfold passes any maximum at once. Default: 200."""
    rto_beta_shift: int
    """RTO.Beta is 1 / 2^this: the weight of a deviation in RTTVAR. At most 16: an average that heeds less
    never moves. Default: 2."""
    rto_initial: float | str
    """RTO.Initial: the retransmission time-out of a path without a measurement. At most 86400 s: no
    protocol waits longer than a day. Default: "1 s"."""
    rto_max: float | str
    """RTO.Max: the greatest retransmission time-out. At most 86400 s: no protocol waits longer than a day.
    Default: "60 s"."""
    rto_min: float | str
    """RTO.Min: the least retransmission time-out. At most 86400 s: no protocol waits longer than a day.
    Default: "1 s"."""
    rtt_sampling: str
    """From which SACKs a round-trip time is taken. One of ``any-sack``, ``gap-free-sack-on-data-path``,
    ``sack-on-data-path``. Default: "any-sack"."""
    sack_delay: float | str
    """SACK.Delay: how long an acknowledgement may be held back, at most 500 ms. At most 500 ms: RFC 9260,
    section 6.2. Default: "200 ms"."""
    sack_frequency: int
    """After how many packets with DATA an acknowledgement is sent at once (section 6.2). At most 1000000:
    more packets are in no window. Default: 2."""
    sack_path: str
    """Path that a SACK takes. One of ``arrival-path``, ``gap-reports-on-lowest-delay``. Default:
    "arrival-path"."""
    send_buffer: float | str
    """Send buffer, messages in flight included; a message that does not fit waits in the application. At
    most 16384 MiB: it is held in memory. Default: "1 MiB"."""
    shared_keys: Sequence[str]
    """Secrets that both ends share, numbered from 0 on, with the extension ``authentication``. If absent,
    a key is used that whoever has seen the handshake knows as well (RFC 4895, section 6.1)."""
    shutdown_guard: float | str
    """T5-shutdown-guard: how long a shutdown may take. At most 86400 s: no protocol waits longer than a
    day. Or ``rfc9260``. Default: "rfc9260"."""
    slow_start: str
    """Condition on which the first slow start of a path ends. One of ``hystart++``, ``hystart``,
    ``hystart-long-path``, ``standard``. Default: "standard"."""
    split_buffers: bool
    """With ``multipath``, whether each path may fill no more than its part of the buffers. It may fill no
    more if absent."""
    stream_scheduling: str
    """Order in which streams are served. One of ``first-come-first-served``, ``round-robin``,
    ``round-robin-per-packet``, ``priority``, ``fair-capacity``, ``weighted-fair-queueing``. Default:
    "first-come-first-served"."""
    unauthenticated_addresses: bool
    """Uses dynamic addresses without authentication, as in a closed network where nobody forges packets;
    RFC 5061 wants both. No unless written."""
    valid_cookie_life: float | str
    """Valid.Cookie.Life: how long a state cookie is taken back. At most 86400 s: no protocol waits longer
    than a day. Default: "60 s"."""
    zero_checksum: str
    """Method that finds errors in place of the checksum: packets are sent without one to a peer that says
    the same, and taken without one (RFC 9653). Every packet has one if absent. One of ``dtls``."""
