//! The dialogues of one TCAP user (Q.774): transactions, invocations with their timers, aborts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;

use super::component::{Component, Problem};
use super::message::{AbortCause, Message, TransactionId, originating_of};
use super::primitive::{
    DialogueCounters, DialogueError, DialogueEvent, DialogueId, DialogueOutput, DialoguesConfig, Ending,
    Invocation, OperationClass,
};
use super::transaction::{
    TRANSACTION, TransactionAction as Do, TransactionInput as On, TransactionState as In,
};
use super::transaction::{TransactionInput, TransactionState};
use crate::sccp::PartyAddress;

#[derive(Clone, Debug)]
struct Dialogue {
    state: TransactionState,
    remote: PartyAddress,
    remote_id: Option<TransactionId>,
    /// Invocations under way, with their deadlines.
    invocations: BTreeMap<i8, (OperationClass, Instant)>,
}

/// The dialogues.
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
    /// None yet.
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

    /// This user's address.
    pub const fn local(&self) -> &PartyAddress {
        &self.config.local
    }

    /// Dialogues under way.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What was discarded.
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
            Err(error) => match originating_of(octets) {
                Some(destination) => {
                    self.counters.aborted_malformed += 1;
                    self.abort(calling.clone(), destination, error.cause());
                }
                None => self.counters.discarded_malformed += 1,
            },
        }
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
                    self.counters.unknown_transaction += 1;
                    self.abort(calling.clone(), originating, AbortCause::UNRECOGNIZED_TRANSACTION);
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

    /// What the dialogues want next. Invocations whose time is over are indicated first.
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
    use crate::sccp::Ssn;
    use crate::tcap::Code;
    use proptest::prelude::*;
    use slantpath_base::Duration;

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
