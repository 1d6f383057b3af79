//! A packet arrives: each chunk to the part that it concerns (RFC 9260, section 6.10: in their order).

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_wire::WireError;
use slantpath_wire::ip::{Ecn, IpFields};

use super::authentication::Verdict;
use super::output::PollStage;
use super::state::State;
use super::{Association, turn};
use crate::cause::Cause;
use crate::chunk::{CHUNK_HEADER_LEN, Chunk, Data, Error, Heartbeat, kind};
use crate::event::{CloseReason, Event};
use crate::extension::Extension;
use crate::packet::{Chunks, FoundChunk, ParsedPacket};
use crate::path::{PathId, PathState};
use crate::policy::PathMtuDiscovery;
use crate::rx::DataFault;
use crate::trace::TraceEvent;
use crate::tx::{SackEffect, SackFault, SackView, Turn};
use crate::types::{Tsn, VerificationTag};
use crate::unknown::UnknownAction;

/// Decision to read or skip the rest of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Read,
    Skip,
}

/// Room that a packet keeps free of answers, in bytes: for a COOKIE ACK and whatever else a state sends beside them.
const RESERVED_FOR_OTHERS: usize = 16;

/// The answers to one packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Responses {
    /// Number of the packet among all that have arrived.
    packet: u64,
    /// Number of bytes of chunks that may follow.
    room: usize,
}

/// The packet that a chunk came in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The path that it came on, if from a known address.
    from: Option<PathId>,
    tag: VerificationTag,
    packet_len: usize,
    /// IP header fields of the packet.
    ip: IpFields,
}

impl Arrived {
    /// An address of the peer is deleted.
    pub(super) fn forget_path(&mut self, path: PathId) {
        self.from = self.from.filter(|from| *from != path);
    }
}

impl Association {
    /// Takes in a packet that the endpoint has found to belong here, verification tag and all. Chunks of the
    /// handshake in it have been dealt with.
    /// `ip` is what its IP header says.
    pub fn handle_packet(&mut self, now: Instant, packet: &ParsedPacket<'_>, source: IpAddr, ip: IpFields) {
        if self.state.is_closed() {
            return;
        }
        let mut from = self.paths.find(source);
        self.stats.packets_received += 1;
        self.refill_bursts(now);
        self.poll_stage = PollStage::Packets;
        self.on_peer_heard(now);
        let mut arrived = Arrived { from, tag: packet.header.verification_tag, packet_len: packet.len(), ip };
        let mut chunks = packet.chunks();
        let mut is_authenticated = false;
        let is_guarded = self.addresses.is_some() || self.authentication.is_some();
        while let Some(found) = chunks.next_header() {
            let Ok(found) = found else {
                self.stats.malformed_chunks += 1;
                continue;
            };
            if is_guarded {
                // An ASCONF in front may have changed it.
                from = self.paths.find(source);
                arrived.from = from;
                match self.judge_chunk(now, &chunks, found, &mut is_authenticated, from) {
                    Verdict::Read => {}
                    Verdict::PassOver => continue,
                    Verdict::Stop | Verdict::Forged(_) | Verdict::Unsupported(_) => break,
                }
            }
            // DATA and plain SACKs, which make up traffic, pass without being moved as what the longest chunk takes.
            let read = match found.header.kind {
                kind::DATA => chunks.read_data(found, |data| self.on_data(now, data, arrived)),
                kind::SACK => match chunks.read_plain_sack(found) {
                    Some((cumulative_tsn_ack, a_rwnd)) => {
                        Ok(self.on_sack(now, SackView::of_plain_sack(cumulative_tsn_ack, a_rwnd, from)))
                    }
                    None => self.read_other(now, &chunks, found, arrived, source),
                },
                _ => self.read_other(now, &chunks, found, arrived, source),
            };
            match read {
                Ok(Rest::Read) => {}
                Ok(Rest::Skip) => break,
                Err(_) => self.stats.malformed_chunks += 1,
            }
        }
        if self.state.is_closed() {
            return;
        }
        if is_guarded {
            from = self.paths.find(source);
        }
        self.settle_marks(from);
        let brought_data = self.receiver.on_packet_end(now, &self.config);
        if self.reconfiguration.is_some() {
            self.progress_reconfiguration(now);
        }
        if is_guarded && self.addresses.is_some() {
            self.bound_control_while_muted();
        }
        if !matches!(self.state, State::Established) {
            if brought_data {
                self.answer_data_with_shutdown();
            }
            self.progress_shutdown(now);
        }
        self.foresee_packets();
    }

    #[inline(never)]
    fn read_other(
        &mut self,
        now: Instant,
        chunks: &Chunks<'_>,
        found: FoundChunk,
        arrived: Arrived,
        source: IpAddr,
    ) -> Result<Rest, WireError> {
        // SACKs are counted where they count; those of the setup by the endpoint.
        let of_others = [kind::SACK, kind::I_DATA, kind::INIT, kind::INIT_ACK, kind::COOKIE_ECHO];
        if !of_others.contains(&found.header.kind) {
            self.stats.control_chunks_received += 1;
        }
        //= https://www.rfc-editor.org/rfc/rfc3758#section-3.3.1
        //# It MUST instead act as if it does NOT support the
        //# FORWARD TSN chunk, returning an ERROR to the peer upon receipt of any
        //# FORWARD TSN.
        if found.header.kind == kind::FORWARD_TSN && !self.uses(Extension::PartialReliability) {
            let unknown = chunks.read_as_unknown(found);
            return Ok(self.on_unknown(&unknown, arrived.from));
        }
        chunks.read(found).map(|chunk| self.handle_chunk(now, chunk, arrived, source))
    }

    fn handle_chunk(&mut self, now: Instant, chunk: Chunk, arrived: Arrived, source: IpAddr) -> Rest {
        let Arrived { from, tag, .. } = arrived;
        match chunk {
            Chunk::Data(data) => self.on_data(now, data, arrived),
            Chunk::Sack(sack) => self.on_sack(now, SackView::of_sack(&sack, from)),
            Chunk::Heartbeat(heartbeat) => {
                self.on_heartbeat(heartbeat, from);
                Rest::Read
            }
            Chunk::HeartbeatAck(answer) => {
                self.on_heartbeat_ack(now, &answer.info);
                Rest::Read
            }
            Chunk::Abort(abort) => {
                if self.accepts_tag(tag, abort.is_tag_reflected) {
                    self.close(CloseReason::PeerAborted(abort.causes), None);
                }
                Rest::Skip
            }
            Chunk::Shutdown(shutdown) => {
                self.on_shutdown(now, shutdown.cumulative_tsn_ack, from);
                self.rest()
            }
            Chunk::ShutdownAck(_) => {
                self.on_shutdown_ack(now, from);
                self.rest()
            }
            Chunk::ShutdownComplete(complete) => {
                if self.accepts_tag(tag, complete.is_tag_reflected) {
                    self.on_shutdown_complete(now);
                }
                Rest::Skip
            }
            Chunk::Error(error) => {
                self.on_error(now, error.causes);
                Rest::Read
            }
            Chunk::ReConfig(request) if self.reconfiguration.is_some() => {
                self.on_re_config(now, request, from);
                self.rest()
            }
            Chunk::Asconf(asconf) if self.addresses.is_some() => {
                self.on_asconf(now, asconf, source);
                self.rest()
            }
            Chunk::AsconfAck(ack) if self.addresses.is_some() => {
                self.on_asconf_ack(now, &ack);
                self.rest()
            }
            Chunk::Ecne(ecne) => {
                self.on_ecne(now, ecne);
                Rest::Read
            }
            Chunk::Cwr(cwr) => {
                self.on_cwr(cwr);
                Rest::Read
            }
            //= https://www.rfc-editor.org/rfc/rfc4820#section-3
            //# The receiver of the PAD chunk MUST discard this chunk and continue
            //# processing the rest of the chunks in the packet.
            // INIT, INIT ACK, COOKIE ECHO and COOKIE ACK are the endpoint's.
            Chunk::Pad(_)
            | Chunk::Init(_)
            | Chunk::InitAck(_)
            | Chunk::CookieEcho(_)
            | Chunk::CookieAck(_) => Rest::Read,
            Chunk::NrSack(sack) if self.tcb.extensions.contain(Extension::NonRenegableSack) => {
                let mut blocks = sack.gap_ack_blocks.clone();
                blocks.extend_from_slice(&sack.non_renegable_blocks);
                self.on_sack(now, SackView::of_nr_sack(&sack, &blocks, from))
            }
            // What was not negotiated is not known.
            Chunk::Unknown { .. }
            | Chunk::ReConfig(_)
            | Chunk::Auth(_)
            | Chunk::Asconf(_)
            | Chunk::AsconfAck(_)
            | Chunk::NrSack(_) => self.on_unknown(&chunk, from),
            Chunk::ForwardTsn(_) | Chunk::IData(_) | Chunk::IForwardTsn(_) => {
                self.on_extension_chunk(now, chunk, arrived)
            }
        }
    }

    /// Tells if the tag of an ABORT or SHUTDOWN COMPLETE is accepted.
    fn accepts_tag(&self, tag: VerificationTag, is_reflected: bool) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5.1
        //# *  The receiver of a SHUTDOWN COMPLETE chunk accepts the packet if
        //# the Verification Tag field of the packet matches its own tag
        //# and the T bit is not set OR if it is set to its Peer's Tag and
        //# the T bit is set in the Chunk Flags.
        tag == if is_reflected { self.tcb.peer_tag } else { self.tcb.local_tag }
    }

    pub(super) fn on_data(&mut self, now: Instant, data: Data, arrived: Arrived) -> Rest {
        let Arrived { from, packet_len, ip, .. } = arrived;
        if !self.state.may_receive_data() {
            return Rest::Read;
        }
        if self.inspects_data {
            if self.uses(Extension::Interleaving) {
                return self.refuse_format(now);
            }
            if let Some(state) = &self.reconfiguration
                && state.comes_early(data.tsn, data.stream)
            {
                self.stats.data_chunks_received += 1;
                self.hold_chunk(data, arrived);
                return Rest::Read;
            }
        }
        self.stats.data_chunks_received += 1;
        if data.flags.is_unordered() {
            self.stats.unordered_chunks_received += 1;
        }
        if ip.ecn == Ecn::CongestionExperienced {
            self.on_marked_data(data.tsn);
        }
        if let Some(path) = from {
            self.follow_way_back(now, path, data.tsn);
        }
        let events = &mut self.events;
        let taken = self.receiver.on_data(data, packet_len, from, ip, |event| events.push_back(event));
        self.answer(now, taken, from)
    }

    /// Answers what is wrong with a DATA chunk, if anything is.
    #[inline]
    fn answer(&mut self, now: Instant, taken: Result<(), DataFault>, from: Option<PathId>) -> Rest {
        if let Err(fault) = taken {
            self.answer_fault(now, fault, from);
        }
        self.rest()
    }

    #[cold]
    fn answer_fault(&mut self, now: Instant, fault: DataFault, from: Option<PathId>) {
        match fault {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.5
            //# If an
            //# endpoint receives a DATA chunk with an invalid stream identifier, it
            //# SHOULD acknowledge the reception of the DATA chunk following the
            //# normal procedure, immediately send an ERROR chunk with cause set to
            //# "Invalid Stream Identifier" (see Section 3.3.10), and discard the
            //# DATA chunk.
            DataFault::InvalidStream(stream) => {
                self.report(Cause::InvalidStreamIdentifier(stream), from);
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
            //# If an endpoint receives a DATA chunk with no user data (i.e., the
            //# Length field is set to 16), it SHOULD send an ABORT chunk with a "No
            //# User Data" error cause.
            DataFault::NoUserData(tsn) => self.abort(now, Cause::NoUserData(tsn)),
            DataFault::NoRoomForMessage => self.abort(now, Cause::OutOfResource),
            DataFault::Contradiction(hint) => self.abort(now, Cause::violation(hint)),
        }
    }

    /// FORWARD TSN, where it has been agreed on, or a chunk of RFC 8260.
    #[inline(never)]
    fn on_extension_chunk(&mut self, now: Instant, chunk: Chunk, arrived: Arrived) -> Rest {
        let from = arrived.from;
        if !self.state.may_receive_data() {
            return Rest::Read;
        }
        let interleaves = self.uses(Extension::Interleaving);
        let may_skip = self.uses(Extension::PartialReliability);
        let events = &mut self.events;
        match chunk {
            Chunk::IData(chunk) if interleaves => {
                self.stats.data_chunks_received += 1;
                if let Some(state) = &self.reconfiguration
                    && state.comes_early(chunk.tsn, chunk.stream)
                {
                    // It comes again.
                    return Rest::Read;
                }
                self.stats.unordered_chunks_received += u64::from(chunk.flags.is_unordered());
                if arrived.ip.ecn == Ecn::CongestionExperienced {
                    self.on_marked_data(chunk.tsn);
                }
                if let Some(path) = from {
                    self.follow_way_back(now, path, chunk.tsn);
                }
                let events = &mut self.events;
                let deliver = |event| events.push_back(event);
                let taken = self.receiver.on_i_data(chunk, arrived.packet_len, from, arrived.ip, deliver);
                return self.answer(now, taken, from);
            }
            Chunk::ForwardTsn(chunk) if !interleaves => {
                self.stats.forward_tsns_received += 1;
                self.receiver.on_forward_tsn(&chunk, from, |event| events.push_back(event));
            }
            Chunk::IForwardTsn(chunk) if interleaves && may_skip => {
                self.stats.forward_tsns_received += 1;
                self.receiver.on_i_forward_tsn(&chunk, from, |event| events.push_back(event));
            }
            _ => return self.refuse_format(now),
        }
        Rest::Read
    }

    //= https://www.rfc-editor.org/rfc/rfc8260#section-2.2.3
    //# If I-DATA support has been negotiated for an association, the
    //# reception of a DATA chunk is a violation of the above rules and
    //# therefore the receiver of the DATA chunk MUST abort the association
    //# by sending an ABORT chunk.

    //= https://www.rfc-editor.org/rfc/rfc8260#section-2.2.3
    //# The same applies if I-DATA support has not
    //# been negotiated for an association and an I-DATA chunk is received.
    #[cold]
    fn refuse_format(&mut self, now: Instant) -> Rest {
        self.abort(now, Cause::violation("a chunk is of the format that was not agreed on"));
        self.rest()
    }

    /// Tells if both ends have agreed on an extension.
    #[inline]
    const fn uses(&self, extension: Extension) -> bool {
        self.tcb.extensions.contain(extension)
    }

    #[inline]
    fn on_sack(&mut self, now: Instant, sack: SackView<'_>) -> Rest {
        self.stats.sacks_received += 1;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6
        //# A SACK chunk MUST be processed in ESTABLISHED, SHUTDOWN-PENDING, and
        //# SHUTDOWN-RECEIVED states.
        if self.state.may_send_data() {
            if let Some(gaps) = sack.gaps {
                self.stats.gap_ack_blocks_received += gaps.blocks.len() as u64;
                self.trace(|| TraceEvent::Sack {
                    cumulative_tsn: sack.cumulative_tsn_ack,
                    gap_blocks: u16::try_from(gaps.blocks.len()).unwrap_or(u16::MAX),
                    a_rwnd: gaps.a_rwnd,
                });
            }
            self.acknowledge(now, sack);
        }
        self.rest()
    }

    /// Takes the acknowledgement that a SHUTDOWN carries.
    pub(super) fn on_shutdown_acknowledgement(
        &mut self,
        now: Instant,
        cumulative_tsn_ack: Tsn,
        from: Option<PathId>,
    ) {
        self.acknowledge(now, SackView::of_shutdown(cumulative_tsn_ack, from));
    }

    fn acknowledge(&mut self, now: Instant, sack: SackView<'_>) {
        if let Some(state) = &self.reconfiguration
            && state.awaits_new_numbers()
        {
            // Nothing is outstanding, and the numbers may be the new ones.
            return;
        }
        let mut turn = turn!(self, now);
        match self.sender.on_sack(&mut turn, sack) {
            Ok(effect) => {
                if self.config.path_mtu_discovery == PathMtuDiscovery::Probing {
                    self.follow_losses(now);
                }
                self.conclude(effect);
            }
            // One from before an association reset has been under way for long.
            Err(SackFault) if self.has_old_numbers_under_way(now) => {}
            Err(SackFault) => self.abort(now, Cause::violation("a TSN was acknowledged that was never sent")),
        }
    }

    #[inline]
    fn conclude(&mut self, effect: SackEffect) {
        match effect {
            SackEffect::Acknowledged => self.on_data_acknowledged(),
            SackEffect::ProbeAnswered => self.on_probe_answered(),
            SackEffect::Nothing | SackEffect::Stale => {}
        }
    }

    /// Path of an answer to a control chunk from `from`.
    //
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4
    //# An endpoint SHOULD transmit reply chunks (e.g., INIT ACK, COOKIE ACK,
    //# and HEARTBEAT ACK) in response to control chunks to the same
    //# destination transport address from which it received the control
    //# chunk to which it is replying.
    pub(super) fn reply_path(&self, from: Option<PathId>) -> PathId {
        let is_confirmed = |path: &PathId| self.paths[*path].state != PathState::Unconfirmed;
        from.filter(is_confirmed).unwrap_or_else(|| self.paths.current())
    }

    fn on_heartbeat(&mut self, heartbeat: Heartbeat, from: Option<PathId>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.6
        //# A packet containing the
        //# HEARTBEAT ACK chunk is always sent to the source IP address of the IP
        //# datagram containing the HEARTBEAT chunk to which this HEARTBEAT ACK
        //# chunk is responding.
        if let Some(path) = from
            && self.state.answers_heartbeats()
        {
            self.respond(path, Chunk::HeartbeatAck(heartbeat.into_ack()));
        }
    }

    fn on_error(&mut self, now: Instant, mut causes: Vec<Cause>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.6
        //# In all cases, if the association is not in the COOKIE-ECHOED state,
        //# the ERROR chunk SHOULD be silently discarded.
        causes.retain(|cause| !matches!(cause, Cause::StaleCookie { .. }));
        for cause in &causes {
            if let Cause::UnrecognizedChunkType(quoted) = cause {
                self.on_asconf_unknown(now, quoted);
            }
        }
        if !causes.is_empty() {
            self.events.push_back(Event::PeerReported(causes));
        }
    }

    fn on_unknown(&mut self, chunk: &Chunk, from: Option<PathId>) -> Rest {
        let action = UnknownAction::of_chunk(chunk.kind());
        if action.reports() {
            // The report of a chunk that fills a packet would not fit into one: its end is left out.
            let mut quoted = chunk.to_bytes();
            quoted.truncate(self.paths.amdcs() - 2 * CHUNK_HEADER_LEN);
            self.report(Cause::UnrecognizedChunkType(quoted), from);
        }
        if action.stops() { Rest::Skip } else { Rest::Read }
    }

    /// Sends an ERROR back to where its reason came from.
    pub(super) fn report(&mut self, cause: Cause, from: Option<PathId>) {
        let path = self.reply_path(from);
        self.respond(path, Chunk::Error(Error::because(cause)));
    }

    /// Answers the packet at hand by a control chunk, as long as all its answers fit one packet.
    fn respond(&mut self, path: PathId, chunk: Chunk) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-12.4
        //# the sender of the response
        //# chunk(s) MUST NOT send more than one packet containing chunks other
        //# than DATA chunks.
        // Whatever is first is answered, however long it is.
        let packet = self.stats.packets_received;
        let len = chunk.to_bytes().len().next_multiple_of(4);
        let room = match self.responses {
            Responses { packet: last, room } if last == packet => room,
            _ => self.paths.amdcs().saturating_sub(RESERVED_FOR_OTHERS).max(len),
        };
        let Some(left) = room.checked_sub(len) else {
            self.stats.responses_omitted += 1;
            return;
        };
        self.responses = Responses { packet, room: left };
        self.control.push_back((path, chunk));
    }

    const fn rest(&self) -> Rest {
        if matches!(self.state, State::Closed { .. }) { Rest::Skip } else { Rest::Read }
    }
}
