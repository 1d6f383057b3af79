//! An association from the end of its handshake to its own (RFC 9260, sections 5.4 and 6 to 9).
//!
//! It composes the sending half ([`crate::tx`]), the receiving half ([`crate::rx`]) and the paths
//! ([`crate::path`]), and decides in which order they may speak. The handshake, restarts and packets that
//! belong to no association are the endpoint's.

mod addresses;
mod authentication;
mod discovery;
mod ecn;
mod liveness;
mod local_address;
mod mib;
mod output;
mod primary;
mod receive;
mod reconfiguration;
mod return_path;
mod settings;
mod shutdown;
mod snapshot;
mod sources;
mod state;
mod take_over;
mod tracing;

pub(crate) use authentication::Authentication;
pub use authentication::KeyError;
pub use mib::{MibAssociation, MibLocalAddress, MibRemAddress, MibState, MibValue};
pub use output::Departing;
pub use snapshot::{AssociationSnapshot, AssociationStats};
pub use state::AssociationState;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::{Instant, Stream};
use smallvec::SmallVec;

use crate::cause::Cause;
use crate::chunk::{Abort, Chunk, CookieAck};
use crate::config::SctpConfig;
use crate::event::{CloseReason, Event, Message, SendError};
use crate::extension::Extension;
use crate::notice::Notice;
use crate::packet::{COMMON_HEADER_LEN, ChecksumPolicy, PacketBuilder, Seal};
use crate::path::{PathId, PathState, Paths};
use crate::rx::Receiver;
use crate::tcb::Tcb;
use crate::trace::Tracer;
use crate::tx::{Sender, Turn};
use crate::types::{StreamId, VerificationTag};
use addresses::Addresses;
use ecn::Ecn;
use output::PollStage;
use receive::Responses;
use reconfiguration::Reconfiguration;
use return_path::ReturnPath;
use sources::Sources;
use state::State;

/// Builds the `Turn` that the sending half works with: a macro, since a method would borrow the whole association.
macro_rules! turn {
    ($association:expr, $now:expr) => {
        Turn {
            now: $now,
            config: &$association.config,
            paths: &mut $association.paths,
            events: &mut $association.events,
            is_shutting_down: matches!($association.state, State::ShutdownPending),
        }
    };
}
use turn;

/// An established association.
#[derive(Clone, Debug)]
pub struct Association {
    config: Arc<SctpConfig>,
    tcb: Tcb,
    state: State,
    /// Wish of the layer above to end the association.
    is_end_wanted: bool,
    paths: Paths,
    sender: Sender,
    receiver: Receiver,
    return_path: ReturnPath,
    /// If both ends use it.
    ecn: Option<Box<Ecn>>,
    /// True if DATA may have to be refused or held: chunks are I-DATA, or streams may change.
    inspects_data: bool,
    /// If both ends may change their streams.
    reconfiguration: Option<Box<Reconfiguration>>,
    /// If both ends may change their addresses.
    addresses: Option<Box<Addresses>>,
    /// If both ends authenticate chunks.
    authentication: Option<Box<Authentication>>,
    /// Control chunks that answer or probe, each for its path.
    control: VecDeque<(PathId, Chunk)>,
    responses: Responses,
    /// Retransmissions in a row, over all paths, that the peer has not answered.
    error_count: u32,
    events: VecDeque<Event>,
    seal: Seal,
    random: Stream,
    /// Instant at which the paths' bursts were refilled last.
    burst_at: Option<Instant>,
    poll_stage: PollStage,
    sources: Sources,
    /// Addresses of ours that no packet can leave from now.
    down: SmallVec<[IpAddr; 2]>,
    /// The address of the peer that the layer above wants DATA at, if it has named one.
    wanted_primary: Option<IpAddr>,
    /// The path that takes its place if it answers first.
    stand_in: Option<PathId>,
    /// True if routes are to be asked for anew: addresses have changed.
    wants_routes: bool,
    stats: AssociationStats,
    /// Instant at which the setup was over.
    established_at: Instant,
    /// Expirations of T1 until then.
    t1_expiries: u32,
    /// Values that were traced last, once there is a trace.
    tracer: Option<Box<Tracer>>,
}

impl Association {
    /// An association whose handshake has yielded `tcb`. `random` draws the nonces and jitter of HEARTBEATs.
    ///
    /// # Panics
    /// If none of the peer's addresses can be reached from one of ours.
    pub fn new(now: Instant, tcb: Tcb, config: Arc<SctpConfig>, mut random: Stream) -> Self {
        let mut paths = Paths::new(&tcb, &config);
        liveness::begin_heartbeats(now, &mut paths, &config, &mut random);
        let authentication = Authentication::negotiated(&tcb, &config);
        paths.reserve(authentication.as_ref().map_or(0, |state| state.data_overhead()));
        let control = discovery::begin(&mut paths);
        let addresses = Addresses::negotiated(&tcb, &paths);
        let reconfiguration = Reconfiguration::negotiated(&tcb);
        let seal = if tcb.omits_checksum && config.checksum == ChecksumPolicy::Compute {
            Seal::Zero
        } else {
            config.checksum.into()
        };
        let mut association = Self {
            sender: Sender::new(&tcb, &config),
            receiver: Receiver::new(tcb.peer_initial_tsn, tcb.inbound_streams, tcb.extensions, &config),
            return_path: ReturnPath::default(),
            ecn: tcb.uses_ecn.then(|| Box::new(Ecn::new())),
            inspects_data: reconfiguration.is_some() || tcb.extensions.contain(Extension::Interleaving),
            reconfiguration,
            addresses,
            authentication,
            config,
            state: State::Established,
            is_end_wanted: false,
            paths,
            control,
            responses: Responses::default(),
            error_count: 0,
            events: tcb
                .adaptation_layer
                .map(|code| Notice::AdaptationLayer { code }.event())
                .into_iter()
                .collect(),
            tcb,
            seal,
            random,
            burst_at: None,
            poll_stage: PollStage::Packets,
            sources: Sources::ByPrefix,
            down: SmallVec::new(),
            wanted_primary: None,
            stand_in: None,
            wants_routes: false,
            stats: AssociationStats::default(),
            established_at: now,
            t1_expiries: 0,
            tracer: None,
        };
        association.follow_wanted_primary();
        association
    }

    /// SEND: queues a message.
    #[expect(clippy::inline_always, reason = "a message is large to move")]
    #[inline(always)]
    pub fn send(&mut self, now: Instant, message: Message) -> Result<(), SendError> {
        match self.state {
            State::Established => {}
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# An endpoint SHOULD reject any new data request from its upper layer
            //# if it is in the SHUTDOWN-PENDING, SHUTDOWN-SENT, SHUTDOWN-RECEIVED,
            //# or SHUTDOWN-ACK-SENT state.
            State::ShutdownPending
            | State::ShutdownSent { .. }
            | State::ShutdownReceived { .. }
            | State::ShutdownAckSent { .. } => return Err(SendError::ShuttingDown),
            State::Closed { .. } => return Err(SendError::NoAssociation),
        }
        // What the layer above does at one moment is one burst; a SACK in between begins a new one anyway.
        let begins_burst = self.burst_at != Some(now);
        if begins_burst {
            self.begin_burst(now);
        }
        // Behind messages that could not leave at this moment it cannot either.
        if begins_burst || self.sender.has_no_queue() {
            self.poll_stage = PollStage::Packets;
        }
        if message.options.is_some() || self.reconfiguration.is_some() || self.sender.abandons() {
            return self.send_special(now, message);
        }
        self.sender.push(message, &self.config)
    }

    /// Sends a message that has options, may take the place of others in the send buffer, or has to wait until its
    /// stream has been reset.
    #[inline(never)]
    fn send_special(&mut self, now: Instant, message: Message) -> Result<(), SendError> {
        if let Some(options) = &message.options {
            if let Some(address) = options.destination {
                self.paths.find(address).ok_or(SendError::NoSuchDestination { address })?;
            }
            // A lifetime is a deadline.
            self.poll_stage = PollStage::Packets;
        }
        let message = if self.reconfiguration.is_some() {
            let Some(message) = self.hold_message(now, message)? else { return Ok(()) };
            message
        } else {
            message
        };
        let mut turn = turn!(self, now);
        self.sender.push_special(&mut turn, message)
    }

    /// SHUTDOWN: ends the association once all messages have been acknowledged.
    pub fn shutdown(&mut self, now: Instant) {
        self.begin_shutdown(now);
    }

    /// ABORT: ends the association at once and tells the peer why.
    pub fn abort(&mut self, _now: Instant, cause: Cause) {
        if self.state.is_closed() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-9.1
        //# When an endpoint decides to abort an existing association, it MUST
        //# send an ABORT chunk to its peer endpoint.
        let abort = Chunk::Abort(Abort::because(cause.clone()));
        let path = self.paths.current();
        self.poll_stage = PollStage::Packets;
        self.close(CloseReason::Aborted(cause), Some((path, abort)));
    }

    /// REQUEST HEARTBEAT: probes an address of the peer now. `false` if it is none.
    pub fn request_heartbeat(&mut self, now: Instant, address: IpAddr) -> bool {
        let Some(path) = self.paths.find(address) else { return false };
        self.poll_stage = PollStage::Packets;
        self.send_heartbeat(now, path);
        true
    }

    /// Sets the priority or weight of an outbound stream, as [`SctpConfig::stream_values`] does from the beginning.
    pub fn set_stream_value(&mut self, stream: StreamId, value: u16) {
        self.sender.set_stream_value(stream, value);
    }

    /// Holds messages back, so that they fill the receive buffer and close its window, until
    /// [`resume_delivery`](Self::resume_delivery).
    pub fn pause_delivery(&mut self) {
        self.receiver.pause();
    }

    /// Passes on the messages that were held back, and all that follow.
    pub fn resume_delivery(&mut self) {
        self.poll_stage = PollStage::Packets;
        let events = &mut self.events;
        self.receiver.resume(|event| events.push_back(event));
    }

    /// Counts so many bytes that were passed on as still in the receive buffer, whose window they close.
    pub fn set_unread(&mut self, bytes: u64) {
        self.poll_stage = PollStage::Packets;
        self.receiver.set_unread(bytes);
    }

    /// Passes on the first of the messages that were held back, and goes on holding back if there are others.
    pub fn deliver_next(&mut self) {
        self.poll_stage = PollStage::Packets;
        let events = &mut self.events;
        self.receiver.deliver_next(|event| events.push_back(event));
    }

    /// Tells if messages are held back.
    pub const fn is_delivery_paused(&self) -> bool {
        self.receiver.is_paused()
    }

    /// Tells if the peer is known to be at `address`.
    pub fn is_confirmed(&self, address: IpAddr) -> bool {
        self.paths.find(address).is_some_and(|path| self.paths[path].state != PathState::Unconfirmed)
    }

    /// The tag that packets to us carry.
    pub const fn local_tag(&self) -> VerificationTag {
        self.tcb.local_tag
    }

    /// The tag that packets to the peer carry.
    pub const fn peer_tag(&self) -> VerificationTag {
        self.tcb.peer_tag
    }

    /// Follows a peer that has answered a simultaneous INIT with another tag (RFC 9260, section 5.2.4, action
    /// B).
    pub const fn set_peer_tag(&mut self, tag: VerificationTag) {
        self.tcb.peer_tag = tag;
    }

    /// Gives what an association that is given up without an end leaves to the layer above: all that has arrived, and
    /// the messages that the peer has not acknowledged whole, in the order of their transmission. Then the outcomes of
    /// requests to change streams that have not been answered.
    pub fn into_remains(mut self) -> Vec<Event> {
        self.give_up();
        self.answer_requests();
        self.events.into()
    }

    /// Sends a COOKIE ACK to where the COOKIE ECHO has come from; to the primary address if that is none of the peer's.
    pub fn acknowledge_cookie(&mut self, now: Instant, source: IpAddr) {
        let known = self.paths.find(source);
        let path = known.unwrap_or_else(|| self.paths.current());
        self.poll_stage = PollStage::Packets;
        self.control.push_back((path, Chunk::CookieAck(CookieAck)));
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
        //# *  A COOKIE ACK chunk MAY be sent to an UNCONFIRMED address, but it
        //# MUST be bundled with a HEARTBEAT chunk including a nonce.
        // The way that the INIT came by may be dead, and the peer waits.
        if self.paths[path].state == PathState::Unconfirmed {
            self.send_heartbeat(now, path);
        }
    }

    /// Adds DATA to a packet to `destination` that has been started with a COOKIE ECHO, as part of the burst that its
    /// messages have begun.
    pub fn bundle_data(&mut self, now: Instant, builder: &mut PacketBuilder, destination: IpAddr) {
        let Some(path) = self.paths.find(destination) else { return };
        let mut turn = turn!(self, now);
        self.sender.bundle_new(&mut turn, builder, path);
    }

    /// Notes that a message was refused before this association was there and waits for room in its buffer.
    pub(crate) fn expect_room(&mut self, now: Instant) {
        let mut turn = turn!(self, now);
        self.sender.expect_room(&mut turn);
    }

    /// Bytes that the send buffer counts with among those of the endpoint.
    #[inline]
    pub(crate) fn held_for_sending(&self) -> u64 {
        self.sender.held()
    }

    /// Lets messages be handed over that take no more than `room`; then what one would take that was refused although
    /// the association's own buffer has room for it, if that is news.
    pub(crate) fn send_into<T>(&mut self, room: u64, send: impl FnOnce(&mut Self) -> T) -> (T, Option<u64>) {
        self.sender.limit(room, &self.config);
        let result = send(self);
        self.sender.lift_limit(&self.config);
        (result, self.sender.take_refused_by_all())
    }

    /// The endpoint has `room` for what was refused. `false` if nothing waits for that any more.
    pub(crate) fn announce_shared_room(&mut self, room: u64) -> bool {
        self.sender.announce_shared_room(room, &self.config, &mut self.events)
    }

    /// Instant at which the next message expires of which something has not been sent.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.sender.next_expiry()
    }

    /// Gives up what has expired before the association is there, and takes out all that is said of messages that have
    /// been given up: whoever sets the association up says it, since the setup may begin anew.
    pub(crate) fn take_abandoned(&mut self, now: Instant) -> Vec<Event> {
        if !self.sender.abandons() {
            return Vec::new();
        }
        let mut turn = turn!(self, now);
        self.sender.abandon_expired(&mut turn);
        let is_of_it = |event: &Event| matches!(event, Event::Abandoned { .. });
        let events = core::mem::take(&mut self.events).into_iter();
        let (abandoned, others): (Vec<_>, Vec<_>) = events.partition(is_of_it);
        self.events = others.into();
        abandoned
    }

    /// Tells if a message has been refused for want of room and room has not been announced since.
    pub(crate) fn owes_room(&self) -> bool {
        self.sender.owes_room()
    }

    /// Ends the association: everything that was not acknowledged has failed.
    fn close(&mut self, reason: CloseReason, farewell: Option<(PathId, Chunk)>) {
        self.poll_stage = PollStage::Packets;
        self.give_up();
        self.events.push_back(Event::Closed(reason));
        self.state = State::Closed { farewell: farewell.map(Box::new), in_order: None };
    }

    /// Ends the association as both ends have agreed to (RFC 9260, section 9.2).
    fn close_in_order(&mut self, now: Instant, farewell: Option<(PathId, Chunk)>) {
        self.close(CloseReason::ShutdownComplete, farewell);
        if let State::Closed { in_order, .. } = &mut self.state {
            *in_order = Some(now);
        }
    }

    /// Instant at which the association was shut down; `None` while it is up, and if it has ended otherwise.
    pub(crate) const fn ended_in_order_at(&self) -> Option<Instant> {
        match self.state {
            State::Closed { in_order, .. } => in_order,
            _ => None,
        }
    }

    /// Hands over what was held back for a reader that pauses, since nothing follows, and what was not acknowledged.
    fn give_up(&mut self) {
        let events = &mut self.events;
        self.receiver.finish(|event| events.push_back(event));
        let reports = self.config.report_acknowledged;
        let failed = self.sender.drain_messages(|context| {
            // It has been said to be there for good, but not cumulatively.
            if reports {
                events.push_back(Event::Acknowledged { context });
            }
        });
        self.events
            .extend(failed.into_iter().map(|(message, was_sent)| Event::SendFailed { message, was_sent }));
        if let Some(state) = &mut self.reconfiguration {
            let held = state.drain_messages();
            self.events.extend(held.map(|message| Event::SendFailed { message, was_sent: false }));
        }
    }

    /// Begins a new burst on every path. An input that comes before the packets of the last one have been taken adds to
    /// its burst: a driver that hands in several packets at a time gets what they release one by one.
    #[expect(clippy::inline_always, reason = "each packet passes it, and most associations have one path")]
    #[inline(always)]
    fn refill_bursts(&mut self, now: Instant) {
        let is_undrained = self.poll_stage != PollStage::Events && self.burst_at == Some(now);
        self.burst_at = Some(now);
        let max_burst = self.config.max_burst;
        if is_undrained {
            self.paths.for_each(|path| path.extend_burst(max_burst));
        } else {
            self.paths.for_each(|path| path.refill_burst(max_burst));
        }
    }

    /// Variant of [`refill_bursts`](Self::refill_bursts), not inlined, for the few of many messages that begin a burst.
    #[inline(never)]
    fn begin_burst(&mut self, now: Instant) {
        self.refill_bursts(now);
    }

    /// The longest SCTP packet to `path`, in bytes.
    fn max_packet_len(&self, path: PathId) -> usize {
        self.paths[path].pmdcs() + COMMON_HEADER_LEN
    }
}

#[cfg(test)]
mod tests;
