//! One destination address of the peer: whether it answers, how fast, and how much may be in flight to it.
//!
//! A path knows counts and times, not chunks: the sending half says what was sent, acknowledged and lost.

mod congestion;
mod discovery;
mod heartbeat;
mod pool;
mod reduction;
mod set;
mod snapshot;
mod timing;

use congestion::controller;
pub use discovery::DiscoveryState;
pub(crate) use discovery::{Discovery, ProbePacket};
pub(crate) use heartbeat::{Heartbeat, HeartbeatInfo, period as heartbeat_period};
use reduction::Reduction;
pub(crate) use set::Paths;
pub use snapshot::{PathSnapshot, PathStats};
pub(crate) use timing::{Departed, Early, ProbeKind, Timing};

use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Timer};
use slantpath_cc::delivery::{DeliveryMeter, Departure};
use slantpath_cc::sctp::SctpController;
use slantpath_cc::{CongestionControl, Controller, Pacer, RttEstimator};

use crate::config::{LossDetection, SctpConfig};
use crate::event::T3RtxChange;
use crate::packet::{COMMON_HEADER_LEN, IpFragmentation};
use crate::policy::PathMtuDiscovery;
use crate::types::Tsn;

/// A path by its number in the association: counted from 0 in the order in which the peer has listed its addresses, and
/// never given again, whatever addresses are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u16);

/// Ability of a destination address to carry user data (RFC 9260, sections 5.4 and 8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Confirmed, and it answers.
    Active,
    /// Confirmed, but it has stopped answering.
    Inactive,
    /// Confirmed, but it has missed an answer or a few: other paths are preferred until it is known to work or
    /// not (RFC 7829, section 3).
    PotentiallyFailed,
    /// Not yet proved to belong to the peer: only HEARTBEATs go there.
    Unconfirmed,
}

/// The DATA chunk whose round trip is being timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RttProbe {
    Idle,
    Running { tsn: Tsn, sent_at: Instant },
}

/// Contents of the SACK at hand that concern a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackTally {
    pub(crate) flight_size_before: u64,
    pub(crate) newly_acked: u64,
    /// Instant at which the newest of them left that was sent once.
    pub(crate) answered: Option<Instant>,
    /// Among the acknowledged chunks was one that has never been sent anywhere else.
    pub(crate) is_unambiguous: bool,
    /// The earliest outstanding chunk was among the acknowledged ones.
    pub(crate) acked_earliest: bool,
    /// A chunk sent here has now been reported missing often enough.
    pub(crate) found_loss: bool,
    /// The highest TSN among the acknowledged ones, where several paths are used at once.
    pub(crate) highest_acked: Option<Tsn>,
    /// Number of them that Gap Ack Blocks acknowledge, there too.
    pub(crate) acked_by_gaps: u32,
}

/// Packets to an address that IP may cut into fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fragments {
    /// All: a link on the way carries less than the least path MTU.
    OfAll,
    /// Packets that are longer than the path MTU: a chunk is never cut again.
    OfTooLong,
}

/// Limit of the bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// The congestion window.
    Window,
    /// One packet, since T3-rtx expired and nothing has been acknowledged yet.
    OnePacket,
}

/// Steps of a path that does not answer, for the time that a failover takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Silence {
    /// Instant at which an answer was first due and did not come.
    pub(crate) first_timeout: Option<Instant>,
    /// Instant at which the path was left for another.
    pub(crate) decided: Option<Instant>,
}

/// State of the link of our address, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Link that is down.
    Down,
    /// Link that is up again since this time; no HEARTBEAT has been answered since.
    Back(Instant),
    /// Link whose state has not changed, as far as is known.
    Unchanged,
}

/// One destination address.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) destination: IpAddr,
    pub(crate) source: IpAddr,
    pub(crate) state: PathState,
    pub(crate) rtt: RttEstimator,
    pub(crate) cc: Controller<SctpController>,
    pub(crate) delivery: DeliveryMeter,
    /// Set where losses are found by time.
    pub(crate) timing: Option<Box<Timing>>,
    pacer: Pacer,
    /// Something waits for this time although the window would let it out.
    held_until: Timer,
    /// Bytes of DATA chunks that were sent here last and are neither acknowledged nor given up.
    pub(crate) flight_size: u64,
    /// The lowest TSN among them.
    pub(crate) earliest: Option<Tsn>,
    /// Highest TSN that had been sent when this path entered Fast Recovery, where several paths are used at once.
    pub(crate) fast_recovery_exit: Option<Tsn>,
    pub(crate) error_count: u32,
    pub(crate) heartbeat: Heartbeat,
    /// HB.interval of this address; `None`: no HEARTBEATs but for path verification.
    pub(crate) heartbeat_interval: Option<Duration>,
    pub(crate) tally: SackTally,
    pub(crate) stats: PathStats,
    /// Set where probe packets look for the path MTU.
    pub(crate) discovery: Option<Box<Discovery>>,
    mtu: u16,
    /// Number of bytes that `mtu` leaves for chunks.
    pmdcs: u16,
    fragments: Fragments,
    t3_rtx: Timer,
    /// True if T3-rtx also runs for a FORWARD TSN that was sent here (RFC 3758, section 3.5, rule C5).
    pub(crate) awaits_forward_ack: bool,
    /// The deadline that was reported last, if it is reported.
    reported_t3_rtx: Timer,
    probe: RttProbe,
    allowance: Allowance,
    reduction: Reduction,
    pub(crate) link: Link,
    /// Instant at which the newest packet left that the path has answered: of DATA, only what was sent once.
    pub(crate) last_answered: Option<Instant>,
    /// Set while the path does not answer.
    pub(crate) silence: Option<Box<Silence>>,
    /// True if a SACK of what was sent here has come back by this path.
    has_answered: bool,
    burst_left: u32,
    /// Instant at which DATA was sent last, moved on by the RTOs for which the window has decayed since.
    last_data_at: Option<Instant>,
    /// Instant at which something was sent last that a round-trip time may be taken from.
    last_timed_at: Option<Instant>,
}

impl Path {
    pub(crate) fn new(destination: IpAddr, source: IpAddr, state: PathState, config: &SctpConfig) -> Self {
        let discovery = (config.path_mtu_discovery == PathMtuDiscovery::Probing)
            .then(|| Box::new(Discovery::new(destination, config)));
        let mtu = discovery.as_ref().map_or(config.initial_path_mtu, |discovery| discovery.plpmtu());
        Self {
            destination,
            source,
            state,
            rtt: RttEstimator::new(config.rto()),
            cc: controller(config, pmdcs(mtu, destination).into(), destination),
            delivery: DeliveryMeter::default(),
            timing: (config.loss_detection == LossDetection::Rack)
                .then(|| Box::new(Timing::new(config.fast_retransmit_threshold))),
            pacer: Pacer::default(),
            held_until: Timer::OFF,
            flight_size: 0,
            earliest: None,
            fast_recovery_exit: None,
            error_count: 0,
            heartbeat: Heartbeat::Off,
            heartbeat_interval: config.heartbeat_interval,
            tally: SackTally::default(),
            stats: PathStats::default(),
            discovery,
            mtu,
            pmdcs: pmdcs(mtu, destination),
            fragments: Fragments::OfTooLong,
            t3_rtx: Timer::OFF,
            awaits_forward_ack: false,
            reported_t3_rtx: Timer::OFF,
            probe: RttProbe::Idle,
            allowance: Allowance::Window,
            reduction: Reduction::None,
            link: Link::Unchanged,
            last_answered: None,
            silence: None,
            has_answered: false,
            burst_left: u32::MAX,
            last_data_at: None,
            last_timed_at: None,
        }
    }

    /// Number of bytes that one SCTP packet may hold behind the common header: the Path Maximum DATA Chunk Size.
    pub(crate) fn pmdcs(&self) -> usize {
        self.pmdcs.into()
    }

    /// Tells if IP may cut a packet that is `len` bytes long from the common header on.
    pub(crate) fn fragmentation(&self, len: usize) -> IpFragmentation {
        if self.fragments == Fragments::OfAll || ip_header_len(self.destination) + len > self.mtu.into() {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.9
            //# Once a user message is fragmented, it cannot be re-fragmented.
            //# Instead, if the PMTU has been reduced, then IP fragmentation MUST be
            //# used.
            return IpFragmentation::Allowed { source_mtu: self.mtu };
        }
        IpFragmentation::Forbidden
    }

    /// The least MTU with which such a packet passes. Routers cut an IPv4 packet to whatever size, but what the source
    /// of an IPv6 packet has cut must pass as it is.
    pub(crate) fn needed_mtu(&self, len: usize) -> u16 {
        match self.fragmentation(len) {
            IpFragmentation::Allowed { source_mtu } if self.destination.is_ipv6() => source_mtu,
            IpFragmentation::Allowed { .. } => 0,
            IpFragmentation::Forbidden => {
                u16::try_from(ip_header_len(self.destination) + len).expect("no longer than the path MTU")
            }
        }
    }

    /// Lowers the path MTU to what an ICMP message says. `false` if that is nothing new, or nothing that may be.
    fn reduce_mtu(&mut self, mtu: u16) -> bool {
        // RFC 8201, section 4, on IPv6: what is below the least MTU of a link is discarded.
        let least = if self.destination.is_ipv6() { LEAST_MTU_V6 } else { LEAST_MTU_V4 };
        if mtu < least && self.destination.is_ipv6() {
            return false;
        }
        let (mtu_before, fragments_before) = (self.mtu, self.fragments);
        if mtu < least {
            // RFC 1191, section 5, for a router that tells no MTU: 576 bytes without "don't fragment". It is right for
            // links that carry less, too.
            self.fragments = Fragments::OfAll;
        }
        self.mtu = self.mtu.min(mtu.max(least));
        self.pmdcs = pmdcs(self.mtu, self.destination);
        self.cc.set_segment_bytes(self.pmdcs() as u64);
        (mtu_before, fragments_before) != (self.mtu, self.fragments)
    }

    /// Path MTU in bytes, IP header included.
    pub(crate) const fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Length of the IP header of a packet to the address, in bytes.
    pub(crate) const fn ip_header_len(&self) -> usize {
        ip_header_len(self.destination)
    }

    /// Instant at which DATA was sent here last.
    pub(crate) const fn last_data_at(&self) -> Option<Instant> {
        self.last_data_at
    }

    /// Instant at which T3-rtx expires.
    pub(crate) fn t3_rtx(&self) -> Option<Instant> {
        self.t3_rtx.at()
    }

    /// The earliest deadline of its timers and of what is held back.
    #[inline]
    fn next_deadline(&self) -> Timer {
        let next = self.t3_rtx.or_earlier(self.held_until).or_earlier(self.heartbeat.deadline().into());
        // Most paths have neither, and are asked with each packet.
        if self.discovery.is_none() && self.timing.is_none() {
            return next;
        }
        let probing = self.discovery.as_ref().and_then(|discovery| discovery.deadline());
        next.or_earlier(probing.into()).or_earlier(self.early().into())
    }

    /// Starts T3-rtx unless it runs (rules R1 and R4 of section 6.3.2).
    pub(crate) fn start_t3_rtx(&mut self, now: Instant) {
        if self.t3_rtx.is_off() {
            self.restart_t3_rtx(now);
        }
    }

    /// Starts T3-rtx anew (rule R3).
    pub(crate) fn restart_t3_rtx(&mut self, now: Instant) {
        self.t3_rtx = Timer::set(now + self.rtt.rto());
    }

    /// Has T3-rtx expire after no more than the RTO as it has been measured now.
    //
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3
    //# once a new RTT measurement is obtained (which
    //# can happen only when new data has been sent and acknowledged, per
    //# rule C5, or for a measurement made from a HEARTBEAT chunk; see
    //# Section 8.3), the computation in rule C3 is performed, including the
    //# computation of RTO, which might result in "collapsing" RTO back down
    //# after it has been subject to doubling (rule E2).
    pub(crate) fn hasten_t3_rtx(&mut self, now: Instant) {
        if self.t3_rtx.at().is_some_and(|at| at > now + self.rtt.rto()) {
            self.restart_t3_rtx(now);
        }
    }

    /// Stops T3-rtx (rule R2).
    pub(crate) const fn stop_t3_rtx(&mut self) {
        self.t3_rtx = Timer::OFF;
    }

    /// Stops it if nothing is left here that it runs for.
    pub(crate) const fn stop_idle_t3_rtx(&mut self) {
        if self.flight_size == 0 && !self.awaits_forward_ack {
            self.stop_t3_rtx();
        }
    }

    /// T3-rtx has expired: what is to be reported of it.
    pub(crate) const fn expire_t3_rtx(&mut self) -> T3RtxChange {
        self.t3_rtx = Timer::OFF;
        self.reported_t3_rtx = Timer::OFF;
        T3RtxChange::Expired { rto: self.rtt.rto(), outstanding: self.flight_size }
    }

    /// Gives the change of T3-rtx since the last report.
    pub(crate) fn report_t3_rtx(&mut self) -> Option<T3RtxChange> {
        let before = std::mem::replace(&mut self.reported_t3_rtx, self.t3_rtx);
        let rto = self.rtt.rto();
        match (before.at(), self.t3_rtx.at()) {
            (None, None) => None,
            (None, Some(_)) => Some(T3RtxChange::Started { rto }),
            (Some(_), None) => Some(T3RtxChange::Stopped),
            (Some(before), Some(now)) => (before != now).then_some(T3RtxChange::Restarted { rto }),
        }
    }

    /// Begins a new burst: an event has come that may release packets.
    pub(crate) fn refill_burst(&mut self, max_burst: u32) {
        self.burst_left = self.burst_limit(max_burst);
    }

    /// Number of packets that an event may release. A paced path makes no burst that is longer than its quantum, and a
    /// limit beside that would hold the window down after each pause.
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
    //# the protocol parameter
    //# 'Max.Burst' SHOULD be used to limit the number of packets sent.
    fn burst_limit(&self, max_burst: u32) -> u32 {
        if self.is_paced() { u32::MAX } else { max_burst }
    }

    /// Adds the burst of another event to one that has not been used up.
    pub(crate) fn extend_burst(&mut self, max_burst: u32) {
        self.burst_left = self.burst_left.saturating_add(self.burst_limit(max_burst));
    }

    /// Tells if another packet with DATA may leave now.
    #[expect(clippy::inline_always, reason = "each packet passes it, and it is little more than a call")]
    #[inline(always)]
    pub(crate) fn may_send_data(&self) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# The breach of cwnd MUST constitute one
        //# packet only.
        self.burst_left > 0 && self.has_window()
    }

    /// Tells if the congestion window is not full.
    #[inline]
    pub(crate) fn has_window(&self) -> bool {
        match self.allowance {
            // The window of a recovery may be nothing before a SACK has come; what is alone on its way is never too
            // much.
            Allowance::Window => self.flight_size < self.cwnd().max(1),
            Allowance::OnePacket => self.flight_size == 0,
        }
    }

    /// A packet with DATA has left.
    pub(crate) const fn on_data_packet(&mut self, now: Instant) {
        self.burst_left = self.burst_left.saturating_sub(1);
        self.last_data_at = Some(now);
    }

    /// Lets the window decay for the whole RTOs in which nothing was sent.
    #[expect(clippy::inline_always, reason = "each packet passes it, and it is little more than a call")]
    #[inline(always)]
    pub(crate) fn decay_when_idle(&mut self, now: Instant) {
        let periods = self.idle_periods(now);
        if periods > 0 {
            self.cc.on_idle(periods);
            self.last_data_at = self.last_data_at.map(|last| last + self.rtt.rto() * periods);
        }
    }

    /// For how many whole RTOs nothing was sent that the window has not decayed for.
    #[inline]
    fn idle_periods(&self, now: Instant) -> u64 {
        match self.last_data_at {
            Some(last) if self.flight_size == 0 => {
                now.saturating_since(last).as_nanos() / self.rtt.rto().as_nanos().max(1)
            }
            Some(_) | None => 0,
        }
    }

    /// Tells if nothing has been sent `since` that a round-trip time may be taken from.
    pub(crate) fn is_idle_since(&self, since: Instant) -> bool {
        self.last_timed_at.is_none_or(|at| at < since)
    }

    /// Packets leave from another address of ours from now on: by another network, of which nothing is known.
    pub(crate) fn set_source(&mut self, now: Instant, source: IpAddr, config: &SctpConfig) {
        if self.source == source {
            return;
        }
        self.source = source;
        self.link = Link::Unchanged;
        self.rtt = RttEstimator::new(config.rto());
        self.cc = controller(config, self.pmdcs.into(), self.destination);
        self.clear_errors();
        self.probe = RttProbe::Idle;
        self.allowance = Allowance::Window;
        if !self.t3_rtx.is_off() {
            self.restart_t3_rtx(now);
        }
    }

    /// The path has answered a packet that left at this time.
    #[inline]
    pub(crate) fn note_answered(&mut self, left: Instant) {
        self.last_answered = self.last_answered.max(Some(left));
    }

    /// Nothing counts against the path any more.
    #[inline]
    pub(crate) fn clear_errors(&mut self) {
        self.error_count = 0;
        if self.silence.is_some() {
            self.silence = None;
        }
    }

    /// A DATA chunk goes out here, which keeps the departure.
    #[expect(clippy::inline_always, reason = "a departure is large to move")]
    #[inline(always)]
    pub(crate) fn on_chunk_sent(
        &mut self,
        now: Instant,
        tsn: Tsn,
        wire_len: u64,
        transmission: u32,
    ) -> Departure {
        if let Some(timing) = &mut self.timing {
            timing.departures.push_back(Departed { tsn, transmission });
        }
        let departure = self.delivery.depart(now, self.flight_size == 0, self.flight_size + wire_len);
        self.on_bytes_sent(now, wire_len);
        self.flight_size += wire_len;
        self.stats.data_chunks_sent += 1;
        let is_earliest = self.earliest.is_none_or(|earliest| tsn.is_at_or_before(earliest));
        if is_earliest {
            self.earliest = Some(tsn);
        }
        if transmission > 1 {
            self.stats.retransmissions += 1;
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
            //# If the timer for that address is already
            //# running, the sender MUST restart the timer if the earliest (i.e.,
            //# lowest TSN) outstanding DATA chunk sent to that address is being
            //# retransmitted.
            if is_earliest {
                self.restart_t3_rtx(now);
            }
        } else {
            self.last_timed_at = Some(now);
            if self.probe == RttProbe::Idle {
                self.probe = RttProbe::Running { tsn, sent_at: now };
            }
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.2
        //# R1)  Every time a DATA chunk is sent to any address (including a
        //# retransmission), if the T3-rtx timer of that address is not
        //# running, start it running so that it will expire after the RTO
        //# of that address.
        self.start_t3_rtx(now);
        departure
    }

    /// A chunk that counted as in flight here has been acknowledged, or given up as lost.
    pub(crate) fn on_chunk_left(&mut self, wire_len: u64) {
        self.flight_size = self.flight_size.checked_sub(wire_len).expect("a chunk leaves a path once");
    }

    /// `tsn` is retransmitted, here or elsewhere: what is being timed behind it cannot be trusted any more.
    pub(crate) fn distrust_probe(&mut self, tsn: Tsn) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.1
        //# RTT measurements SHOULD only be made using a DATA chunk with TSN
        //# r if no DATA chunk with TSN less than or equal to r was
        //# retransmitted since the DATA chunk with TSN r was sent first.
        if let RttProbe::Running { tsn: timed, .. } = self.probe
            && timed.is_at_or_after(tsn)
        {
            self.probe = RttProbe::Idle;
        }
    }

    /// Nobody will ever know the round trip of `tsn`.
    pub(crate) fn forget_probe(&mut self, tsn: Tsn) {
        if let RttProbe::Running { tsn: timed, .. } = self.probe
            && timed == tsn
        {
            self.probe = RttProbe::Idle;
        }
    }

    /// `tsn`, sent here last, has been acknowledged. Gives the round trip if it was the one being timed.
    pub(crate) fn take_probe(&mut self, now: Instant, tsn: Tsn) -> Option<Duration> {
        match self.probe {
            RttProbe::Running { tsn: timed, sent_at } if timed == tsn => {
                self.probe = RttProbe::Idle;
                Some(now.saturating_since(sent_at))
            }
            RttProbe::Running { .. } | RttProbe::Idle => None,
        }
    }

    /// Takes in a round-trip time.
    pub(crate) fn sample_rtt(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
        self.stats.rtt_samples += 1;
        if let Some(timing) = &mut self.timing {
            timing.on_measured();
        }
    }

    /// Stops or restarts T3-rtx by what the SACK at hand acknowledges.
    pub(crate) fn settle_t3_rtx(&mut self, now: Instant) {
        if self.flight_size == 0 && !self.awaits_forward_ack {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.2
            //# R2)  Whenever all outstanding data sent to an address have been
            //# acknowledged, turn off the T3-rtx timer of that address.
            self.stop_t3_rtx();
        } else if self.tally.acked_earliest || self.timing.is_some() && self.tally.newly_acked > 0 {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.2
            //# R3)  Whenever a SACK chunk is received that acknowledges the DATA
            //# chunk with the earliest outstanding TSN for that address,
            //# restart the T3-rtx timer for that address with its current RTO
            //# (if there is still outstanding data on that address).
            // Where losses are found by time, whatever the path delivers shows that it works: a hole that stays is
            // found without the timer, be it of a retransmission, and must not end what goes well.
            self.restart_t3_rtx(now);
        }
    }

    /// The peer has thrown away a chunk, sent here last, that it had acknowledged by a Gap Ack Block.
    pub(crate) fn on_chunk_revoked(&mut self, now: Instant, tsn: Tsn, transmission: u32, wire_len: u64) {
        if let Some(timing) = &mut self.timing {
            timing.on_in_order();
        }
        self.on_chunk_restored(now, tsn, transmission, wire_len);
    }

    /// A chunk that was sent here last is in flight again without having been retransmitted.
    pub(crate) fn on_chunk_restored(&mut self, now: Instant, tsn: Tsn, transmission: u32, wire_len: u64) {
        if let Some(timing) = &mut self.timing {
            // It left before all that is in flight, or its turn comes a little early.
            timing.departures.push_front(Departed { tsn, transmission });
        }
        self.flight_size += wire_len;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.2
        //# R4)  Whenever a SACK chunk is received missing a TSN that was
        //# previously acknowledged via a Gap Ack Block, start the T3-rtx
        //# for the destination address to which the DATA chunk was
        //# originally transmitted if it is not already running.
        self.start_t3_rtx(now);
    }

    /// TSNs begin anew, while nothing is outstanding.
    pub(crate) fn forget_numbers(&mut self) {
        self.earliest = None;
        self.fast_recovery_exit = None;
        self.probe = RttProbe::Idle;
        self.reduction = Reduction::None;
        if let Some(timing) = &mut self.timing {
            timing.forget_numbers();
        }
    }
}

/// The Path Maximum DATA Chunk Size: the MTU without IP header and common header, in whole words.
fn pmdcs(mtu: u16, destination: IpAddr) -> u16 {
    #[expect(clippy::cast_possible_truncation, reason = "52")]
    let headers = (ip_header_len(destination) + COMMON_HEADER_LEN) as u16;
    mtu.saturating_sub(headers) & !3
}

const fn ip_header_len(destination: IpAddr) -> usize {
    if destination.is_ipv6() { 40 } else { 20 }
}

/// The least path MTU, of IPv4: every host takes as much (RFC 791, section 3.1).
const LEAST_MTU_V4: u16 = 576;
/// Least path MTU of IPv6: every link carries as much (RFC 8200, section 5).
pub(crate) const LEAST_MTU_V6: u16 = 1_280;
