//! The dialogues of one TCAP user (Q.774): transactions, invocations with their timers, aborts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::sccp::PartyAddress;

use super::component::{Component, Problem};
use super::message::{AbortCause, Message, TransactionId, transactions_of};
use super::primitive::{
    DialogueCounters, DialogueError, DialogueEvent, DialogueId, DialogueOutput, DialoguesConfig, Ending,
    Invocation, OperationClass,
};
use super::transaction::{
    TRANSACTION, TransactionAction as Do, TransactionInput as On, TransactionState as In,
};
use super::transaction::{TransactionInput, TransactionState};

#[derive(Clone, Debug)]
struct Dialogue {
    state: TransactionState,
    remote: PartyAddress,
    remote_id: Option<TransactionId>,
    /// Invocations under way, with their deadlines.
    invocations: BTreeMap<i8, (OperationClass, Instant)>,
}

/// Dialogues of one TCAP user.
#[derive(Clone, Debug)]
pub struct Dialogues {
    config: DialoguesConfig,
    open: BTreeMap<DialogueId, Dialogue>,
    deadlines: BTreeSet<(Instant, DialogueId, i8)>,
    next_id: u32,
    outputs: VecDeque<DialogueOutput>,
    counters: DialogueCounters,
}

impl Dialogues {
    /// Creates a set without dialogues.
    pub fn new(config: DialoguesConfig) -> Self {
        Self {
            config,
            open: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            next_id: 0,
            outputs: VecDeque::new(),
            counters: DialogueCounters::default(),
        }
    }

    /// Address of this user.
    pub const fn local(&self) -> &PartyAddress {
        &self.config.local
    }

    /// Dialogues under way.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Tells if no dialogue is under way.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Gives the counts of what was discarded or answered with an abort.
    pub const fn counters(&self) -> DialogueCounters {
        self.counters
    }

    /// Begins a dialogue with these operations.
    pub fn begin(
        &mut self,
        now: Instant,
        called: PartyAddress,
        portion: Option<Bytes>,
        invocations: Vec<Invocation>,
    ) -> Result<DialogueId, DialogueError> {
        let id = self.create(called, None).ok_or(DialogueError::TooMany(self.open.len()))?;
        match self.send(now, id, On::RequestBegin, portion, invocations, Vec::new()) {
            Ok(()) => Ok(id),
            Err(error) => {
                self.open.remove(&id);
                Err(error)
            }
        }
    }

    /// Goes on: operations of our own, and outcomes of the peer's.
    pub fn go_on(
        &mut self,
        now: Instant,
        dialogue: DialogueId,
        portion: Option<Bytes>,
        invocations: Vec<Invocation>,
        outcomes: Vec<Component>,
    ) -> Result<(), DialogueError> {
        self.send(now, dialogue, On::RequestContinue, portion, invocations, outcomes)
    }

    /// Ends a dialogue.
    pub fn end(&mut self, now: Instant, dialogue: DialogueId, ending: Ending) -> Result<(), DialogueError> {
        match ending {
            Ending::Basic(outcomes) => self.send(now, dialogue, On::RequestEnd, None, Vec::new(), outcomes),
            Ending::Prearranged => {
                self.send(now, dialogue, On::RequestPrearrangedEnd, None, Vec::new(), Vec::new())
            }
            Ending::Abort(portion) => {
                self.send(now, dialogue, On::RequestAbort, portion, Vec::new(), Vec::new())
            }
        }
    }

    /// Sends components without a dialogue.
    pub fn unidirectional(&mut self, called: PartyAddress, components: Vec<Component>) {
        self.push(called, &Message::Unidirectional { dialogue: None, components });
    }

    fn create(&mut self, remote: PartyAddress, remote_id: Option<TransactionId>) -> Option<DialogueId> {
        if self.open.len() >= self.config.max_dialogues {
            return None;
        }
        while self.open.contains_key(&DialogueId(self.next_id)) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let id = DialogueId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        let state = TRANSACTION.initial;
        self.open.insert(id, Dialogue { state, remote, remote_id, invocations: BTreeMap::new() });
        Some(id)
    }

    fn send(
        &mut self,
        now: Instant,
        id: DialogueId,
        input: TransactionInput,
        portion: Option<Bytes>,
        invocations: Vec<Invocation>,
        outcomes: Vec<Component>,
    ) -> Result<(), DialogueError> {
        let dialogue = self.open.get_mut(&id).ok_or(DialogueError::Unknown(id))?;
        let state = dialogue.state;
        let row = TRANSACTION.next(state, input).ok_or(DialogueError::NotNow { dialogue: id, state })?;
        let mut numbers = BTreeSet::new();
        for Invocation { invoke, .. } in &invocations {
            if dialogue.invocations.contains_key(invoke) || !numbers.insert(*invoke) {
                return Err(DialogueError::InvocationInUse(*invoke));
            }
        }
        let mut components = outcomes;
        for Invocation { invoke, linked, operation, parameter, class, timeout } in invocations {
            let deadline = now + timeout;
            dialogue.invocations.insert(invoke, (class, deadline));
            self.deadlines.insert((deadline, id, invoke));
            components.push(Component::Invoke { invoke, linked, operation, parameter });
        }
        dialogue.state = row.to;
        let originating = TransactionId::new(id.0);
        let (remote, destination) = (dialogue.remote.clone(), dialogue.remote_id);
        // A row sends one message at most; a state from which one can be sent to the peer has its identifier.
        let message = match (row.actions, destination) {
            ([Do::SendBegin], _) => Some(Message::Begin { originating, dialogue: portion, components }),
            ([Do::SendContinue], Some(destination)) => {
                Some(Message::Continue { originating, destination, dialogue: portion, components })
            }
            ([Do::SendEnd], Some(destination)) => {
                Some(Message::End { destination, dialogue: portion, components })
            }
            ([Do::SendAbort], Some(destination)) => {
                Some(Message::Abort { destination, cause: None, dialogue: portion })
            }
            _ => None,
        };
        if let Some(message) = message {
            self.push(remote, &message);
        }
        self.forget_if_idle(id);
        Ok(())
    }

    fn push(&mut self, called: PartyAddress, message: &Message) {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        self.outputs.push_back(DialogueOutput::Send { called, octets: octets.into() });
    }

    fn indicate(&mut self, event: DialogueEvent) {
        self.outputs.push_back(DialogueOutput::Event(event));
    }

    fn forget_if_idle(&mut self, id: DialogueId) {
        if self.open.get(&id).is_some_and(|dialogue| dialogue.state == In::Idle)
            && let Some(dialogue) = self.open.remove(&id)
        {
            for (invoke, (_, deadline)) in dialogue.invocations {
                self.deadlines.remove(&(deadline, id, invoke));
            }
        }
    }

    /// Unitdata came from SCCP.
    pub fn handle_message(&mut self, calling: &PartyAddress, octets: &[u8]) {
        match Message::parse(octets) {
            Ok(message) => self.handle(calling, message),
            Err(error) => self.handle_malformed(calling, transactions_of(octets), error.cause()),
        }
    }

    /// Ends what a message that is none belongs to, at the peer and here (Q.774, section 3.3.4.1 and figure A.3).
    fn handle_malformed(
        &mut self,
        calling: &PartyAddress,
        (originating, destination): (Option<TransactionId>, Option<TransactionId>),
        cause: AbortCause,
    ) {
        if let Some(originating) = originating {
            self.abort(calling.clone(), originating, cause);
        }
        let ours = destination.map(|destination| DialogueId(destination.value));
        let is_ended = ours.is_some_and(|id| self.end_locally(id, originating, cause));
        if is_ended || originating.is_some() {
            self.counters.aborted_malformed += 1;
        } else {
            self.counters.discarded_malformed += 1;
        }
    }

    /// Local abort of a transaction that a message cannot be part of; whether there was one. A peer that has not been
    /// told our identifier yet speaks of it only if it answers to its own: else somebody guesses.
    fn end_locally(&mut self, id: DialogueId, originating: Option<TransactionId>, cause: AbortCause) -> bool {
        let is_peers = self.open.get(&id).is_some_and(|dialogue| {
            dialogue.state == In::InitiationReceived
                && originating.is_some()
                && dialogue.remote_id == originating
        });
        let input = if is_peers { On::Abort } else { On::Malformed };
        let is_open = self.advance(id, input);
        if is_open {
            self.indicate(DialogueEvent::ProviderAbort(id, cause));
            self.forget_if_idle(id);
        }
        is_open
    }

    fn abort(&mut self, called: PartyAddress, destination: TransactionId, cause: AbortCause) {
        self.push(called, &Message::Abort { destination, cause: Some(cause), dialogue: None });
    }

    fn handle(&mut self, calling: &PartyAddress, message: Message) {
        match message {
            Message::Begin { originating, dialogue: portion, components } => {
                let Some(id) = self.create(calling.clone(), Some(originating)) else {
                    self.counters.aborted_resources += 1;
                    self.abort(calling.clone(), originating, AbortCause::RESOURCE_LIMITATION);
                    return;
                };
                self.advance(id, On::Begin);
                self.indicate(DialogueEvent::Begin {
                    dialogue: id,
                    from: calling.clone(),
                    portion,
                    components,
                });
            }
            Message::Continue { originating, destination, components, .. } => {
                let id = DialogueId(destination.value);
                if self.advance(id, On::Continue) {
                    if let Some(dialogue) = self.open.get_mut(&id) {
                        dialogue.remote_id = Some(originating);
                        // The answer to a begin may come from another address than the one that was called.
                        dialogue.remote = calling.clone();
                    }
                    let components = self.settle(id, components);
                    self.indicate(DialogueEvent::Continue(id, components));
                } else {
                    let cause = AbortCause::UNRECOGNIZED_TRANSACTION;
                    self.counters.unknown_transaction += 1;
                    self.abort(calling.clone(), originating, cause);
                    // Only a peer that was not told our identifier yet gets here with an open transaction.
                    self.end_locally(id, Some(originating), cause);
                }
            }
            Message::End { destination, components, .. } => {
                let id = DialogueId(destination.value);
                if self.advance(id, On::End) {
                    let components = self.settle(id, components);
                    self.indicate(DialogueEvent::End(id, components));
                    self.forget_if_idle(id);
                } else {
                    self.counters.unknown_transaction += 1;
                }
            }
            Message::Abort { destination, cause, dialogue } => {
                let id = DialogueId(destination.value);
                if self.advance(id, On::Abort) {
                    self.indicate(match cause {
                        Some(cause) => DialogueEvent::ProviderAbort(id, cause),
                        None => DialogueEvent::UserAbort(id, dialogue),
                    });
                    self.forget_if_idle(id);
                } else {
                    self.counters.unknown_transaction += 1;
                }
            }
            Message::Unidirectional { components, .. } => {
                self.indicate(DialogueEvent::Unidirectional(calling.clone(), components));
            }
        }
    }

    /// Moves a transaction; whether it is there and the state takes the message.
    fn advance(&mut self, id: DialogueId, input: TransactionInput) -> bool {
        let Some(dialogue) = self.open.get_mut(&id) else { return false };
        let Some(row) = TRANSACTION.next(dialogue.state, input) else { return false };
        dialogue.state = row.to;
        true
    }

    /// Ends the invocations whose outcome has come; outcomes of none are dropped, and rejected where the dialogue goes
    /// on (Q.774, section 3.2.2.2).
    fn settle(&mut self, id: DialogueId, components: Vec<Component>) -> Vec<Component> {
        let mut kept = Vec::with_capacity(components.len());
        for component in components {
            let (is_final, problem) = match &component {
                Component::Invoke { .. } | Component::Reject { invoke: None, .. } => {
                    kept.push(component);
                    continue;
                }
                Component::ReturnResultNotLast { .. } => (false, Some(Problem { kind: 2, code: 0 })),
                Component::ReturnResultLast { .. } => (true, Some(Problem { kind: 2, code: 0 })),
                Component::ReturnError { .. } => (true, Some(Problem { kind: 3, code: 0 })),
                Component::Reject { .. } => (true, None),
            };
            let invoke = component.invoke().expect("only a general reject has none");
            let Some(dialogue) = self.open.get_mut(&id) else { continue };
            let Some((_, deadline)) = dialogue.invocations.get(&invoke).copied() else {
                self.counters.unknown_invocation += 1;
                if let (Some(problem), Some(destination), In::Active) =
                    (problem, dialogue.remote_id, dialogue.state)
                {
                    let components = vec![Component::Reject { invoke: Some(invoke), problem }];
                    let originating = TransactionId::new(id.0);
                    let remote = dialogue.remote.clone();
                    self.push(
                        remote,
                        &Message::Continue { originating, destination, dialogue: None, components },
                    );
                }
                continue;
            };
            if is_final {
                dialogue.invocations.remove(&invoke);
                self.deadlines.remove(&(deadline, id, invoke));
            }
            kept.push(component);
        }
        kept
    }

    /// Gives the next output of the dialogues. Invocations whose time is over are indicated first.
    pub fn poll_output(&mut self, now: Instant) -> DialogueOutput {
        while let Some((deadline, id, invoke)) =
            self.deadlines.first().copied().filter(|first| first.0 <= now)
        {
            self.deadlines.remove(&(deadline, id, invoke));
            if let Some(dialogue) = self.open.get_mut(&id)
                && let Some((class, _)) = dialogue.invocations.remove(&invoke)
                && class != OperationClass::Neither
            {
                self.indicate(DialogueEvent::Cancelled(id, invoke));
            }
        }
        let deadline = self.deadlines.first().map(|(deadline, ..)| *deadline);
        self.outputs.pop_front().unwrap_or(DialogueOutput::Wait(deadline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcap::Code;
    use proptest::prelude::*;
    use slantpath_base::Duration;
    use slantpath_ss7::sccp::Ssn;

    const START: Instant = Instant::START;

    fn address(ssn: u8) -> PartyAddress {
        PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(ssn)), ..PartyAddress::default() }
    }

    fn dialogues(ssn: u8) -> Dialogues {
        Dialogues::new(DialoguesConfig { local: address(ssn), max_dialogues: 4 })
    }

    fn invocation(invoke: i8) -> Invocation {
        Invocation {
            invoke,
            linked: None,
            operation: Code::Local(45),
            parameter: Bytes::new(),
            class: OperationClass::Both,
            timeout: Duration::from_secs(10),
        }
    }

    fn result(invoke: i8) -> Component {
        Component::ReturnResultLast { invoke, result: None }
    }

    /// Carries all messages at once; what was indicated to each user.
    fn exchange(now: Instant, ends: &mut [Dialogues; 2]) -> [Vec<DialogueEvent>; 2] {
        let mut events = [Vec::new(), Vec::new()];
        loop {
            let mut is_quiet = true;
            for end in 0..2 {
                loop {
                    match ends[end].poll_output(now) {
                        DialogueOutput::Event(event) => events[end].push(event),
                        DialogueOutput::Send { octets, .. } => {
                            is_quiet = false;
                            let calling = ends[end].local().clone();
                            ends[1 - end].handle_message(&calling, &octets);
                        }
                        DialogueOutput::Wait(_) => break,
                    }
                }
            }
            if is_quiet {
                return events;
            }
        }
    }

    #[test]
    fn an_operation_is_invoked_and_its_result_ends_the_dialogue() {
        let mut ends = [dialogues(6), dialogues(8)];
        let ours = ends[0].begin(START, address(8), None, vec![invocation(1)]).unwrap();
        let events = exchange(START, &mut ends);
        let [DialogueEvent::Begin { dialogue: theirs, components, .. }] = &events[1][..] else {
            panic!("{events:?}")
        };
        assert!(matches!(&components[..], [Component::Invoke { invoke: 1, .. }]));
        ends[1].end(START, *theirs, Ending::Basic(vec![result(1)])).unwrap();
        assert_eq!(exchange(START, &mut ends)[0], [DialogueEvent::End(ours, vec![result(1)])]);
        assert!(ends[0].is_empty() && ends[1].is_empty());
        assert_eq!(ends[0].poll_output(START), DialogueOutput::Wait(None));
    }

    #[test]
    fn an_operation_without_an_outcome_is_cancelled_after_its_time() {
        let mut end = dialogues(6);
        let ours = end.begin(START, address(8), None, vec![invocation(1)]).unwrap();
        assert!(matches!(end.poll_output(START), DialogueOutput::Send { .. }));
        let deadline = START + Duration::from_secs(10);
        assert_eq!(end.poll_output(START), DialogueOutput::Wait(Some(deadline)));
        assert_eq!(end.poll_output(deadline), DialogueOutput::Event(DialogueEvent::Cancelled(ours, 1)));
    }

    #[test]
    fn a_message_of_an_unknown_transaction_is_aborted() {
        let mut ends = [dialogues(6), dialogues(8)];
        let ours = ends[0].begin(START, address(8), None, vec![]).unwrap();
        let theirs = match &exchange(START, &mut ends)[1][..] {
            [DialogueEvent::Begin { dialogue, .. }] => *dialogue,
            other => panic!("{other:?}"),
        };
        ends[0].end(START, ours, Ending::Prearranged).unwrap();
        ends[1].go_on(START, theirs, None, vec![], vec![]).unwrap();
        let events = exchange(START, &mut ends);
        assert_eq!(events[1], [DialogueEvent::ProviderAbort(theirs, AbortCause::UNRECOGNIZED_TRANSACTION)]);
        assert_eq!(ends[0].counters().unknown_transaction, 1);
        assert!(ends[1].is_empty());
    }

    /// A message that is none, with these portions; `a1 02 02 01` is an invocation cut in its number.
    fn malformed(tag: u8, originating: Option<u8>, destination: Option<u8>) -> Vec<u8> {
        let mut octets = vec![tag, 0];
        for (tag, id) in [(0x48, originating), (0x49, destination)] {
            octets.extend(id.map(|id| [tag, 1, id]).into_iter().flatten());
        }
        octets.extend_from_slice(&[0x6c, 4, 0xa1, 2, 2, 1]);
        octets[1] = u8::try_from(octets.len() - 2).unwrap();
        octets
    }

    #[test]
    fn a_malformed_message_ends_its_transaction_here_and_at_the_peer() {
        // Type, originating and destination of the peer's message; whether ours is ended; whose is aborted; counters.
        // Our transactions: 0 active with the peer's 8, 1 initiation sent, 2 initiation received from the peer's 9.
        let table = [
            (0x64, None, Some(0), true, None, (1, 0)),
            (0x65, Some(8), Some(0), true, Some(8), (1, 0)),
            (0x67, None, Some(0), true, None, (1, 0)),
            (0x60, None, Some(0), true, None, (1, 0)),
            (0x64, None, Some(1), true, None, (1, 0)),
            (0x65, Some(8), Some(1), true, Some(8), (1, 0)),
            // The peer speaks of its own, though it was not told ours; somebody guesses.
            (0x65, Some(9), Some(2), true, Some(9), (1, 0)),
            (0x65, Some(7), Some(2), false, Some(7), (1, 0)),
            (0x64, None, Some(2), false, None, (0, 1)),
            // None of ours; none at all.
            (0x64, None, Some(3), false, None, (0, 1)),
            (0x65, Some(8), Some(3), false, Some(8), (1, 0)),
            (0x62, Some(8), None, false, Some(8), (1, 0)),
            (0x61, None, None, false, None, (0, 1)),
        ];
        for (tag, originating, destination, ends, aborted, (answered, discarded)) in table {
            let named = format!("{tag:x} {originating:?} {destination:?}");
            let is_known = tag != 0x60;
            let cause = if is_known { AbortCause::BADLY_FORMATTED } else { AbortCause::UNRECOGNIZED_TYPE };
            let mut end = dialogues(6);
            for _ in 0..2 {
                end.begin(START, address(8), None, vec![invocation(1)]).unwrap();
            }
            let id = |value| TransactionId { value, octets: 1 };
            let go_on = Message::Continue {
                originating: id(8),
                destination: id(0),
                dialogue: None,
                components: vec![],
            };
            let begin = Message::Begin { originating: id(9), dialogue: None, components: vec![] };
            for message in [go_on, begin] {
                let mut octets = Vec::new();
                message.emit(&mut octets);
                end.handle_message(&address(8), &octets);
            }
            while !matches!(end.poll_output(START), DialogueOutput::Wait(_)) {}
            end.handle_message(&address(8), &malformed(tag, originating, destination));
            let (mut events, mut sent) = (Vec::new(), Vec::new());
            let deadline = loop {
                match end.poll_output(START) {
                    DialogueOutput::Event(event) => events.push(event),
                    DialogueOutput::Send { octets, .. } => sent.push(Message::parse(&octets).unwrap()),
                    DialogueOutput::Wait(deadline) => break deadline,
                }
            };
            let ours = DialogueId(destination.unwrap_or(99).into());
            let expected: Vec<_> =
                ends.then_some(DialogueEvent::ProviderAbort(ours, cause)).into_iter().collect();
            assert_eq!(events, expected, "{named}");
            let abort =
                |own: u8| Message::Abort { destination: id(own.into()), cause: Some(cause), dialogue: None };
            let expected: Vec<_> = aborted.map(abort).into_iter().collect();
            assert_eq!(sent, expected, "{named}");
            assert_eq!(end.len(), if ends { 2 } else { 3 }, "{named}");
            let counters = end.counters();
            assert_eq!(
                (counters.aborted_malformed, counters.discarded_malformed),
                (answered, discarded),
                "{named}"
            );
            assert_eq!(deadline, Some(START + Duration::from_secs(10)), "the other's invocation, {named}");
            if ends {
                let unknown = Err(DialogueError::Unknown(ours));
                assert_eq!(end.go_on(START, ours, None, vec![], vec![]), unknown, "{named}");
            }
        }
    }

    #[test]
    fn the_end_that_was_seen_to_leave_its_transaction_open_ends_it() {
        let mut end = dialogues(6);
        let ours = end.begin(START, address(8), None, vec![invocation(1)]).unwrap();
        assert!(matches!(end.poll_output(START), DialogueOutput::Send { .. }));
        let octets = [0x64, 0x0c, 0x49, 0x04, 0, 0, 0, 0, 0x6c, 0x04, 0xa1, 0x02, 0x02, 0x01];
        end.handle_message(&address(8), &octets);
        let aborted = DialogueEvent::ProviderAbort(ours, AbortCause::BADLY_FORMATTED);
        assert_eq!(end.poll_output(START), DialogueOutput::Event(aborted));
        assert_eq!(end.poll_output(START), DialogueOutput::Wait(None));
        assert!(end.is_empty());
    }

    #[test]
    fn a_peer_that_goes_on_before_it_was_answered_is_aborted_and_so_are_we() {
        for (own, ends) in [(9, true), (7, false)] {
            let id = |value| TransactionId { value, octets: 1 };
            let mut end = dialogues(6);
            let begin = Message::Begin { originating: id(9), dialogue: None, components: vec![] };
            let go_on = Message::Continue {
                originating: id(own),
                destination: id(0),
                dialogue: None,
                components: vec![],
            };
            for message in [begin, go_on] {
                let mut octets = Vec::new();
                message.emit(&mut octets);
                end.handle_message(&address(8), &octets);
            }
            assert_eq!(end.len(), usize::from(!ends), "{own}");
            assert!(matches!(end.poll_output(START), DialogueOutput::Event(DialogueEvent::Begin { .. })));
            assert!(matches!(end.poll_output(START), DialogueOutput::Send { .. }));
            let aborted = DialogueEvent::ProviderAbort(DialogueId(0), AbortCause::UNRECOGNIZED_TRANSACTION);
            let last = if ends { DialogueOutput::Event(aborted) } else { DialogueOutput::Wait(None) };
            assert_eq!(end.poll_output(START), last, "{own}");
        }
    }

    #[test]
    fn a_begin_beyond_the_limit_is_aborted_for_want_of_resources() {
        let mut ends =
            [Dialogues::new(DialoguesConfig { local: address(6), max_dialogues: 9 }), dialogues(8)];
        for _ in 0..5 {
            ends[0].begin(START, address(8), None, vec![]).unwrap();
        }
        let events = exchange(START, &mut ends);
        assert_eq!(events[0], [DialogueEvent::ProviderAbort(DialogueId(4), AbortCause::RESOURCE_LIMITATION)]);
        assert_eq!((ends[1].len(), ends[1].counters().aborted_resources), (4, 1));
    }

    #[test]
    fn a_result_of_no_invocation_is_rejected() {
        let mut ends = [dialogues(6), dialogues(8)];
        ends[0].begin(START, address(8), None, vec![invocation(1)]).unwrap();
        exchange(START, &mut ends);
        ends[1].go_on(START, DialogueId(0), None, vec![], vec![result(7)]).unwrap();
        let events = exchange(START, &mut ends);
        assert_eq!(ends[0].counters().unknown_invocation, 1);
        // The reject is of an invocation that the peer does not have: it is dropped there, and not answered again.
        assert_eq!(events[1], [DialogueEvent::Continue(DialogueId(0), vec![])]);
        assert_eq!(ends[1].counters().unknown_invocation, 1);
    }

    proptest! {
        /// Whatever users and wire do, tables stay within their limit and every dialogue can be ended.
        #[test]
        fn dialogues_are_bounded_and_can_be_ended(
            steps in prop::collection::vec(
                (0_usize..2, 0_u8..6, 0_u32..6, 0_i8..3, prop::collection::vec(any::<u8>(), 0..12)),
                0..80,
            ),
        ) {
            let mut ends = [dialogues(6), dialogues(8)];
            let mut now = START;
            for (end, what, dialogue, invoke, octets) in steps {
                let dialogue = DialogueId(dialogue);
                // Refusals are among what users meet.
                let _ = match what {
                    0 => ends[end].begin(now, address(8), None, vec![invocation(invoke)]).map(|_| ()),
                    1 => ends[end].go_on(now, dialogue, None, vec![invocation(invoke)], vec![result(invoke)]),
                    2 => ends[end].end(now, dialogue, Ending::Basic(vec![result(invoke)])),
                    3 => ends[end].end(now, dialogue, Ending::Abort(None)),
                    4 => ends[end].end(now, dialogue, Ending::Prearranged),
                    _ => {
                        ends[end].handle_message(&address(8), &octets);
                        now += Duration::from_secs(3);
                        Ok(())
                    }
                };
                exchange(now, &mut ends);
                prop_assert!(ends[0].len() <= 4 && ends[1].len() <= 4);
            }
            for dialogue in (0..200).map(DialogueId) {
                for end in &mut ends {
                    let _ = end.end(now, dialogue, Ending::Prearranged);
                }
            }
            prop_assert!(ends[0].is_empty() && ends[1].is_empty());
            exchange(now, &mut ends);
            prop_assert_eq!(ends[0].poll_output(now), DialogueOutput::Wait(None));
        }
    }
}
