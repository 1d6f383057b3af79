//! Requests of the peer: resets and additional streams (RFC 6525, section 5.2).

use slantpath_base::{Duration, Instant};

use super::super::receive::Arrived;
use super::super::state::State;
use super::{
    Association, Change, Chunk, Data, Deferred, Event, MAX_HELD_CHUNKS, Part, PathId, Phase, PollStage,
    ReConfig, ReconfigurationParameter, ReconfigurationResult, Request, RequestSequence, StreamSet,
    StreamsChanged, Tsn,
};
use crate::cause::Cause;
use crate::chunk::NextTsns;
use ReconfigurationResult::{
    AlreadyInProgress, BadSequenceNumber, Denied, InProgress, NothingToDo, Performed, WrongSsn,
};

/// Least time after which a peer may reset the association again: less than the 30 s that it should wait, since packets
/// do not all take the same time.
const LEAST_RESET_INTERVAL: Duration = Duration::from_secs(20);

impl Association {
    /// A RE-CONFIG has come.
    pub(in crate::association) fn on_re_config(
        &mut self,
        now: Instant,
        chunk: ReConfig,
        from: Option<PathId>,
    ) {
        if !self.state.may_send_data() && !self.state.may_receive_data() {
            return;
        }
        if !chunk.is_allowed() {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-3.1
            //# If a sender transmits an unsupported combination, the receiver SHOULD
            //# send an ERROR chunk with a Protocol Violation cause
            return self.report(Cause::violation("RE-CONFIG parameters that do not go together"), from);
        }
        let mut answers = Vec::new();
        let (mut is_first, mut adds_streams) = (true, false);
        for parameter in chunk.parameters {
            let Some(request) = parameter.request() else {
                if let ReconfigurationParameter::Response { response, result, next_tsns } = parameter {
                    self.on_response(now, response, result, next_tsns);
                }
                continue;
            };
            let Some(state) = &mut self.reconfiguration else { return };
            if request != state.expected_request {
                //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.1
                //# If the received RE-CONFIG chunk contains at least
                //# one request and based on the analysis of the Re-configuration Request
                //# Sequence Numbers this is the last received RE-CONFIG chunk (i.e., a
                //# retransmission), the same RE-CONFIG chunk MUST to be sent back in
                //# response, as it was earlier.
                let known = state.answers.iter().find(|(of, _)| *of == request);
                answers.push(
                    known.map_or_else(|| answer(request, BadSequenceNumber), |(_, answer)| answer.clone()),
                );
                continue;
            }
            if core::mem::take(&mut is_first) {
                state.answers.clear();
                // Who asks for more has got the last answer.
                if let Some(Deferred::Confirming { again_at, .. }) = &mut state.deferred {
                    *again_at = None;
                }
            }
            state.expected_request = request.next();
            adds_streams |= matches!(parameter, ReconfigurationParameter::AddOutgoingStreams { .. });
            // What becomes of it later takes this place.
            state.answers.push((request, answer(request, InProgress)));
            let parameter = self.on_request(now, request, parameter);
            self.set_answer(request, &parameter);
            answers.push(parameter);
        }
        if self.state.is_closed() || answers.is_empty() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.1
        //# If multiple parameters have to be returned, they MUST
        //# be put into one RE_CONFIG chunk.
        let path = self.answer_with(answers, from);
        self.confirm_numbers(now, path);
        if adds_streams {
            self.ask_again_for_streams();
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.1
        //# If the received RE-CONFIG chunk
        //# contains at least one request parameter, a selective acknowledgment
        //# (SACK) chunk SHOULD be sent back and MAY be bundled with the
        //# RE-CONFIG chunk.
        // But not in front of the answer that gives TSNs their new meaning.
        if self.state.may_receive_data() && !self.has_renumbered() {
            self.receiver.acknowledge_at_once();
        }
        self.send_request(now);
    }

    /// Tells if the last request of the peer was an association reset that has been carried out.
    fn has_renumbered(&self) -> bool {
        self.reconfiguration.as_ref().is_some_and(|state| {
            state.answers.iter().any(|(_, answer)| {
                matches!(answer, ReconfigurationParameter::Response { next_tsns: Some(_), .. })
            })
        })
    }

    fn answer_with(&mut self, parameters: Vec<ReconfigurationParameter>, from: Option<PathId>) -> PathId {
        let path = self.reply_path(from);
        self.poll_stage = PollStage::Packets;
        self.control.push_back((path, Chunk::ReConfig(ReConfig { parameters })));
        path
    }

    /// Has the answer to an association reset, which has just been queued for `path`, confirmed.
    fn confirm_numbers(&mut self, now: Instant, to: PathId) {
        let deferred = self.reconfiguration.as_mut().and_then(|state| state.deferred.as_mut());
        if !matches!(deferred, Some(Deferred::Confirming { .. })) {
            return;
        }
        let again_at = Some(now + self.paths[to].rtt.rto());
        self.send_heartbeat(now, to);
        let nonce = self.paths[to].heartbeat.awaited();
        if let Some(state) = &mut self.reconfiguration {
            state.deferred = Some(Deferred::Confirming { nonce, again_at });
        }
    }

    /// A SHUTDOWN has come: the peer has the answer to its association reset, since it waits for that, and it answers
    /// HEARTBEATs no more.
    pub(in crate::association) fn confirm_by_shutdown(&mut self) {
        if let Some(state) = &mut self.reconfiguration {
            state.deferred.take_if(|deferred| matches!(deferred, Deferred::Confirming { .. }));
        }
    }

    fn set_answer(&mut self, request: RequestSequence, parameter: &ReconfigurationParameter) {
        let answers = self.reconfiguration.iter_mut().flat_map(|state| &mut state.answers);
        for (_, answer) in answers.filter(|(of, _)| *of == request) {
            *answer = parameter.clone();
        }
    }

    /// A new request: what answers it.
    fn on_request(
        &mut self,
        now: Instant,
        request: RequestSequence,
        parameter: ReconfigurationParameter,
    ) -> ReconfigurationParameter {
        match parameter {
            ReconfigurationParameter::OutgoingSsnReset { response, last_assigned_tsn, streams, .. } => {
                let is_wanted = self.on_induced(now, |part| {
                    part.sequence == response && matches!(part.change, Change::ResetInbound(_))
                });
                if !is_wanted && !self.config.reconfiguration.resets_streams {
                    return answer(request, Denied);
                }
                answer(request, self.on_outgoing_reset(request, last_assigned_tsn, &streams))
            }
            ReconfigurationParameter::IncomingSsnReset { streams, .. } => {
                self.on_incoming_reset(now, request, &streams)
            }
            ReconfigurationParameter::SsnTsnReset { .. } => self.on_association_reset(now, request),
            ReconfigurationParameter::AddOutgoingStreams { count, .. } => {
                answer(request, self.on_inbound_streams(count))
            }
            ReconfigurationParameter::AddIncomingStreams { count, .. } => {
                answer(request, self.on_outbound_streams(count))
            }
            ReconfigurationParameter::Response { .. } => parameter,
        }
    }

    /// A request of the peer has come that also answers one of ours, if that is so.
    fn on_induced(&mut self, now: Instant, is_answered: impl Fn(&Part) -> bool) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.2
        //# E1:  If the Re-configuration Timer is running for the
        //# Re-configuration Request Sequence Number indicated in the
        //# Re-configuration Response Sequence Number field, the
        //# Re-configuration Request Sequence Number MUST be marked as
        //# acknowledged.
        let own = self.reconfiguration.as_ref().and_then(|state| state.own.as_ref());
        let part = own
            .filter(|own| own.is_in_flight())
            .and_then(|own| own.parts.iter().find(|part| !part.is_answered && is_answered(part)));
        if let Some(sequence) = part.map(|part| part.sequence) {
            self.on_response(now, sequence, Performed, None);
            return true;
        }
        false
    }

    /// The peer adds streams to send on while we wait for an answer to the same wish. Some answer by nothing else (RFC
    /// 6525, section 5.2.6), but it may be of its own accord, and our request lost: then our next numbers would never
    /// be those that it expects. Whichever it is, the answer to the same request once more says it.
    fn ask_again_for_streams(&mut self) {
        let own = self.reconfiguration.as_ref().and_then(|state| state.own.as_ref());
        let Some(own) = own else { return };
        let is_open = |part: &Part| !part.is_answered && matches!(part.change, Change::AddInbound(_));
        if let Phase::InFlight { chunk, path, .. } = &own.phase
            && own.parts.iter().any(is_open)
        {
            self.control.push_back((*path, Chunk::ReConfig(chunk.clone())));
            self.poll_stage = PollStage::Packets;
        }
    }

    /// The peer resets streams that it sends on.
    fn on_outgoing_reset(
        &mut self,
        request: RequestSequence,
        last: Tsn,
        streams: &[crate::types::StreamId],
    ) -> ReconfigurationResult {
        let streams = StreamSet::of(streams);
        if streams.beyond(self.receiver.stream_count()).is_some() {
            return WrongSsn;
        }
        let Some(state) = &mut self.reconfiguration else { return Denied };
        if state.deferred.is_some() {
            return AlreadyInProgress;
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.2
        //# E2:  If the Sender's Last Assigned TSN is greater than the cumulative
        //# acknowledgment point, then the endpoint MUST enter "deferred
        //# reset processing".
        if last.is_after(self.receiver.cumulative_tsn()) {
            state.deferred = Some(Deferred::ResetInbound { request, streams, last, held: Vec::new() });
            return InProgress;
        }
        self.reset_inbound(&streams);
        Performed
    }

    fn reset_inbound(&mut self, streams: &StreamSet) {
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.2
        //# E3:  If no stream numbers are listed in the parameter, then all
        //# incoming streams MUST be reset to 0 as the next expected SSN.
        let events = &mut self.events;
        self.receiver.reset_streams(streams.listed(), |event| events.push_back(event));
        let changed = StreamsChanged::InboundReset(streams.listed().into());
        self.receiver.tell(changed, |event| events.push_back(event));
    }

    /// The peer asks us to reset streams that we send on.
    fn on_incoming_reset(
        &mut self,
        now: Instant,
        request: RequestSequence,
        streams: &[crate::types::StreamId],
    ) -> ReconfigurationParameter {
        let streams = StreamSet::of(streams);
        // Our own request takes more room than the peer's.
        let is_too_long = streams.listed().len() > self.longest_list();
        let is_allowed = self.config.reconfiguration.resets_streams && self.state == State::Established;
        if !is_allowed || is_too_long {
            return answer(request, Denied);
        }
        if streams.beyond(self.sender.stream_count()).is_some() {
            return answer(request, WrongSsn);
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.3
        //# In such a case, all of
        //# the streams being requested will be already set to 0.  If so, the
        //# local endpoint SHOULD send back a Re-configuration Response with the
        //# success code "Nothing to do".
        let is_meant = |stream| streams.contains(stream);
        if self.sender.begins_anew(is_meant) && self.sender.under_way(is_meant).is_none() {
            return answer(request, NothingToDo);
        }
        let Some(state) = &mut self.reconfiguration else { return answer(request, Denied) };
        match &state.own {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.3
            //# o  If the Outgoing SSN Reset Request Parameter that was just sent
            //# completely overlaps the received Incoming SSN Reset Request
            //# Parameter, respond to the peer with an acknowledgment indicating
            //# that there was "Nothing to do".
            Some(own) if own.parts.iter().any(|part| covers(&part.change, &streams)) => {
                return answer(request, NothingToDo);
            }
            // Two ends that ask each other for the same would wait for each other.
            Some(own) if state.asked.is_some() || own.waits_for_peer() => {
                return answer(request, AlreadyInProgress);
            }
            // One request at a time: ours goes on first.
            Some(_) => {
                state.asked = Some((request, streams));
                return answer(request, InProgress);
            }
            None => {}
        }
        state.own = Some(Request::new([Change::ResetOutbound { streams, answers: Some(request) }]));
        self.find_what_is_under_way();
        let path = self.paths.current();
        let parameters = self.depart(now, path).map(|chunk| chunk.parameters);
        parameters.and_then(|mut parameters| parameters.pop()).unwrap_or_else(|| answer(request, InProgress))
    }

    /// The peer resets the whole association.
    fn on_association_reset(&mut self, now: Instant, request: RequestSequence) -> ReconfigurationParameter {
        let is_allowed = self.config.reconfiguration.resets_association && self.state == State::Established;
        let Some(state) = self.reconfiguration.as_mut().filter(|_| is_allowed) else {
            return answer(request, Denied);
        };
        if state.reset_at.is_some_and(|at| now < at + LEAST_RESET_INTERVAL) {
            return answer(request, Denied);
        }
        // Two resets that cross would each undo the other's numbers.
        if state.deferred.is_some() || state.own.as_ref().is_some_and(Request::is_in_flight) {
            return answer(request, AlreadyInProgress);
        }
        state.deferred = Some(Deferred::ResetAssociation { request });
        match self.renumber_if_drained(now) {
            Some(parameter) => parameter,
            None => answer(request, InProgress),
        }
    }

    /// Carries out an association reset that the peer has asked for, once nothing is under way in either direction: so
    /// nothing is lost, where the RFC has both ends give up what is.
    fn renumber_if_drained(&mut self, now: Instant) -> Option<ReconfigurationParameter> {
        let state = self.reconfiguration.as_mut()?;
        let Some(Deferred::ResetAssociation { request }) = state.deferred else { return None };
        if !self.sender.is_drained() || self.receiver.has_gaps() {
            return None;
        }
        state.deferred = Some(Deferred::Confirming { nonce: None, again_at: Some(now) });
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.4
        //# The
        //# value SHOULD be the smallest TSN not acknowledged by the
        //# receiver of the request plus 2^31.
        let receiver = self.receiver.cumulative_tsn().next().plus(1 << 31);
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.4
        //# The value SHOULD be the highest TSN sent by the receiver
        //# of the request plus 1.
        let sender = self.sender.last_assigned_tsn().next();
        self.restart_inbound(receiver);
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.4
        //# G5:  The next expected and outgoing SSNs MUST be reset to 0 for all
        //# incoming and outgoing streams.
        self.sender.reset_streams(|_| true);
        self.note_association_reset(now);
        self.tell_association_reset();
        let next_tsns = Some(NextTsns { sender, receiver });
        Some(ReconfigurationParameter::Response { response: request, result: Performed, next_tsns })
    }

    /// Behind what has been received on the streams as they were.
    pub(super) fn tell_association_reset(&mut self) {
        let events = &mut self.events;
        self.receiver.tell(StreamsChanged::AssociationReset, |event| events.push_back(event));
    }

    /// The peer adds streams to send on.
    fn on_inbound_streams(&mut self, count: u16) -> ReconfigurationResult {
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.5
        //# The SCTP
        //# endpoint SHOULD deny the request if the number of streams exceeds a
        //# limit that should be configurable by the application.
        if !self.config.allows_streams(self.receiver.stream_count(), count) {
            return Denied;
        }
        if count == 0 {
            return NothingToDo;
        }
        self.receiver.add_streams(count);
        let added = self.streams_added();
        self.events.push_back(Event::StreamsChanged(added));
        Performed
    }

    /// The peer wants us to have more streams to send on.
    fn on_outbound_streams(&mut self, count: u16) -> ReconfigurationResult {
        let is_allowed = self.config.allows_streams(self.sender.stream_count(), count);
        let Some(state) = &mut self.reconfiguration else { return Denied };
        if !is_allowed || self.state != State::Established {
            return Denied;
        }
        if count == 0 {
            return NothingToDo;
        }
        if state.own.is_some() {
            return AlreadyInProgress;
        }
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.6
        //# it MUST either send a response parameter
        //# denying the request or send a corresponding Add Outgoing Streams
        //# Request Parameter, following the rules given in Section 5.1.5.
        // The answer is sent as well: our request does not say what it answers. It follows in a chunk of its own.
        state.own = Some(Request::new([Change::AddOutbound { count, is_induced: true }]));
        Performed
    }

    /// Keeps a chunk that has come before the reset in front of it could be carried out.
    #[cold]
    pub(in crate::association) fn hold_chunk(&mut self, data: Data, arrived: Arrived) {
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.2
        //# In this mode, any data arriving with a TSN
        //# larger than the Sender's Last Assigned TSN for the affected
        //# stream(s) MUST be queued locally and held until the cumulative
        //# acknowledgment point reaches the Sender's Last Assigned TSN.
        let deferred = self.reconfiguration.as_mut().and_then(|state| state.deferred.as_mut());
        if let Some(Deferred::ResetInbound { held, .. }) = deferred
            && held.len() < MAX_HELD_CHUNKS
            && held.iter().all(|(kept, _)| kept.tsn != data.tsn)
        {
            held.push((data, arrived));
        }
    }

    /// Carries out what had to wait, if it has not to wait any more.
    pub(super) fn progress_deferred(&mut self, now: Instant) {
        if let Some(parameter) = self.renumber_if_drained(now) {
            let path = self.answer_late(parameter);
            return self.confirm_numbers(now, path);
        }
        if self.progress_confirmation(now) {
            return;
        }
        let reached = self.receiver.cumulative_tsn();
        let Some(state) = &mut self.reconfiguration else { return };
        let is_due = |deferred: &mut Deferred| match deferred {
            Deferred::ResetInbound { last, .. } => last.is_at_or_before(reached),
            Deferred::ResetAssociation { .. } | Deferred::Confirming { .. } => false,
        };
        if let Some(Deferred::ResetInbound { request, streams, held, .. }) = state.deferred.take_if(is_due) {
            self.reset_inbound(&streams);
            self.answer_late(answer(request, Performed));
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.2.2
            //# E4:  Any queued TSNs (queued at step E2) MUST now be released and
            //# processed normally.
            for (data, arrived) in held {
                self.on_data(now, data, arrived);
                if self.state.is_closed() {
                    return;
                }
            }
            self.receiver.on_packet_end(now, &self.config);
        }
    }

    /// The peer's TSNs have begun anew: a reset that waits for old ones is a part of that.
    pub(super) fn forget_deferred_reset(&mut self) {
        let Some(state) = &mut self.reconfiguration else { return };
        let is_reset = |deferred: &mut Deferred| matches!(deferred, Deferred::ResetInbound { .. });
        if let Some(Deferred::ResetInbound { request, .. }) = state.deferred.take_if(is_reset) {
            self.answer_late(answer(request, Performed));
        }
    }

    /// Denies a request of which the peer was told that it is in progress.
    pub(super) fn deny_late(&mut self, request: RequestSequence) {
        self.answer_late(answer(request, Denied));
    }

    /// Goes on with what has waited for the new numbers to be confirmed, or sends the answer that tells them again.
    /// Returns whether they were being confirmed.
    fn progress_confirmation(&mut self, now: Instant) -> bool {
        let Some(state) = &mut self.reconfiguration else { return false };
        match state.deferred {
            Some(Deferred::Confirming { again_at: None, .. }) => {
                state.deferred = None;
                self.release_messages(now);
                true
            }
            Some(Deferred::Confirming { again_at: Some(at), .. }) => {
                if at <= now {
                    let is_meant = |answer: &ReconfigurationParameter| {
                        matches!(answer, ReconfigurationParameter::Response { next_tsns: Some(_), .. })
                    };
                    let answers = state.answers.iter().map(|(_, answer)| answer);
                    let answers: Vec<_> = answers.filter(|answer| is_meant(answer)).cloned().collect();
                    let path = self.answer_with(answers, None);
                    self.confirm_numbers(now, path);
                }
                true
            }
            Some(Deferred::ResetInbound { .. } | Deferred::ResetAssociation { .. }) | None => false,
        }
    }

    /// Answers a request that the peer knows to be in progress.
    fn answer_late(&mut self, parameter: ReconfigurationParameter) -> PathId {
        if let ReconfigurationParameter::Response { response, .. } = parameter {
            self.set_answer(response, &parameter);
        }
        self.answer_with(vec![parameter], None)
    }
}

const fn answer(response: RequestSequence, result: ReconfigurationResult) -> ReconfigurationParameter {
    ReconfigurationParameter::Response { response, result, next_tsns: None }
}

/// Tells if a change of ours resets all streams that the peer asks us to reset.
fn covers(change: &Change, asked: &StreamSet) -> bool {
    match change {
        Change::ResetOutbound { streams, .. } => streams.covers(asked),
        Change::ResetAssociation
        | Change::ResetInbound(_)
        | Change::AddOutbound { .. }
        | Change::AddInbound(_) => false,
    }
}
