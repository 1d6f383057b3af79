//! DATA chunks go into packets (RFC 9260, sections 6.1 and 6.10): what was lost first, then what is new.

use slantpath_base::Instant;

use super::bundling::Bundling;
use super::outstanding::{ChunkState, Loss, Outstanding, OutstandingChunk, wire_len};
use super::route::Routing;
use super::{Remainder, Sender, Turn, Urgent};
use crate::chunk::{Data, DataFlags, FragmentPlace};
use crate::config::{FastRetransmitPath, SctpConfig};
use crate::event::Event;
use crate::notice::Notice;
use crate::packet::PacketBuilder;
use crate::path::{PathId, PathState, Paths, ProbeKind};
use crate::policy::NewDataAfterTimeout;
use crate::types::Tsn;

/// First DATA of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// Lost DATA that is to be retransmitted.
    Lost,
    /// New DATA that has not been sent.
    New,
}

/// A packet with DATA that may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// Path of the transmission.
    pub(crate) path: PathId,
    /// Number of bytes that its first DATA chunk takes, padding included.
    pub(crate) first_chunk_len: usize,
    first: First,
}

impl Sender {
    /// The next packet that the windows let out.
    #[inline]
    pub(crate) fn next_transmission(&mut self, turn: &mut Turn<'_>) -> Option<Transmission> {
        if let Urgent::LossProbe(path) = self.urgent {
            self.urgent = Urgent::No;
            if let Some(probe) = self.next_probe(turn, path) {
                return Some(probe);
            }
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
        //# When the time comes for the sender to transmit, before sending
        //# new DATA chunks, the sender MUST first transmit any DATA chunks
        //# that are marked for retransmission (limited by the current cwnd).
        // The limit is that of the address they go to; new DATA to another address need not wait for it.
        let mut waits = None;
        if let Some(chunk) = self.next_lost() {
            let path = retransmission_path(chunk, turn.paths, turn.config);
            #[expect(clippy::cast_possible_truncation, reason = "a chunk fits into a packet")]
            let first_chunk_len = chunk.wire_len() as usize;
            // A closed window is probed by one packet; what else timed out waits for room.
            let is_held = self.remainder == Remainder::AfterSack || self.is_probe_in_flight();
            let has_window = !is_held && turn.paths[path].may_send_data();
            if self.urgent == Urgent::OnePacket || has_window && !turn.paths[path].is_held(turn.now) {
                return Some(Transmission { path, first_chunk_len, first: First::Lost });
            }
            if self.routing == Routing::Spread
                && !is_held
                && let Some((path, first_chunk_len)) = self.lost_elsewhere(turn, path)
            {
                return Some(Transmission { path, first_chunk_len, first: First::Lost });
            }
            if turn.config.new_data_after_timeout == NewDataAfterTimeout::RetransmissionsFirst {
                return None;
            }
            if self.routing == Routing::Current && path == turn.paths.current() {
                return None;
            }
            waits = Some(path);
        } else {
            self.urgent = Urgent::No;
        }
        let Some(len) = self.queue.next_len(self.max_payload(turn.paths)) else {
            self.limit_by_application(turn.paths);
            return None;
        };
        if self.outstanding.is_full() {
            return None;
        }
        if !self.peer_window.admits(len, self.outstanding.in_flight_payload()) {
            if self.outstanding.is_empty() {
                let path = turn.paths.current();
                self.peer_window.wait_closed(turn.now, turn.paths[path].rtt.rto());
            }
            return None;
        }
        let path = self.route_new(turn, waits)?;
        turn.paths[path].decay_when_idle(turn.now);
        let may_leave = turn.paths[path].may_send_data()
            && self.admits_new(turn, path)
            && !turn.paths[path].is_held(turn.now)
            && (turn.config.bundling_delay.is_zero() || !self.waits_for_more(turn, path));
        let first_chunk_len = self.wire_len(len);
        may_leave.then_some(Transmission { path, first_chunk_len, first: First::New })
    }

    /// Quick check in place of [`next_transmission`](Self::next_transmission) for the cases in which that clearly finds
    /// nothing: nothing waits to be sent, or a window keeps new DATA from following what is in flight. `false` if
    /// something may be found.
    #[expect(clippy::inline_always, reason = "it is asked behind every packet, and is no longer than a call")]
    #[inline(always)]
    pub(crate) fn finds_nothing(&self, paths: &mut Paths) -> bool {
        let is_due = self.abandonment.as_ref().is_some_and(|abandonment| abandonment.is_due());
        if self.urgent != Urgent::No || !self.lost.is_empty() || is_due {
            return false;
        }
        if self.routing != Routing::Current {
            return self.has_nothing_to_route(paths);
        }
        let max_payload = self.max_payload(paths);
        let current = paths.current();
        let path = &mut paths[current];
        let Some(len) = self.queue.next_len(max_payload) else {
            path.limit_by_application();
            return true;
        };
        let is_admitted = self.peer_window.admits(len, self.outstanding.in_flight_payload());
        path.flight_size > 0 && !(is_admitted && path.may_send_data())
    }

    /// A packet that goes out as a probe, whatever the congestion window says: new DATA if there is any and the peer
    /// has room for it, else the last chunk again.
    #[cold]
    fn next_probe(&mut self, turn: &mut Turn<'_>, path: PathId) -> Option<Transmission> {
        let new = self.queue.next_len(self.max_payload(turn.paths)).filter(|len| {
            self.may_carry_new(turn.paths, path, turn.config)
                && !self.outstanding.is_full()
                && self.peer_window.admits(*len, self.outstanding.in_flight_payload())
        });
        if let Some(len) = new {
            turn.paths[path].on_probe_sent(self.outstanding.next_tsn(), ProbeKind::New);
            return Some(Transmission { path, first_chunk_len: self.wire_len(len), first: First::New });
        }
        self.repeat_last(turn, path)?;
        self.urgent = Urgent::OnePacket;
        // What was lost before it may go elsewhere, and goes first; so does the chunk itself from a path that is not
        // active any more.
        let place = self.lost_for(turn, path)?;
        let first = self.lost.get(place).and_then(|tsn| self.outstanding.find(*tsn))?;
        let first_chunk_len = self.wire_len(first.data.payload.len());
        Some(Transmission { path, first_chunk_len, first: First::Lost })
    }

    /// Tells if new DATA may follow what is lost or in flight elsewhere.
    #[inline]
    fn admits_new(&mut self, turn: &Turn<'_>, path: PathId) -> bool {
        match turn.config.new_data_after_timeout {
            NewDataAfterTimeout::AssociationWindow => self.has_association_window(turn, path),
            NewDataAfterTimeout::PathWindow => true,
            NewDataAfterTimeout::RetransmissionsFirst => self.next_lost().is_none(),
        }
    }

    /// Tells if what is in flight or lost on any path leaves room in the window of `path`.
    #[inline(never)]
    fn has_association_window(&self, turn: &Turn<'_>, path: PathId) -> bool {
        let in_flight: u64 = turn.paths.iter().map(|path| path.flight_size).sum();
        in_flight + self.lost_bytes() < turn.paths[path].cwnd()
    }

    /// Tells if a chunk is in flight that probes the closed window of the peer.
    pub(super) fn is_probe_in_flight(&self) -> bool {
        let probe = self.peer_window.outstanding_probe().and_then(|tsn| self.outstanding.find(tsn));
        probe.is_some_and(|chunk| chunk.state.is_in_flight())
    }

    /// Bytes of the chunks that wait to be retransmitted.
    fn lost_bytes(&self) -> u64 {
        let is_lost = |chunk: &&OutstandingChunk| matches!(chunk.state, ChunkState::Lost(_));
        let chunks = self.lost.iter().filter_map(|tsn| self.outstanding.find(*tsn));
        chunks.filter(is_lost).map(OutstandingChunk::wire_len).sum()
    }

    /// Fills a packet that has been started, may hold control chunks, and has room for the first chunk of a
    /// transmission.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        turn: &mut Turn<'_>,
        builder: &mut PacketBuilder,
        transmission: Transmission,
    ) {
        let Transmission { path, first, .. } = transmission;
        turn.paths[path].on_data_packet(turn.now);
        let before = self.outstanding.len();
        match first {
            First::Lost => self.fill_with_lost(turn, builder, path),
            First::New => {
                self.fill_with_new(turn, builder, path);
                self.schedule_probe(turn, path);
            }
        }
        let needed_mtu = turn.paths[path].needed_mtu(builder.len());
        self.outstanding.set_needed_mtu_from(before, needed_mtu);
        if first == First::Lost {
            for tsn in self.packed.drain(..) {
                if let Some(chunk) = self.outstanding.find_mut(tsn) {
                    chunk.needed_mtu = needed_mtu;
                }
            }
        }
    }

    /// Tells if the network may mark the packet of a transmission that has been [filled](Self::fill), in place of
    /// dropping it. The loss of a retransmission, or of a probe of the peer's window, would not be noticed.
    //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.5
    //# This document specifies ECN-capable TCP implementations MUST NOT set
    //# either ECT codepoint (ECT(0) or ECT(1)) in the IP header for
    //# retransmitted data packets
    pub(crate) fn may_be_marked(&self, transmission: Transmission) -> bool {
        transmission.first == First::New && self.peer_window.outstanding_probe().is_none()
    }

    /// Puts as much of what is lost into a packet as goes where it goes, and new DATA behind it.
    #[cold]
    fn fill_with_lost(&mut self, turn: &mut Turn<'_>, builder: &mut PacketBuilder, path: PathId) {
        let mut retransmitted = false;
        while self.doomed_next(turn.now).is_none()
            && let Some(place) = self.lost_for(turn, path)
        {
            let Some(chunk) = self.lost.get(place).and_then(|tsn| self.outstanding.find(*tsn)) else { break };
            let tsn = chunk.data.tsn;
            // The first may have been cut for a larger MTU: IP has to fragment the packet then (section 6.9).
            if !builder.is_empty() && chunk.wire_len() > builder.room() as u64 {
                break;
            }
            put(builder, &self.outstanding, chunk);
            self.lost.remove(place);
            self.retransmit(turn, path, tsn);
            self.packed.push(tsn);
            self.urgent = Urgent::No;
            retransmitted = true;
        }
        // A packet of retransmissions takes new DATA along, but only inside the window, and not past what is lost.
        let has_window = !retransmitted || (turn.paths[path].has_window() && self.admits_new(turn, path));
        let is_next = self.lost_for(turn, path).is_none();
        let may_follow = self.may_carry_new(turn.paths, path, turn.config) && has_window && is_next;
        if may_follow && self.next_fits(turn, builder) {
            self.fill_with_new(turn, builder, path);
            self.schedule_probe(turn, path);
        }
    }

    /// Puts the first DATA of all behind what a packet to `path` holds already, as far as the peer's window lets it.
    pub(crate) fn bundle_new(&mut self, turn: &mut Turn<'_>, builder: &mut PacketBuilder, path: PathId) {
        let is_for_all =
            self.routing == Routing::Current || self.may_carry_new(turn.paths, path, turn.config);
        if is_for_all && self.next_fits(turn, builder) {
            let before = self.outstanding.len();
            self.fill_with_new(turn, builder, path);
            turn.paths[path].on_data_packet(turn.now);
            let needed_mtu = turn.paths[path].needed_mtu(builder.len());
            self.outstanding.set_needed_mtu_from(before, needed_mtu);
        }
    }

    /// Tells if there is a chunk that has not been sent, and both the packet and the peer have room for it.
    #[inline]
    fn next_fits(&self, turn: &Turn<'_>, builder: &PacketBuilder) -> bool {
        let room = if builder.is_empty() { usize::MAX } else { builder.room() };
        self.next_fits_into(self.max_payload(turn.paths), room)
    }

    /// Variant of [`next_fits`](Self::next_fits) for so much room, in bytes.
    fn next_fits_into(&self, max_payload: usize, room: usize) -> bool {
        let Some(len) = self.queue.next_len(max_payload) else { return false };
        let is_admitted = self.peer_window.admits(len, self.outstanding.in_flight_payload());
        self.wire_len(len) <= room && is_admitted && !self.outstanding.is_full()
    }

    /// Puts the next chunk that has not been sent, which fits, into a packet, and all behind it that fit.
    #[inline]
    fn fill_with_new(&mut self, turn: &mut Turn<'_>, builder: &mut PacketBuilder, path: PathId) {
        let max_payload = self.max_payload(turn.paths);
        self.bundling = Bundling::Idle;
        if path != turn.paths.new_data && self.routing == Routing::Current {
            self.move_new_data(turn, path);
        }
        loop {
            let tsn = self.outstanding.next_tsn();
            // What most chunks are is moved from queue to window at once.
            if let Some((data, context)) = self.queue.take_whole(max_payload, tsn) {
                self.send(turn, builder, path, data, context, None);
            } else if !self.send_any(turn, builder, path, max_payload) {
                break;
            }
            let room = builder.room();
            if room < Data::wire_len(1) || !self.queue.may_follow() || !self.next_fits_into(max_payload, room)
            {
                break;
            }
            if self.routing != Routing::Current && !self.may_carry_new(turn.paths, path, turn.config) {
                break;
            }
        }
        self.queue.end_packet();
    }

    /// Notes that new DATA goes to another path from now on, and tells it if the former one does not answer.
    #[cold]
    fn move_new_data(&self, turn: &mut Turn<'_>, path: PathId) {
        let former = core::mem::replace(&mut turn.paths.new_data, path);
        // An address that the peer has deleted has not failed.
        if !turn.paths.ids().any(|known| known == former) {
            return;
        }
        let former = &turn.paths[former];
        let Some(silence) = former.silence.as_deref() else { return };
        let since = |at: Option<Instant>| at.map(|at| turn.now.saturating_since(at));
        // Where no path was active, the other one has answered just now.
        let decided = silence.decided.unwrap_or(turn.now);
        let notice = Notice::FailedOver {
            path: turn.paths[path].destination,
            former: former.destination,
            message: self.queue.next_context().filter(|context| *context != u64::MAX),
            unanswered_ns: since(former.last_answered),
            first_timeout_ns: since(silence.first_timeout),
            decided_ns: Some(turn.now.saturating_since(decided)),
        };
        turn.paths.moved_with = self.queue.next_number();
        turn.events.push_back(notice.event());
    }

    /// Puts the next chunk into a packet, be it a fragment. `false` if there is none.
    #[inline(never)]
    fn send_any(
        &mut self,
        turn: &mut Turn<'_>,
        builder: &mut PacketBuilder,
        path: PathId,
        max_payload: usize,
    ) -> bool {
        let Some(cut) = self.queue.take_any(max_payload, self.outstanding.next_tsn()) else { return false };
        if let Some(message) = cut.whole {
            self.outstanding.keep_fragmented(cut.data.tsn, message);
        }
        let (tsn, is_ending, perishable) = (cut.data.tsn, cut.data.flags.is_ending(), cut.perishable);
        let place = self.outstanding.interleaves().then_some(cut.place);
        self.send(turn, builder, path, cut.data, cut.context, place);
        if let Some(arrival) = perishable {
            self.note_perishable_cut(arrival, tsn, is_ending);
        }
        true
    }

    /// Puts a chunk that has just left the queue into a packet. `place` is set if it is I-DATA.
    #[expect(clippy::inline_always, reason = "a chunk is large to move")]
    #[inline(always)]
    fn send(
        &mut self,
        turn: &mut Turn<'_>,
        builder: &mut PacketBuilder,
        path: PathId,
        mut data: Data,
        context: u64,
        place: Option<FragmentPlace>,
    ) {
        if turn.is_shutting_down && self.queue.is_empty() {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.1
            //# The sender is in the SHUTDOWN-PENDING state.
            data.flags = data.flags.with(DataFlags::IMMEDIATE);
        }
        let (tsn, in_flight) = (data.tsn, self.outstanding.in_flight_payload());
        let wire_len = wire_len(data.payload.len(), place.is_some()) as u64;
        let departure = turn.paths[path].on_chunk_sent(turn.now, tsn, wire_len, 1);
        let chunk = self.outstanding.push(data, context, path, departure, place);
        match place {
            Some(place) => builder.put_i_data(&chunk.data, place),
            None => builder.put_data(&chunk.data),
        }
        self.flight_order.add(path, tsn);
        trace(turn, chunk);
        if let Some(spread) = &mut self.spread {
            spread.add(path, chunk.payload_len());
        }
        self.peer_window.on_new_chunk(tsn, chunk.payload_len(), in_flight);
    }

    /// Notes that a lost chunk is retransmitted, to `path`.
    fn retransmit(&mut self, turn: &mut Turn<'_>, path: PathId, tsn: Tsn) {
        for other in turn.paths.iter_mut() {
            other.distrust_probe(tsn);
        }
        let before = self.outstanding.find(tsn).map(|chunk| chunk.state);
        let Some(chunk) = self.outstanding.set_state(tsn, ChunkState::InFlight) else { return };
        if let Some(ChunkState::Lost(Loss::LinkDown | Loss::Reported | Loss::TimedOut)) = before {
            turn.paths[chunk.path].note_repetition(tsn);
        }
        if before == Some(ChunkState::Lost(Loss::TimedOut)) {
            turn.paths[path].stats.timeout_retransmissions += 1;
        }
        chunk.is_ambiguous |= chunk.path != path;
        Self::note_shift(self.spread.as_mut(), chunk, path);
        chunk.path = path;
        chunk.transmissions += 1;
        chunk.departure =
            turn.paths[path].on_chunk_sent(turn.now, tsn, chunk.wire_len(), chunk.transmissions);
        self.flight_order.add(path, tsn);
        trace(turn, chunk);
    }

    /// The place of the lowest chunk among what is to be retransmitted that goes to `path`, if its turn has come.
    fn lost_for(&mut self, turn: &Turn<'_>, path: PathId) -> Option<usize> {
        let lowest = self.next_lost()?;
        if retransmission_path(lowest, turn.paths, turn.config) == path {
            return Some(0);
        }
        if self.routing == Routing::Spread { self.lost_behind(turn, |other| other == path) } else { None }
    }

    /// The payload that a chunk may have on any path.
    #[inline]
    pub(super) const fn max_payload(&self, paths: &Paths) -> usize {
        paths.amdcs() - self.outstanding.header_len()
    }

    /// Bytes that a chunk with such a payload takes in a packet, padding included.
    #[inline]
    const fn wire_len(&self, payload_len: usize) -> usize {
        Data::wire_len(payload_len) - Data::HEADER_LEN + self.outstanding.header_len()
    }

    /// The lowest chunk to be retransmitted.
    #[inline]
    pub(super) fn next_lost(&mut self) -> Option<&OutstandingChunk> {
        if self.lost.is_empty() { None } else { self.find_lost() }
    }

    #[cold]
    fn find_lost(&mut self) -> Option<&OutstandingChunk> {
        loop {
            let tsn = *self.lost.front()?;
            let is_lost = |chunk: &OutstandingChunk| matches!(chunk.state, ChunkState::Lost(_));
            if self.outstanding.find(tsn).is_some_and(is_lost) {
                return self.outstanding.find(tsn);
            }
            self.lost.pop_front();
        }
    }
}

/// Puts a chunk that is retransmitted, and fits or is the first, into a packet.
fn put(builder: &mut PacketBuilder, outstanding: &Outstanding, chunk: &OutstandingChunk) {
    if outstanding.interleaves() {
        builder.put_i_data(&chunk.data, outstanding.place(chunk.data.tsn));
    } else {
        builder.put_data(&chunk.data);
    }
}

/// Path for a lost chunk.
pub(super) fn retransmission_path(chunk: &OutstandingChunk, paths: &Paths, config: &SctpConfig) -> PathId {
    let last = chunk.path;
    let stays = match chunk.state {
        ChunkState::Lost(Loss::Reported) => match config.fast_retransmit_path {
            FastRetransmitPath::Alternate => false,
            FastRetransmitPath::LowestDelay => return paths.lowest_delay().unwrap_or(last),
            FastRetransmitPath::SamePath => true,
        },
        // Nothing is wrong with its path, or that is to be found out.
        ChunkState::Lost(Loss::Probed | Loss::Refused | Loss::TooBig) => true,
        ChunkState::Lost(Loss::LinkDown | Loss::TimedOut)
        | ChunkState::Abandoned
        | ChunkState::Acked
        | ChunkState::InFlight => false,
    };
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4
    //# When its peer is multi-homed, an endpoint SHOULD send fast
    //# retransmissions to the same destination transport address to which
    //# the original data was sent.

    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4
    //# when its peer is multi-homed, an endpoint SHOULD try to
    //# retransmit a chunk that timed out to an active destination transport
    //# address that is different from the last destination address to which
    //# the chunk was sent.
    if stays && paths[last].state == PathState::Active {
        return last;
    }
    let widest = if config.multipath.is_on() { Sender::widest(paths, last) } else { None };
    widest.unwrap_or_else(|| paths.alternate_to(last))
}

#[inline]
fn trace(turn: &mut Turn<'_>, chunk: &OutstandingChunk) {
    if turn.config.trace_messages {
        turn.events.push_back(Event::Transmitted {
            context: chunk.context,
            tsn: chunk.data.tsn,
            destination: turn.paths[chunk.path].destination,
            transmission: chunk.transmissions,
        });
    }
}

const _: () = assert!(Outstanding::LIMIT < 1 << 16);
