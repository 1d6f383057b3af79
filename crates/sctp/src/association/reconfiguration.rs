//! Streams are reset and added, and associations whose numbers begin anew (RFC 6525): our requests. What the peer asks
//! for is in [`peer`].
//!
//! A reset never overtakes what was handed over before it: the request waits until all messages of its streams have
//! been acknowledged, and what is handed over from then on waits until it has been answered.

mod commands;
mod peer;
mod queue;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};
use smallvec::SmallVec;

use super::output::PollStage;
use super::receive::Arrived;
use super::state::State;
use super::{Association, turn};
use crate::cause::Cause;
use crate::chunk::{
    Chunk, Data, NextTsns, ReConfig, ReconfigurationParameter, ReconfigurationResult, RequestSequence,
};
use crate::config::SctpConfig;
use crate::event::{Event, Message, SendError};
use crate::extension::Extension;
use crate::path::PathId;
use crate::reconfiguration::{StreamChange, StreamSet, StreamsChanged, is_success};
use crate::tcb::Tcb;
use crate::trace::Unanswered;
use crate::tx::{Turn, UnderWay};
use crate::types::{StreamId, Tsn};

/// State of an association that may change its streams.
#[derive(Clone, Debug)]
pub(super) struct Reconfiguration {
    /// The number of our next request.
    next_request: RequestSequence,
    /// The number of the peer's next request.
    expected_request: RequestSequence,
    own: Option<Request>,
    /// Requests of the layer above that follow; none without `own`.
    queued: VecDeque<Request>,
    /// Of the request of the layer above that came last.
    last_ordinal: u64,
    /// Streams that the peer has asked us to reset while `own` was not over, and the number of its request.
    asked: Option<(RequestSequence, StreamSet)>,
    /// Messages on streams that are to be reset, in their order, each with the ordinal of the last request before it.
    held: VecDeque<(u64, Message)>,
    deferred: Option<Deferred>,
    /// Answers to the peer's last RE-CONFIG with requests, for its retransmission: the number of each request and the
    /// answer.
    answers: SmallVec<[(RequestSequence, ReconfigurationParameter); 2]>,
    /// Instant at which an association reset was carried out last, at the request of either end.
    reset_at: Option<Instant>,
}

/// A request of ours.
#[derive(Clone, Debug)]
struct Request {
    /// Number of the request among those of the layer above, from one on; zero: the peer has asked for it.
    ordinal: u64,
    parts: SmallVec<[Part; 2]>,
    phase: Phase,
}

/// One of the changes of a request.
#[derive(Clone, Debug)]
struct Part {
    change: Change,
    /// Request sequence number, once it has been sent.
    sequence: RequestSequence,
    is_answered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    ResetOutbound {
        streams: StreamSet,
        /// The peer's request that it answers; `None`: the layer above has asked.
        answers: Option<RequestSequence>,
    },
    ResetInbound(StreamSet),
    ResetAssociation,
    AddOutbound {
        count: u16,
        /// True if the peer has asked for the streams.
        is_induced: bool,
    },
    AddInbound(u16),
}

/// Progress of a request.
#[derive(Clone, Debug)]
enum Phase {
    /// Waiting for the messages that were handed over before the request.
    Draining(UnderWay),
    /// Ready to be sent.
    Ready,
    /// Sent; the Re-configuration Timer runs.
    InFlight { chunk: ReConfig, path: PathId, deadline: Instant, silence: Silence },
}

/// Meaning of a missing answer when the timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// The peer may be gone.
    IsAnError,
    /// The peer has said that it is at work, and may wait so long before it is asked again.
    IsExpected { wait: Duration },
}

/// A request of the peer that waits for what has been sent before.
#[derive(Clone, Debug)]
enum Deferred {
    ResetInbound {
        request: RequestSequence,
        streams: StreamSet,
        /// The last TSN before the reset.
        last: Tsn,
        /// Chunks that came early, of messages behind the reset.
        held: Vec<(Data, Arrived)>,
    },
    ResetAssociation {
        request: RequestSequence,
    },
    /// Carried out, but messages wait until the HEARTBEAT in the packet with the answer has been answered: no DATA of
    /// ours must overtake the answer, from which on its numbers are the new ones.
    Confirming {
        /// Of that HEARTBEAT.
        nonce: Option<u64>,
        /// Instant at which the answer is retransmitted; `None`: it has been confirmed.
        again_at: Option<Instant>,
    },
}

/// Number of chunks behind a reset that are kept until it can be carried out. Others are dropped and retransmitted by
/// the peer: one that obeys the RFC sends none before the reset has been answered.
const MAX_HELD_CHUNKS: usize = 16;

/// Longest time for which a peer that reports the request as in progress is not asked again.
const MAX_WAIT: Duration = Duration::from_secs(60);

//= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.4
//# Only one SSN/TSN Reset Request SHOULD be sent within 30 seconds,
//# which is considered a maximum segment lifetime (the IP MSL).
const RESET_INTERVAL: Duration = Duration::from_secs(30);

impl Reconfiguration {
    /// Creates the state if both ends have offered the extension.
    pub(super) fn negotiated(tcb: &Tcb) -> Option<Box<Self>> {
        if !tcb.extensions.contain(Extension::Reconfiguration) {
            return None;
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-4.1
        //# It is a monotonically
        //# increasing number that is initialized to the same value as the
        //# initial TSN.
        Some(Box::new(Self {
            next_request: RequestSequence(tcb.local_initial_tsn.0),
            expected_request: RequestSequence(tcb.peer_initial_tsn.0),
            own: None,
            queued: VecDeque::new(),
            last_ordinal: 0,
            asked: None,
            held: VecDeque::new(),
            deferred: None,
            answers: SmallVec::new(),
            reset_at: None,
        }))
    }

    /// Whatever is repeated on one path goes to another from now on.
    pub(super) fn replace_path(&mut self, from: PathId, to: PathId) {
        if let Some(Request { phase: Phase::InFlight { path, .. }, .. }) = &mut self.own
            && *path == from
        {
            *path = to;
        }
        // What confirms new numbers is not looked for elsewhere: a HEARTBEAT that is under way there may have left
        // before the answer that tells them, which is retransmitted.
        if let Some(Deferred::ResetInbound { held, .. }) = &mut self.deferred {
            for (_, arrived) in held.iter_mut() {
                arrived.forget_path(from);
            }
        }
    }

    /// A HEARTBEAT has been answered. Only the one that went along with the answer shows that this has arrived.
    pub(super) fn on_heartbeat_ack(&mut self, answered: u64) {
        if let Some(Deferred::Confirming { nonce, again_at }) = &mut self.deferred
            && *nonce == Some(answered)
        {
            *again_at = None;
        }
    }

    /// Instant at which the Re-configuration Timer expires.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let again_at = match self.deferred {
            Some(Deferred::Confirming { again_at, .. }) => again_at,
            Some(Deferred::ResetInbound { .. } | Deferred::ResetAssociation { .. }) | None => None,
        };
        let deadline = match self.own.as_ref().map(|own| &own.phase) {
            Some(Phase::InFlight { deadline, .. }) => Some(*deadline),
            Some(Phase::Draining(_) | Phase::Ready) | None => None,
        };
        deadline.into_iter().chain(again_at).min()
    }

    /// Tells if no message is held for a reset.
    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// The messages that wait for a reset.
    pub(super) fn drain_messages(&mut self) -> impl Iterator<Item = Message> + '_ {
        self.held.drain(..).map(|(_, message)| message)
    }

    /// Tells if a message on `stream` waits for a reset that was asked for before it, by the layer above with an
    /// ordinal up to `ordinal`, or by the peer.
    fn holds(&self, ordinal: u64, stream: StreamId) -> bool {
        matches!(self.deferred, Some(Deferred::ResetAssociation { .. } | Deferred::Confirming { .. }))
            || self.requests().any(|request| request.ordinal <= ordinal && request.holds(stream))
    }

    /// Tells if an association reset of ours is in flight: what is acknowledged now may have been sent before or after
    /// it.
    pub(super) fn awaits_new_numbers(&self) -> bool {
        let is_reset = |part: &Part| part.change == Change::ResetAssociation;
        self.own.as_ref().is_some_and(|own| own.is_in_flight() && own.parts.iter().any(is_reset))
    }

    /// Tells if a DATA chunk has come before the reset of its stream that is in front of it could be carried out.
    #[inline]
    pub(super) fn comes_early(&self, tsn: Tsn, stream: StreamId) -> bool {
        match &self.deferred {
            Some(Deferred::ResetInbound { streams, last, .. }) => {
                tsn.is_after(*last) && streams.contains(stream)
            }
            Some(Deferred::ResetAssociation { .. } | Deferred::Confirming { .. }) | None => false,
        }
    }
}

impl Request {
    fn new(changes: impl IntoIterator<Item = Change>) -> Self {
        let parts = changes.into_iter().map(|change| Part {
            change,
            sequence: RequestSequence(0),
            is_answered: false,
        });
        Self { ordinal: 0, parts: parts.collect(), phase: Phase::Ready }
    }

    const fn is_in_flight(&self) -> bool {
        matches!(self.phase, Phase::InFlight { .. })
    }

    /// Tells if the request has been sent and is over only once the peer has reset the streams that it sends on.
    fn waits_for_peer(&self) -> bool {
        let waits = |part: &Part| !part.is_answered && matches!(part.change, Change::ResetInbound(_));
        self.is_in_flight() && self.parts.iter().any(waits)
    }

    /// Tells if a message on `stream` must have been acknowledged before the request leaves.
    fn waits_for(&self, stream: StreamId) -> bool {
        self.parts.iter().any(|part| match &part.change {
            Change::ResetOutbound { streams, .. } => streams.contains(stream),
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.4
            //# C2:  The sender has either no outstanding TSNs or considers all
            //# outstanding TSNs abandoned.
            Change::ResetAssociation => true,
            Change::ResetInbound(_) | Change::AddOutbound { .. } | Change::AddInbound(_) => false,
        })
    }
}

impl Change {
    /// Change that the layer above has asked for; `None` if the peer has.
    fn of_user(self) -> Option<StreamChange> {
        match self {
            Self::ResetOutbound { answers: Some(_), .. } | Self::AddOutbound { is_induced: true, .. } => None,
            Self::ResetOutbound { streams, answers: None } => {
                Some(StreamChange::ResetOutbound(streams.listed().into()))
            }
            Self::ResetInbound(streams) => Some(StreamChange::ResetInbound(streams.listed().into())),
            Self::ResetAssociation => Some(StreamChange::ResetAssociation),
            Self::AddOutbound { count, .. } => Some(StreamChange::AddOutbound(count)),
            Self::AddInbound(count) => Some(StreamChange::AddInbound(count)),
        }
    }
}

impl Association {
    fn request(&mut self, now: Instant, request: Request) {
        let most = self.longest_list();
        if let Some(state) = &mut self.reconfiguration {
            state.put(request, most);
            self.poll_stage = PollStage::Packets;
            self.find_what_is_under_way();
            self.send_request(now);
        }
    }

    /// Queues a message behind a reset that is under way on its stream; hands it back if there is none.
    #[cold]
    pub(super) fn hold_message(
        &mut self,
        now: Instant,
        message: Message,
    ) -> Result<Option<Message>, SendError> {
        let is_held = |state: &Reconfiguration| state.holds(state.last_ordinal, message.stream);
        if !self.reconfiguration.as_deref().is_some_and(is_held) {
            return Ok(Some(message));
        }
        let mut turn = turn!(self, now);
        self.sender.admit(&mut turn, &message)?;
        if let Some(state) = &mut self.reconfiguration {
            state.held.push_back((state.last_ordinal, message));
        }
        Ok(None)
    }

    /// Something has been acknowledged, or has arrived: goes on with what has waited for it.
    #[cold]
    pub(super) fn progress_reconfiguration(&mut self, now: Instant) {
        self.progress_deferred(now);
        let Some(own) = self.reconfiguration.as_mut().and_then(|state| state.own.as_mut()) else { return };
        if let Phase::Draining(until) = own.phase
            && self.sender.has_come(until)
        {
            own.phase = Phase::Ready;
            self.find_what_is_under_way();
        }
        self.send_request(now);
    }

    /// Finds out whether a request that is ready has to wait after all.
    fn find_what_is_under_way(&mut self) {
        let Some(own) = self.reconfiguration.as_mut().and_then(|state| state.own.as_mut()) else { return };
        if let Phase::Ready = own.phase
            && let Some(until) = self.sender.under_way(|stream| own.waits_for(stream))
        {
            own.phase = Phase::Draining(until);
        }
    }

    /// Sends the request that is ready, if there is one, in a chunk of its own.
    fn send_request(&mut self, now: Instant) {
        let path = self.paths.current();
        if let Some(chunk) = self.depart(now, path) {
            self.control.push_back((path, Chunk::ReConfig(chunk)));
            self.poll_stage = PollStage::Packets;
        }
    }

    /// Numbers the request that is ready, if there is one, and starts its timer.
    fn depart(&mut self, now: Instant, path: PathId) -> Option<ReConfig> {
        let last_assigned_tsn = self.sender.last_assigned_tsn();
        let rto = self.paths[path].rtt.rto();
        let state = self.reconfiguration.as_mut()?;
        let expected = state.expected_request;
        if state.has_held_before_own() {
            return None;
        }
        let own = state.own.as_mut().filter(|own| matches!(own.phase, Phase::Ready))?;
        let mut parameters = Vec::new();
        for part in &mut own.parts {
            part.sequence = state.next_request;
            state.next_request = state.next_request.next();
            let request = part.sequence;
            parameters.push(match &part.change {
                Change::ResetOutbound { streams, answers } => ReconfigurationParameter::OutgoingSsnReset {
                    request,
                    //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.2
                    //# The
                    //# Re-configuration Response Sequence Number is the next expected
                    //# Re-configuration Request Sequence Number of the peer minus 1.
                    response: answers.unwrap_or(expected.minus(1)),
                    last_assigned_tsn,
                    streams: streams.listed().to_vec(),
                },
                Change::ResetInbound(streams) => {
                    ReconfigurationParameter::IncomingSsnReset { request, streams: streams.listed().to_vec() }
                }
                Change::ResetAssociation => ReconfigurationParameter::SsnTsnReset { request },
                Change::AddOutbound { count, .. } => {
                    ReconfigurationParameter::AddOutgoingStreams { request, count: *count }
                }
                Change::AddInbound(count) => {
                    ReconfigurationParameter::AddIncomingStreams { request, count: *count }
                }
            });
            if let Change::ResetOutbound { answers: Some(answered), .. } = &part.change
                && let Some((_, answer)) = state.answers.iter_mut().find(|(of, _)| of == answered)
                && let Some(parameter) = parameters.last()
            {
                *answer = parameter.clone();
            }
        }
        let chunk = ReConfig { parameters };
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.1
        //# This
        //# timer MUST use the same value as SCTP's data transmission timer
        //# (i.e., the retransmission timeout (RTO) timer) and MUST use
        //# exponential backoff, doubling the value at every expiration.
        let silence = Silence::IsAnError;
        own.phase = Phase::InFlight { chunk: chunk.clone(), path, deadline: now + rto, silence };
        Some(chunk)
    }

    /// The Re-configuration Timer may have expired.
    pub(super) fn on_reconfiguration_deadline(&mut self, now: Instant) {
        let Some(own) = self.reconfiguration.as_mut().and_then(|state| state.own.as_mut()) else { return };
        let Phase::InFlight { path, deadline, silence, .. } = own.phase else { return };
        if deadline > now {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.1
        //# If the
        //# timer expires, besides doubling the value, the sender MUST retransmit
        //# the RE-CONFIG chunk, increment the appropriate error counts (for both
        //# the association and the destination), and perform threshold
        //# management, possibly destroying the association if SCTP
        //# retransmission thresholds are exceeded.
        let next_path = match silence {
            Silence::IsAnError => {
                self.paths[path].rtt.back_off();
                self.count_error(now, path, Unanswered::ReConfig, true);
                self.paths.alternate_to(path)
            }
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
            //# If
            //# the timer runs out, the RE-CONFIG chunk MUST be retransmitted
            //# but the corresponding error counters MUST NOT be incremented.
            Silence::IsExpected { .. } => self.paths.current(),
        };
        if self.state.is_closed() {
            return;
        }
        let rto = self.paths[next_path].rtt.rto();
        let Some(own) = self.reconfiguration.as_mut().and_then(|state| state.own.as_mut()) else { return };
        if let Phase::InFlight { chunk, path, deadline, silence } = &mut own.phase {
            *path = next_path;
            *deadline = match silence {
                // Once it has been asked again, an answer is expected as soon as of anything else.
                Silence::IsAnError => now + rto,
                Silence::IsExpected { wait } => {
                    let next = wait.saturating_mul(2).min(MAX_WAIT);
                    *silence = Silence::IsExpected { wait: next };
                    now + next
                }
            };
            self.control.push_back((next_path, Chunk::ReConfig(chunk.clone())));
            self.poll_stage = PollStage::Packets;
        }
    }

    /// The peer has answered a request.
    fn on_response(
        &mut self,
        now: Instant,
        response: RequestSequence,
        result: ReconfigurationResult,
        next_tsns: Option<NextTsns>,
    ) {
        let Some(own) = self.reconfiguration.as_mut().and_then(|state| state.own.as_mut()) else { return };
        let Phase::InFlight { path, deadline, silence, .. } = &mut own.phase else { return };
        let is_meant = |part: &&mut Part| part.sequence == response && !part.is_answered;
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
        //# If
        //# the timer was not running for the Re-configuration Request
        //# Sequence Number, the processing of the Re-configuration Response
        //# Parameter is complete.
        let Some(part) = own.parts.iter_mut().find(is_meant) else { return };
        // Whatever it says, the peer is there.
        self.error_count = 0;
        if result == ReconfigurationResult::InProgress {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
            //# H2:  If the Result field indicates "In progress", the timer for the
            //# Re-configuration Request Sequence Number is started again.
            let wait = match silence {
                Silence::IsAnError => self.paths[*path].rtt.rto(),
                Silence::IsExpected { wait } => *wait,
            };
            *silence = Silence::IsExpected { wait };
            *deadline = now + wait;
            return;
        }
        part.is_answered = true;
        let change = part.change.clone();
        if is_success(result) {
            self.carry_out(now, &change, next_tsns);
        }
        if self.state.is_closed() {
            return;
        }
        if let Some(change) = change.of_user() {
            self.events.push_back(Event::ReconfigurationAnswered { change, result });
        }
        self.settle_request(now);
    }

    /// The peer has done its part of a change of ours.
    fn carry_out(&mut self, now: Instant, change: &Change, next_tsns: Option<NextTsns>) {
        let changed = match change {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
            //# H4:  If the request was an Outgoing SSN Reset Request, the affected
            //# streams MUST now be reset and all queued data should now be
            //# processed.
            Change::ResetOutbound { streams, .. } => {
                self.sender.reset_streams(|stream| streams.contains(stream));
                StreamsChanged::OutboundReset(streams.listed().into())
            }
            Change::ResetAssociation => {
                let Some(next) = next_tsns else {
                    return self.abort(now, Cause::violation("an association reset without TSNs"));
                };
                //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
                //# H5:  If the request was an SSN/TSN Reset Request, new data MUST be
                //# sent from the Receiver's Next TSN, beginning with SSN 0 for all
                //# outgoing streams.  All incoming streams MUST be reset to 0 as
                //# the next expected SSN.
                self.sender.restart_numbers(next.receiver, &mut self.paths);
                self.restart_inbound(next.sender);
                self.sender.reset_streams(|_| true);
                self.note_association_reset(now);
                return self.tell_association_reset();
            }
            Change::AddOutbound { count, .. } => {
                //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.7
                //# H6:  If the request was to add outgoing streams, the endpoint MUST
                //# add the additional streams to the association.
                self.sender.add_streams(*count);
                self.streams_added()
            }
            // The peer's own request follows, or has come.
            Change::ResetInbound(_) | Change::AddInbound(_) => return,
        };
        self.events.push_back(Event::StreamsChanged(changed));
    }

    /// The peer's TSNs go on with `next`, and all its streams begin anew.
    fn restart_inbound(&mut self, next: Tsn) {
        let events = &mut self.events;
        self.receiver.restart_numbers(next, |event| events.push_back(event));
        self.forget_deferred_reset();
        self.return_path.forget_numbers();
        if let Some(ecn) = &mut self.ecn {
            ecn.forget_numbers();
        }
    }

    /// Tells if packets may still come that were sent before TSNs began anew.
    pub(super) fn has_old_numbers_under_way(&self, now: Instant) -> bool {
        let reset_at = self.reconfiguration.as_ref().and_then(|state| state.reset_at);
        reset_at.is_some_and(|at| now < at + RESET_INTERVAL)
    }

    fn note_association_reset(&mut self, now: Instant) {
        if let Some(state) = &mut self.reconfiguration {
            state.reset_at = Some(now);
        }
    }

    fn streams_added(&self) -> StreamsChanged {
        let (outbound_streams, inbound_streams) = (self.sender.stream_count(), self.receiver.stream_count());
        StreamsChanged::Added { outbound_streams, inbound_streams }
    }

    /// Ends the request if all of it has been answered, and begins what the peer has asked for meanwhile.
    fn settle_request(&mut self, now: Instant) {
        let Some(state) = &mut self.reconfiguration else { return };
        if state.own.as_ref().is_none_or(|own| own.parts.iter().any(|part| !part.is_answered)) {
            return;
        }
        state.advance();
        self.release_messages(now);
        self.send_request(now);
    }

    /// Queues the messages that wait for no reset any more.
    fn release_messages(&mut self, now: Instant) {
        let mut turn = turn!(self, now);
        let Some(state) = &mut self.reconfiguration else { return };
        self.poll_stage = PollStage::Packets;
        for (ordinal, message) in core::mem::take(&mut state.held) {
            if state.holds(ordinal, message.stream) {
                state.held.push_back((ordinal, message));
            } else {
                self.sender.push_admitted(&mut turn, message);
            }
        }
        self.find_what_is_under_way();
    }

    /// The association shuts down: what has not been asked for yet never will, and what waited for it goes out.
    pub(super) fn cancel_reconfiguration(&mut self, now: Instant) {
        self.deny_asked();
        let Some(state) = &mut self.reconfiguration else { return };
        if let Some(Deferred::ResetAssociation { request }) = state.deferred {
            state.deferred = None;
            self.deny_late(request);
        }
        let Some(state) = &mut self.reconfiguration else { return };
        let unsent = state.own.take_if(|own| !own.is_in_flight());
        for request in unsent.into_iter().chain(core::mem::take(&mut state.queued)) {
            let changes = request.parts.into_iter().filter_map(|part| part.change.of_user());
            self.events.extend(changes.map(|change| Event::ReconfigurationAnswered {
                change,
                result: ReconfigurationResult::Denied,
            }));
        }
        self.release_messages(now);
    }

    /// The association is over, and another takes its place: all streams begin anew, and there are as many as have been
    /// agreed on anew.
    pub(super) fn answer_requests(&mut self) {
        let Some(state) = &mut self.reconfiguration else { return };
        let requests = state.own.take().into_iter().chain(core::mem::take(&mut state.queued));
        for part in requests.flat_map(|request| request.parts).filter(|part| !part.is_answered) {
            let result = match part.change {
                Change::AddOutbound { .. } | Change::AddInbound(_) => ReconfigurationResult::Denied,
                Change::ResetOutbound { .. } | Change::ResetInbound(_) | Change::ResetAssociation => {
                    ReconfigurationResult::NothingToDo
                }
            };
            if let Some(change) = part.change.of_user() {
                self.events.push_back(Event::ReconfigurationAnswered { change, result });
            }
        }
    }

    /// Nothing is asked or answered any more: all has been acknowledged, and SHUTDOWN or SHUTDOWN ACK is due.
    pub(super) fn end_reconfiguration(&mut self) {
        self.deny_asked();
        if let Some(state) = &mut self.reconfiguration {
            state.own = None;
            state.deferred.take_if(|deferred| matches!(deferred, Deferred::Confirming { .. }));
        }
    }

    /// Denies what the peer has asked for and what waits until a request of ours is over: a peer that goes on being
    /// told of progress would hold what waits for it for ever.
    fn deny_asked(&mut self) {
        let Some(state) = &mut self.reconfiguration else { return };
        let asked = state.asked.take().map(|(request, _)| request);
        let waiting = state.own.iter().filter(|own| !own.is_in_flight()).flat_map(|own| &own.parts);
        let induced = waiting.filter_map(|part| match &part.change {
            Change::ResetOutbound { answers, .. } => *answers,
            _ => None,
        });
        let denied: SmallVec<[RequestSequence; 2]> = asked.into_iter().chain(induced).collect();
        for request in denied {
            self.deny_late(request);
        }
    }
}

impl SctpConfig {
    /// Tells if the peer may request `more` streams for a direction that has `count`.
    const fn allows_streams(&self, count: u16, more: u16) -> bool {
        let policy = &self.reconfiguration;
        policy.adds_streams && count as u32 + more as u32 <= policy.max_streams as u32
    }
}
