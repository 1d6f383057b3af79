//! Outputs of an association, in their order: packets before events, events before the next deadline.

use slantpath_base::{Instant, Timer};
use slantpath_wire::Packet;
use slantpath_wire::ip::{Ecn, Envelope};

use super::state::State;
use super::{Association, turn};
use crate::chunk::{Chunk, NrSack, Sack};
use crate::config::SackPath;
use crate::event::Event;
use crate::extension::Extension;
use crate::packet::{CommonHeader, IpFragmentation, PacketBuilder, Seal};
use crate::path::{PathId, PathState};
use crate::tx::{Transmission, Turn};
use crate::types::Tsn;
use crate::zero_checksum::keeps_checksum;
use smallvec::SmallVec;

/// Addresses of a packet to be sent, and the fields that IP needs for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departing {
    /// From our address to the peer's, and what the IP header says besides.
    pub envelope: Envelope,
    /// Permission for IP to fragment the packet.
    pub fragmentation: IpFragmentation,
}

/// Stage up to which the outputs of the last input have been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollStage {
    /// Something has changed: packets may be ready.
    Packets,
    /// No packet is, as was seen when the input came; nobody has asked since.
    NoPackets,
    /// All packets have been taken; events may be ready.
    Events,
}

impl Association {
    /// Tells if a chunk with DATA is outstanding.
    #[inline]
    pub(crate) fn has_outstanding(&self) -> bool {
        self.sender.has_outstanding()
    }

    /// Tells if there may be a packet or an event.
    #[inline]
    pub fn has_output(&self) -> bool {
        self.poll_stage == PollStage::Packets || !self.events.is_empty()
    }

    /// The next packet, written over `packet` with the help of `builder`, which keeps nothing of it.
    #[expect(
        clippy::inline_always,
        reason = "half of all polls find nothing, and cost no more than this then"
    )]
    #[inline(always)]
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        builder: &mut PacketBuilder,
        packet: &mut Packet,
    ) -> Option<Departing> {
        if self.poll_stage != PollStage::Packets {
            self.poll_stage = PollStage::Events;
            return None;
        }
        let Some(path) = self.build_packet(builder, now) else {
            self.end_packets();
            return None;
        };
        Some(self.finish_packet(builder, path, packet))
    }

    /// No packet can leave before something changes.
    #[inline]
    fn end_packets(&mut self) {
        self.poll_stage = PollStage::Events;
        if self.config.trace_timers {
            self.report_timers();
        }
    }

    /// Spares whoever polls an attempt to build a packet, if it is seen at a glance that there is none.
    #[inline]
    pub(super) fn foresee_packets(&mut self) {
        if matches!(self.state, State::Established)
            && self.control.is_empty()
            && !self.receiver.is_ack_due()
            && self.sender.has_no_queue()
            && self.sender.finds_nothing(&mut self.paths)
        {
            self.end_packets();
            self.poll_stage = PollStage::NoPackets;
        }
    }

    /// Writes the packet that has been built for `path`.
    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    fn finish_packet(&mut self, builder: &mut PacketBuilder, path: PathId, packet: &mut Packet) -> Departing {
        debug_assert!(!builder.is_empty(), "a packet has a chunk");
        if self.authentication.is_some() {
            self.sign_packet(builder);
        }
        let fields = self.departing_fields();
        let path = &mut self.paths[path];
        path.stats.packets_sent += 1;
        let departing = Departing {
            envelope: Envelope { source: path.source, destination: path.destination, fields },
            fragmentation: if path.is_probe_departing() {
                IpFragmentation::Forbidden
            } else {
                path.fragmentation(builder.len())
            },
        };
        let mut seal = self.seal;
        if seal == Seal::Zero {
            if builder.holds(keeps_checksum) {
                seal = Seal::Sum;
            } else {
                self.stats.zero_checksums_sent += 1;
            }
        }
        builder.finish_over(seal, packet);
        departing
    }

    /// The next event, once there are no packets.
    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        if self.poll_stage == PollStage::Packets { None } else { self.events.pop_front() }
    }

    /// The event that is the next output, if one is.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<&Event> {
        if self.poll_stage == PollStage::Packets { None } else { self.events.front() }
    }

    /// Tells if exactly one event is left.
    #[inline]
    pub(crate) fn has_one_event(&self) -> bool {
        self.events.len() == 1
    }

    /// Instant at which something is next to be done, once there are no events.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.earliest_deadline().at()
    }

    /// Tells what has happened to T3-rtx of each path, and what else a trace wants to know.
    #[cold]
    fn report_timers(&mut self) {
        for path in self.paths.iter_mut() {
            if let Some(change) = path.report_t3_rtx() {
                self.events.push_back(Event::T3Rtx { address: path.destination, change });
            }
        }
        if self.config.trace {
            self.report_changes();
        }
    }

    fn earliest_deadline(&self) -> Timer {
        if self.state.is_closed() {
            return Timer::OFF;
        }
        debug_assert!(
            !self.sender.has_outstanding()
                || self.paths.iter().any(|path| path.t3_rtx().or(path.held_until()).is_some())
                || self.is_held_back(),
            "outstanding chunks wait for a timer that does not run"
        );
        let next = self.paths.next_deadline().or_earlier(self.receiver.next_deadline());
        let next = next.or_earlier(self.sender.next_deadline()).or_earlier(self.state.next_deadline());
        if self.reconfiguration.is_some() || self.addresses.is_some() || self.sender.abandons() {
            return next.or_earlier(self.deadline_of_extensions().into());
        }
        next
    }

    /// Instant at which a request to change streams or addresses is to be retransmitted, or a message expires.
    #[inline(never)]
    fn deadline_of_extensions(&self) -> Option<Instant> {
        let reconfiguration = self.reconfiguration.as_ref().and_then(|state| state.next_deadline());
        let addresses = self.addresses.as_ref().and_then(|state| state.next_deadline());
        // What must not be sent now is not looked at either: it is given up once it may be.
        let expiry = self.sender.next_expiry().filter(|_| !self.is_held_back());
        [reconfiguration, addresses, expiry].into_iter().flatten().min()
    }

    /// Puts the next packet into the builder, if there is one, and says where it goes.
    #[inline(never)]
    fn build_packet(&mut self, builder: &mut PacketBuilder, now: Instant) -> Option<PathId> {
        if !self.control.is_empty()
            && let Some(path) = self.build_mtu_probe(builder, now)
        {
            return Some(path);
        }
        if self.addresses.is_some() && self.is_held_back() {
            return self.build_held_back(builder);
        }
        // DATA and SHUTDOWN never leave in the same state.
        if !self.state.may_send_data() {
            return match self.state {
                State::Closed { .. } => self.build_farewell(builder),
                _ => self.build_bundle(builder, now, None, self.shutdown_due()),
            };
        }
        if self.sender.abandons() {
            self.settle_abandonment(now);
            if !self.state.may_send_data() {
                return self.build_bundle(builder, now, None, self.shutdown_due());
            }
        }
        let transmission = self.next_transmission(now);
        if transmission.is_none() && self.control.is_empty() && self.receiver.is_ack_due() {
            return Some(self.build_sack(builder));
        }
        if !self.control.is_empty() || self.receiver.is_ack_owed() {
            return self.build_bundle(builder, now, transmission, None);
        }
        // DATA alone, which is what most packets with DATA hold, or nothing.
        let transmission = transmission?;
        self.start_packet(builder, transmission.path);
        self.fill(builder, now, transmission);
        if self.sender.finds_nothing(&mut self.paths) {
            self.end_packets();
        }
        Some(transmission.path)
    }

    /// Builds a packet with a SACK alone, which is what most packets without DATA hold.
    fn build_sack(&mut self, builder: &mut PacketBuilder) -> PathId {
        let path = self.ack_path();
        self.start_packet(builder, path);
        self.put_sack(builder, path, builder.room().saturating_sub(self.echo_len()));
        self.end_packets();
        path
    }

    /// Builds a packet that holds more than DATA.
    #[inline(never)]
    fn build_bundle(
        &mut self,
        builder: &mut PacketBuilder,
        now: Instant,
        transmission: Option<Transmission>,
        shutdown: Option<PathId>,
    ) -> Option<PathId> {
        let is_ack_due = self.receiver.is_ack_due();
        let has_more = transmission.is_some() || shutdown.is_some();
        if self.control.is_empty() && !is_ack_due && !has_more {
            return None;
        }
        let ack_path = self.receiver.is_ack_owed().then(|| self.ack_path());
        let path = if let Some((path, _)) = self.control.front() {
            *path
        } else if let Some(ack_path) = ack_path.filter(|_| is_ack_due) {
            ack_path
        } else if let Some(transmission) = transmission {
            transmission.path
        } else {
            shutdown?
        };
        self.start_packet(builder, path);
        self.bundle_control(builder, path);
        let transmission = transmission.filter(|transmission| transmission.path == path);
        if ack_path == Some(path) {
            self.bundle_sack(builder, path, transmission);
        }
        if let Some(transmission) = transmission
            && (builder.is_empty() || transmission.first_chunk_len <= builder.room())
        {
            self.fill(builder, now, transmission);
        }
        if shutdown == Some(path) {
            self.bundle_shutdown(builder, now, path);
        }
        if !has_more && self.control.is_empty() && !self.receiver.is_ack_due() {
            self.end_packets();
        }
        Some(path)
    }

    /// The last packet of all.
    #[cold]
    fn build_farewell(&mut self, builder: &mut PacketBuilder) -> Option<PathId> {
        let State::Closed { farewell, .. } = &mut self.state else { return None };
        let (path, chunk) = *farewell.take()?;
        self.start_packet(builder, path);
        builder.push(&chunk);
        self.stats.control_chunks_sent += 1;
        Some(path)
    }

    /// Gives up what is due to be, and tells the peer.
    #[inline(never)]
    fn settle_abandonment(&mut self, now: Instant) {
        let mut turn = turn!(self, now);
        if let Some(announcement) = self.sender.settle_abandonment(&mut turn) {
            //= https://www.rfc-editor.org/rfc/rfc3758#section-3.5
            //# F2) The data sender SHOULD always attempt to bundle an outgoing
            //# FORWARD TSN with outbound DATA chunks for efficiency.
            self.control.push_back(announcement);
        }
        // The last message of all may have been given up.
        self.progress_shutdown(now);
    }

    #[inline]
    fn next_transmission(&mut self, now: Instant) -> Option<Transmission> {
        let mut turn = turn!(self, now);
        self.sender.next_transmission(&mut turn)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet with DATA passes it once")]
    fn fill(&mut self, builder: &mut PacketBuilder, now: Instant, transmission: Transmission) {
        if let Some(authentication) = &self.authentication {
            authentication.prepare_for_data(builder);
        }
        let mut turn = turn!(self, now);
        self.sender.fill(&mut turn, builder, transmission);
        if self.ecn.is_some() && self.sender.may_be_marked(transmission) {
            //= https://www.rfc-editor.org/rfc/rfc3168#section-5
            //# Protocols and senders that only require a single ECT codepoint SHOULD
            //# use ECT(0).
            self.set_departing(Ecn::Capable0);
        }
    }

    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    pub(super) fn start_packet(&mut self, builder: &mut PacketBuilder, path: PathId) {
        self.start_packet_without_auth(builder, path);
        if self.authentication.is_some() {
            self.reserve_auth(builder, path);
        }
    }

    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    pub(super) fn start_packet_without_auth(&mut self, builder: &mut PacketBuilder, path: PathId) {
        let header = CommonHeader {
            source_port: self.tcb.local_port,
            destination_port: self.tcb.peer_port,
            verification_tag: self.tcb.peer_tag,
        };
        builder.start(header, self.max_packet_len(path));
        self.set_departing(Ecn::NotCapable);
    }

    /// Bundles the control chunks at the head of the queue that go to `path`, as many as fit.
    pub(super) fn bundle_control(&mut self, builder: &mut PacketBuilder, path: PathId) {
        while let Some((_, chunk)) = self.control.front().filter(|(to, _)| *to == path) {
            // The place of a packet of its own, which may be no longer than it is.
            if matches!(chunk, Chunk::Pad(_)) {
                return;
            }
            if !builder.push(chunk) {
                return;
            }
            self.stats.control_chunks_sent += 1;
            self.control.pop_front();
        }
    }

    /// Bundles the SACK that is owed, unless it may wait and would displace the DATA.
    fn bundle_sack(&mut self, builder: &mut PacketBuilder, path: PathId, transmission: Option<Transmission>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# Before an endpoint transmits a DATA chunk, if any received DATA
        //# chunks have not been acknowledged (e.g., due to delayed ack), the
        //# sender SHOULD create a SACK chunk and bundle it with the outbound
        //# DATA chunk, as long as the size of the final SCTP packet does not
        //# exceed the current PMTU.
        let room = builder.room().saturating_sub(self.echo_len());
        let data_len = transmission.map_or(0, |transmission| transmission.first_chunk_len);
        let is_longer = self.sends_nr_sacks() && self.receiver.has_gaps_or_duplicates();
        let extra = if is_longer { NrSack::FIXED_LEN - Sack::FIXED_LEN } else { 0 };
        let must = self.receiver.is_ack_due() && room >= Sack::FIXED_LEN + extra;
        if must || self.receiver.sack_len() + extra + data_len <= room {
            self.put_sack(builder, path, room);
        }
    }

    /// Puts a SACK of at most `room` bytes into the packet, and in front of it the ECNEs that are due.
    #[inline]
    fn put_sack(&mut self, builder: &mut PacketBuilder, path: PathId, room: usize) {
        self.put_echoes(builder);
        let cumulative_tsn_ack = if let Some((cumulative_tsn_ack, a_rwnd)) = self.receiver.take_plain_sack() {
            builder.put_plain_sack(cumulative_tsn_ack, a_rwnd);
            cumulative_tsn_ack
        } else if self.sends_nr_sacks() {
            self.put_nr_sack(builder, room)
        } else {
            let sack = self.receiver.take_sack(room);
            builder.push_sack(&sack);
            sack.cumulative_tsn_ack
        };
        self.return_path.on_sack_sent(path, cumulative_tsn_ack);
        self.stats.sacks_sent += 1;
    }

    /// Tells if both ends know NR-SACKs, which tell the chunks that are received for good.
    #[inline]
    fn sends_nr_sacks(&self) -> bool {
        self.tcb.extensions.contain(Extension::NonRenegableSack)
    }

    /// An NR-SACK: of what has arrived here nothing is ever thrown away before it has been delivered, so that every
    /// block is a non-renegable one. A SACK without blocks says as much as an NR-SACK without.
    #[cold]
    fn put_nr_sack(&mut self, builder: &mut PacketBuilder, room: usize) -> Tsn {
        let sack = self.receiver.take_sack(room.saturating_sub(NrSack::FIXED_LEN - Sack::FIXED_LEN));
        let cumulative_tsn_ack = sack.cumulative_tsn_ack;
        builder.push(&Chunk::NrSack(NrSack {
            cumulative_tsn_ack,
            a_rwnd: sack.a_rwnd,
            gap_ack_blocks: SmallVec::new(),
            non_renegable_blocks: sack.gap_ack_blocks,
            duplicates: sack.duplicates,
        }));
        cumulative_tsn_ack
    }

    /// Path that a SACK takes.
    #[expect(clippy::inline_always, reason = "most SACKs pass it")]
    #[inline(always)]
    fn ack_path(&self) -> PathId {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.7
        //# When its peer is multi-homed, the SCTP endpoint SHOULD always try to
        //# send the SACK chunk to the same destination address from which the
        //# last DATA chunk was received.
        let data_path = self.receiver.data_path().unwrap_or_else(|| self.paths.current());
        let data_path = self.return_path.toward(data_path);
        let path = match self.config.sack_path {
            SackPath::GapReportsOnLowestDelay if self.receiver.has_gaps() => {
                self.paths.lowest_delay().unwrap_or(data_path)
            }
            SackPath::ArrivalPath | SackPath::GapReportsOnLowestDelay => data_path,
        };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
        //# An endpoint MUST NOT send any chunks to an UNCONFIRMED address
        if self.paths[path].state == PathState::Unconfirmed { self.paths.current() } else { path }
    }
}
