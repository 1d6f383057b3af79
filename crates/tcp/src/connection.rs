//! One connection: the state machine of RFC 9293 over a sending and a receiving half.

mod ecn;
mod handshake;
mod input;
mod output;
mod state;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{DataRate, Duration, Instant};
use slantpath_wire::ip::{Ecn, Envelope, IpFields};

use crate::config::TcpConfig;
use crate::event::{Event, ResetCause};
use crate::rx::Rx;
use crate::segment::{Received, SequenceNumber};
use crate::tx::{Endurance, Tx, earlier};
use ecn::Agreement;
pub use state::ConnectionState;

/// State of a connection, as it can be observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Own address and port of the connection.
    pub local: SocketAddr,
    /// Address and port of the peer.
    pub remote: SocketAddr,
    /// The state of RFC 9293.
    pub state: ConnectionState,
    /// The congestion window.
    pub cwnd_bytes: u64,
    /// The slow start threshold; `u64::MAX` before the first loss unless configured.
    pub ssthresh_bytes: u64,
    /// Sent and not acknowledged.
    pub flight_bytes: u64,
    /// The estimate of what is in the network (RFC 6675).
    pub pipe_bytes: u64,
    /// The window that the peer advertised last.
    pub peer_window_bytes: u64,
    /// True if a loss is being repaired.
    pub is_recovering: bool,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time.
    pub rttvar: Option<Duration>,
    /// The retransmission timeout, backed off as it may be.
    pub rto: Duration,
    /// The rate at which segments last arrived at the peer, in bytes of the stream.
    pub delivery_rate: Option<DataRate>,
    /// Segments of data that were retransmitted.
    pub retransmissions: u64,
    /// Number of times that the retransmission timer expired on data.
    pub timeouts: u64,
    /// Number of times that duplicate ACKs or SACK started a recovery.
    pub fast_recoveries: u64,
    /// Number of times that an echoed mark of congestion reduced the window.
    pub mark_reductions: u64,
    /// Bytes of the own stream that the peer has acknowledged.
    pub acked_bytes: u64,
    /// Bytes of the peer's stream that have arrived in order.
    pub received_bytes: u64,
    /// IP header fields of the packet that came last.
    pub received_ip: Option<IpFields>,
}

/// A control segment that waits to go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Nothing,
    Reset { sequence: SequenceNumber },
    Syn,
    SynAck,
}

/// The options of the peer's SYN.
#[derive(Clone, Copy, Debug, Default)]
struct Offers {
    mss_bytes: u16,
    sack: bool,
    window_scaling: bool,
}

/// Timestamps in use on a connection.
#[derive(Clone, Copy, Debug)]
struct TimestampState {
    /// TS.Recent.
    recent: u32,
}

/// Own port and the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) local: u16,
    pub(crate) remote: u16,
}

/// Prospect of data that is appended to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Data that cannot leave before older data that could not leave already.
    BehindOthers,
    MayLeave,
}

/// End of a connection, as it is told to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Reset(ResetCause),
}

impl From<Ending> for Event {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Closed => Self::Closed,
            Ending::Reset(cause) => Self::Reset(cause),
        }
    }
}

/// Of many connections none is in the cache when a packet comes: what packets touch lies together, in this order, and
/// what belongs to the handshake behind it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    /// True if the connection had nothing to send when it was last asked, and nothing has happened to it since.
    pub(crate) is_silent: bool,
    /// Bookkeeping of the endpoint.
    pub(crate) is_queued: bool,
    /// The shift of the peer's windows.
    peer_shift: u8,
    ecn: Agreement,
    /// IP header fields of the packet that came last.
    pub(crate) received_ip: Option<IpFields>,
    /// The last event, which waits for the data before it.
    ending: Option<Ending>,
    control: Control,
    state: ConnectionState,
    /// The earliest wake-up for a timer that the endpoint has noted.
    pub(crate) timer_wakeup: Instant,
    rx: Rx,
    ports: Ports,
    /// The initial send sequence number.
    iss: SequenceNumber,
    /// The initial receive sequence number; of no meaning in SYN-SENT.
    irs: SequenceNumber,
    /// Number of times that the own SYN, or answer to one, was retransmitted.
    syn_repeats: u32,
    events: VecDeque<Event>,
    /// Of what it sends.
    envelope: Envelope,
    /// The peer's offset up to which the last segment sent acknowledged.
    last_ack_sent: u64,
    /// Shared with all connections that are configured alike.
    config: Arc<TcpConfig>,
    timestamps: Option<TimestampState>,
    tx: Tx,
    /// Options that the peer's SYN offered.
    offers: Offers,
    /// Instant at which the own SYN, or answer to one, was sent.
    syn_sent_at: Instant,
    /// From when on an unacceptable segment without data may be answered again.
    next_challenge: Instant,
}

impl Connection {
    fn new(config: Arc<TcpConfig>, local: SocketAddr, remote: SocketAddr, iss: SequenceNumber) -> Self {
        let mut fields = config.ip;
        if config.ecn {
            fields.ecn = Ecn::NotCapable;
        }
        Self {
            envelope: Envelope { source: local.ip(), destination: remote.ip(), fields },
            ecn: Agreement::of_caller(config.ecn),
            ports: Ports { local: local.port(), remote: remote.port() },
            state: ConnectionState::SynSent,
            iss,
            irs: SequenceNumber(0),
            offers: Offers::default(),
            syn_sent_at: Instant::START,
            syn_repeats: 0,
            control: Control::Syn,
            tx: Tx::new(Arc::clone(&config)),
            rx: Rx::new(&config),
            peer_shift: 0,
            timestamps: None,
            last_ack_sent: 0,
            next_challenge: Instant::START,
            events: VecDeque::new(),
            ending: None,
            received_ip: None,
            is_silent: false,
            is_queued: false,
            timer_wakeup: Instant::FAR_FUTURE,
            config,
        }
    }

    pub(crate) const fn local(&self) -> SocketAddr {
        SocketAddr::new(self.envelope.source, self.ports.local)
    }

    pub(crate) const fn remote(&self) -> SocketAddr {
        SocketAddr::new(self.envelope.destination, self.ports.remote)
    }

    pub(crate) const fn state(&self) -> ConnectionState {
        self.state
    }

    /// Tells if more than half of the send buffer is in use, or was.
    pub(crate) const fn is_filled(&self) -> bool {
        self.tx.is_filled()
    }

    /// Tells if the connection is between these addresses and ports.
    #[inline]
    pub(crate) fn is_between(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.ports.local == local.port()
            && self.ports.remote == remote.port()
            && self.envelope.source == local.ip()
            && self.envelope.destination == remote.ip()
    }

    /// Tells if a packet in such an envelope, with these ports, is for it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "four comparisons")]
    pub(crate) fn is_for(&self, envelope: &Envelope, ports: Ports) -> bool {
        self.ports == ports
            && self.envelope.source == envelope.destination
            && self.envelope.destination == envelope.source
    }

    /// Takes in a segment that is for it, and what its envelope said. Data that is wanted is taken out.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the segment stays where it has been read")]
    pub(crate) fn take_in(
        &mut self,
        now: Instant,
        envelope: &Envelope,
        segment: Received<'_>,
        data: &mut Bytes,
    ) {
        self.received_ip = Some(envelope.fields);
        self.handle_segment(now, segment, data);
        self.is_silent = false;
    }

    /// Between which addresses its packets go, and what their IP headers say besides.
    #[inline]
    pub(crate) const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Appends to the own stream. `None` if that has ended.
    pub(crate) fn write(&mut self, bytes: Bytes) -> Option<Written> {
        if self.tx.is_closed() || !self.state.may_send() {
            return None;
        }
        let waits = self.is_silent && self.tx.has_a_segment_waiting();
        self.tx.write(bytes);
        Some(if waits { Written::BehindOthers } else { Written::MayLeave })
    }

    /// Ends the own stream.
    pub(crate) fn close(&mut self) {
        match self.state {
            ConnectionState::SynSent => self.finish(Ending::Closed),
            ConnectionState::Established => self.state = ConnectionState::FinWait1,
            ConnectionState::CloseWait => self.state = ConnectionState::LastAck,
            _ => {}
        }
        self.tx.close();
    }

    /// Ends both streams at once and tells the peer.
    pub(crate) fn abort(&mut self) {
        self.control = if self.state.is_synchronised() {
            Control::Reset { sequence: self.own_sequence(self.tx.nxt()) }
        } else {
            Control::Nothing
        };
        self.state = ConnectionState::Closed;
    }

    /// ICMP says that the segment at `sequence` was in a packet longer than `mtu_bytes`, which is what passes.
    pub(crate) fn handle_packet_too_big(&mut self, now: Instant, sequence: SequenceNumber, mtu_bytes: u32) {
        // Whoever cannot see the connection does not know what is in flight (RFC 5927, section 4.1).
        let in_flight = self.tx.una().cast_signed()..self.tx.nxt().cast_signed();
        if !self.state.transmits() || !in_flight.contains(&self.own_offset(sequence)) {
            return;
        }
        let mtu_bytes = match (self.envelope.destination, mtu_bytes) {
            // Every IPv6 link carries as much: what says less is discarded (RFC 8201, section 4).
            (IpAddr::V6(_), ..LEAST_MTU_V6) => return,
            // A router that tells no MTU (RFC 1191, section 5).
            (IpAddr::V4(_), 0) => ASSUMED_MTU_V4,
            (IpAddr::V4(_), mtu_bytes) => mtu_bytes.max(LEAST_MTU_V4),
            (IpAddr::V6(_), mtu_bytes) => mtu_bytes,
        };
        let ip_header_len = if self.envelope.destination.is_ipv4() { 20 } else { 40 };
        let options = if self.timestamps.is_some() { handshake::TIMESTAMPS_LEN } else { 0 };
        let mss = mtu_bytes - ip_header_len - TCP_HEADER_LEN - options;
        if u64::from(mss) < self.tx.mss() {
            self.tx.reduce_mss(now, mss);
        }
    }

    /// Takes no more data from the peer until [`release`](Self::release).
    pub(crate) const fn hold(&mut self) {
        self.rx.hold();
    }

    pub(crate) fn release(&mut self) {
        self.rx.release(self.tx.mss());
    }

    pub(crate) fn writable(&self) -> u64 {
        self.tx.writable()
    }

    /// Acts on every deadline that has passed.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        self.rx.handle_deadline(now);
        if let ConnectionState::TimeWait { until } = self.state
            && until <= now
        {
            self.state = ConnectionState::Closed;
        }
        if self.tx.deadline().is_none_or(|deadline| deadline > now) {
            return;
        }
        if self.state.is_opening() {
            self.handle_handshake_timeout(now);
        } else if self.tx.handle_deadline(now) == Endurance::Exhausted {
            self.control = Control::Reset { sequence: self.own_sequence(self.tx.nxt()) };
            self.finish(Ending::Reset(ResetCause::TimedOut));
        }
    }

    /// Tells if anything is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        earlier(self.next_timer(), self.next_release()).is_some_and(|deadline| deadline <= now)
    }

    /// Instant at which the next of its timers expires. Most are put off before.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        let deadline = earlier(self.tx.next_timer(), self.rx.deadline());
        match self.state {
            ConnectionState::Closed => None,
            ConnectionState::TimeWait { until } => earlier(deadline, Some(until)),
            _ => deadline,
        }
    }

    /// The earliest wake-up for what its pacer holds that the endpoint has noted.
    #[inline]
    pub(crate) const fn release_wakeup(&mut self) -> &mut Instant {
        &mut self.tx.release_wakeup
    }

    /// Instant at which a segment that its pacer holds may leave.
    #[inline]
    pub(crate) fn next_release(&self) -> Option<Instant> {
        self.tx.held_until().filter(|_| self.state != ConnectionState::Closed)
    }

    /// The next thing to tell the application.
    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty()
            && let Some(data) = self.rx.poll_data()
        {
            return Some(Event::Data(data));
        }
        self.poll_other_event()
    }

    #[inline(never)]
    fn poll_other_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        if self.rx.take_end() {
            return Some(Event::PeerClosed);
        }
        if self.is_last_word_due() {
            return self.ending.take().map(Event::from);
        }
        None
    }

    /// Tells if [`poll_event`](Self::poll_event) has something to give: data that is kept for a reader that is held
    /// does not count.
    pub(crate) fn can_tell(&self) -> bool {
        !self.events.is_empty() || self.rx.has_data() || self.rx.is_end_due() || self.is_last_word_due()
    }

    /// The last word waits for a reader that is held, unless there is nothing to wait for any more.
    fn is_last_word_due(&self) -> bool {
        match self.ending {
            None => false,
            Some(Ending::Closed) => self.rx.is_drained(),
            Some(Ending::Reset(_)) => true,
        }
    }

    /// Tells if there is something to tell the application.
    pub(crate) fn has_event(&self) -> bool {
        !self.events.is_empty() || self.ending.is_some() || !self.rx.is_drained() || self.rx.is_end_due()
    }

    /// Tells if nothing will ever happen again.
    pub(crate) fn is_over(&self) -> bool {
        self.state == ConnectionState::Closed
            && self.control == Control::Nothing
            && self.events.is_empty()
            && self.ending.is_none()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let counters = self.tx.counters();
        Snapshot {
            local: self.local(),
            remote: self.remote(),
            state: self.state,
            cwnd_bytes: self.tx.cwnd(),
            ssthresh_bytes: self.tx.ssthresh(),
            flight_bytes: self.tx.flight(),
            pipe_bytes: self.tx.pipe(),
            peer_window_bytes: self.tx.peer_window(),
            is_recovering: self.tx.is_recovering(),
            srtt: self.tx.rtt().srtt(),
            rttvar: self.tx.rtt().rttvar(),
            rto: self.tx.rtt().rto(),
            delivery_rate: self.tx.delivery_rate(),
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts,
            fast_recoveries: counters.fast_recoveries,
            mark_reductions: self.tx.mark_reductions(),
            acked_bytes: self.tx.acked(),
            received_bytes: self.rx.received(),
            received_ip: self.received_ip,
        }
    }

    /// Ends the connection; `ending` is the last word to the application.
    fn finish(&mut self, ending: Ending) {
        self.state = ConnectionState::Closed;
        if let Control::Syn | Control::SynAck = self.control {
            self.control = Control::Nothing;
        }
        self.tx.stop_timer();
        self.ending = Some(ending);
    }

    /// The wire's number of an offset in the own stream.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are offsets modulo 2^32")]
    const fn own_sequence(&self, offset: u64) -> SequenceNumber {
        self.iss.plus(1).plus(offset as u32)
    }

    /// The wire's number of an offset in the peer's stream.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are offsets modulo 2^32")]
    const fn peer_sequence(&self, offset: u64) -> SequenceNumber {
        self.irs.plus(1).plus(offset as u32)
    }

    /// The offset in the own stream that is nearest to SND.UNA; negative before the stream.
    fn own_offset(&self, sequence: SequenceNumber) -> i64 {
        let una = self.tx.una();
        una.cast_signed() + i64::from(sequence.distance_from(self.own_sequence(una)).cast_signed())
    }

    /// The offset in the peer's stream that is nearest to RCV.NXT; negative before the stream.
    fn peer_offset(&self, sequence: SequenceNumber) -> i64 {
        let nxt = self.rx.nxt();
        nxt.cast_signed() + i64::from(sequence.distance_from(self.peer_sequence(nxt)).cast_signed())
    }
}

/// The length of a TCP header without options, in bytes.
const TCP_HEADER_LEN: u32 = 20;
/// Least MTU of an IPv4 link, in bytes (RFC 791, section 3.2).
const LEAST_MTU_V4: u32 = 68;
/// Length of a packet that every IPv4 host takes, in bytes, for want of a better estimate.
const ASSUMED_MTU_V4: u32 = 576;
/// Least MTU of an IPv6 link, in bytes (RFC 8200, section 5).
const LEAST_MTU_V6: u32 = 1_280;

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{align_of, offset_of};

    /// A line of the cache, in bytes.
    const LINE: usize = 64;

    #[test]
    fn the_sending_half_begins_a_line_and_the_receiving_half_stands_in_the_first() {
        assert_eq!((align_of::<Connection>(), offset_of!(Connection, tx) % LINE), (LINE, 0));
        assert!(offset_of!(Connection, rx) + size_of::<u64>() * 3 <= LINE);
    }
}
