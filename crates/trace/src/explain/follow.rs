//! Takes in the records of one association.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationState, Notice, PathState, ReliabilityPolicy, Tsn, WaitReason, WindowCause};

use super::story::{
    AssociationStory, Idle, Loss, Message, MessageKey, PathStory, Reduction, Step, StepKind, Transmission,
};
use crate::field::TimerChange;
use crate::record::What;

/// Number of messages that were retransmitted, and number of those that are in flight, that are kept of an association.
const MESSAGES_MAX: usize = 200_000;
/// Number of steps of an association that are kept.
const STEPS_MAX: usize = 100_000;
/// Number of transmissions of one chunk, and of chunks of one message, that are kept.
pub(super) const REPEATS_MAX: usize = 256;
/// Number of spans without DATA that are kept.
const IDLES_MAX: usize = 10_000;
/// Greatest number of paths of an association that are told apart.
const PATHS_MAX: usize = 256;

impl AssociationStory {
    fn step(&mut self, at: Instant, path: Option<IpAddr>, kind: StepKind) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(Step { at, path, kind });
        } else {
            self.steps_left_out += 1;
        }
    }

    /// The path to an address; `None` if there are too many.
    fn path(&mut self, at: Instant, address: IpAddr) -> Option<&mut PathStory> {
        if let Some(place) = self.paths.iter().position(|path| path.address == address) {
            return self.paths.get_mut(place);
        }
        if self.paths.len() >= PATHS_MAX {
            return None;
        }
        self.paths.push(PathStory::new(at, address));
        self.paths.last_mut()
    }

    /// Takes in the next record.
    pub(super) fn follow(&mut self, at: Instant, what: &What, idle: Duration) {
        match what {
            What::Up { .. } => {
                self.up.get_or_insert(at);
                self.step(at, None, StepKind::Up);
            }
            What::Path { path, .. } => self.follow_path(at, *path, what),
            What::PathError { path, unanswered, errors, association_errors } => {
                if let Some(story) = self.path(at, *path) {
                    story.error_count = *errors;
                    story.errors.push_back((at, *unanswered));
                    if story.errors.len() > REPEATS_MAX {
                        story.errors.pop_front();
                    }
                }
                self.step(at, Some(*path), StepKind::Unanswered(*unanswered, *errors, *association_errors));
            }
            // Told by `up` and `closed`, and by the story itself.
            What::State { state: AssociationState::Established | AssociationState::Closed }
            | What::Dropped { .. }
            | What::End {} => {}
            What::State { state } => self.step(at, None, StepKind::State(*state)),
            What::Revoked { .. } => match self.steps.last_mut() {
                Some(Step { at: last, kind: StepKind::Revoked(count), .. }) if *last == at => *count += 1,
                _ => self.step(at, None, StepKind::Revoked(1)),
            },
            What::Room { .. } => self.rooms += 1,
            What::Sack { cumulative_tsn, gap_blocks, a_rwnd_bytes } => {
                self.sacks.add(*gap_blocks, *a_rwnd_bytes);
                self.follow_sack(*cumulative_tsn);
            }
            What::HeartbeatSent { path } => {
                if let Some(story) = self.path(at, *path) {
                    story.heartbeats[0] += 1;
                }
            }
            What::HeartbeatAnswered { path, round_trip_ns } => {
                if let Some(story) = self.path(at, *path) {
                    story.heartbeats[1] += 1;
                    story.answered = Some((at, *round_trip_ns));
                }
            }
            What::T3Rtx { path, change, rto_ns, outstanding_bytes } => {
                // Of a capture nobody knows the error counters: expiries count until the path answers.
                let is_captured = |story: &&mut PathStory| story.state.is_none();
                if *change != TimerChange::Expired
                    && let Some(step) =
                        self.path(at, *path).filter(is_captured).and_then(|story| story.forgive(at))
                {
                    self.step(at, Some(*path), step);
                }
                if *change == TimerChange::Expired {
                    if let Some(story) = self.path(at, *path) {
                        story.timeouts += 1;
                        story.error_count += u32::from(story.state.is_none());
                    }
                    let rto = rto_ns.unwrap_or_default();
                    let oldest = self.oldest_outstanding(*path);
                    let kind = StepKind::TimedOut(rto, outstanding_bytes.unwrap_or_default(), oldest);
                    self.step(at, Some(*path), kind);
                }
            }
            What::Sent { message, tsn, path, transmission } => {
                self.follow_sent(at, key(*message, *tsn), *tsn, *path, *transmission, idle);
            }
            What::Lost { message, tsn, path, evidence, reports, reordering_window_ns, .. } => {
                let loss = Loss {
                    at,
                    evidence: *evidence,
                    reports: *reports,
                    reordering_window: *reordering_window_ns,
                    is_restored: false,
                };
                self.follow_lost(key(*message, *tsn), *tsn, *path, loss);
            }
            What::Restored { message, tsn } => {
                if let Some(sent) = self.latest_transmission(key(*message, *tsn), *tsn)
                    && let Some(loss) = &mut sent.lost
                {
                    loss.is_restored = true;
                }
            }
            What::Acknowledged { message } => {
                self.messages_acknowledged += 1;
                // Of those without a number nobody knows which: the oldest, as they are acknowledged in order.
                let key = message.map(MessageKey::Number).or_else(|| self.take_oldest_unnumbered());
                if let Some(key) = key {
                    self.acknowledge(at, key);
                }
            }
            What::Delivered { message, offered_ns } => {
                let key = MessageKey::Number(*message);
                self.delays.add(at, *offered_ns, key);
                if let Some(message) = self.find(key) {
                    message.delivered = Some((at, *offered_ns));
                }
            }
            What::Failed { message } => {
                self.messages_failed += 1;
                let key = message.map(MessageKey::Number).or_else(|| self.take_oldest_unnumbered());
                if let Some(key) = key {
                    self.settle(key, |message| message.failed = Some(at));
                }
            }
            What::Waiting { reason, peer_rwnd_bytes } => {
                self.end_wait(at);
                self.waiting = Some((at, *reason));
                match (*reason, self.peer_window) {
                    (WaitReason::PeerWindow, None) => self.peer_window = Some((at, *peer_rwnd_bytes)),
                    (WaitReason::PeerWindow, Some(_)) => {}
                    _ => self.open_peer_window(at, idle),
                }
            }
            What::LocalLink { source, up } => {
                if *up {
                    self.links_down.remove(source);
                } else if self.links_down.len() < PATHS_MAX {
                    self.links_down.insert(*source);
                }
                self.step(at, None, StepKind::LocalLink(*source, *up));
            }
            What::Notice(Notice::PathChanged { path, state }) => self.change_state(at, *path, *state),
            What::Notice(Notice::PrimaryChanged { path }) => {
                self.step(at, Some(*path), StepKind::SwitchedOver);
            }
            What::Notice(Notice::Abandoned { message, stream, policy, sent }) => {
                self.follow_abandoned(at, *message, *stream, *policy, *sent);
            }
            What::Notice(notice) => self.step(at, notice.path(), StepKind::Told(notice.clone())),
            What::Closed { orderly, reason } => {
                self.end_wait(at);
                self.waiting = None;
                self.closed = Some((at, *orderly, reason.clone()));
                self.step(at, None, StepKind::Closed(*orderly, reason.clone()));
            }
        }
    }

    fn follow_path(&mut self, at: Instant, address: IpAddr, what: &What) {
        let What::Path {
            source,
            state,
            primary,
            cause,
            cwnd_bytes,
            ssthresh_bytes,
            srtt_ns,
            rto_ns,
            errors,
            ..
        } = what
        else {
            return;
        };
        let mut steps = Vec::new();
        let Some(path) = self.path(at, address) else { return };
        path.source = Some(*source);
        if path.state.is_none() {
            (path.state, path.since) = (Some(*state), at);
            path.cwnd = [*cwnd_bytes; 3];
            steps.push(StepKind::Known(*state));
        } else {
            let [least, greatest, last] = path.cwnd;
            if *cwnd_bytes < last && *cause != WindowCause::Unchanged {
                let reduction =
                    Reduction { cause: *cause, from: last, to: *cwnd_bytes, ssthresh: *ssthresh_bytes };
                add(&mut path.reductions, *cause, 1, |count, more| *count += more);
                if !matches!(cause, WindowCause::Controller | WindowCause::Recovering) {
                    steps.push(StepKind::Reduced(reduction));
                }
            }
            path.cwnd = [least.min(*cwnd_bytes), greatest.max(*cwnd_bytes), *cwnd_bytes];
            if *errors == 0 {
                steps.extend(path.forgive(at));
            }
            steps.extend(path.change_state(at, *state));
        }
        path.error_count = *errors;
        if *primary && !std::mem::replace(&mut path.is_primary, true) {
            steps.push(StepKind::Primary);
        }
        path.is_primary = *primary;
        path.rto = Some(ranged(path.rto, *rto_ns));
        if let Some(srtt) = srtt_ns {
            path.srtt = Some(ranged(path.srtt, *srtt));
        }
        for step in steps {
            let step = self.without_link(*source, step);
            self.step(at, Some(address), step);
        }
    }

    /// The layer above was told of another state: at once, before what governs the path is compared.
    fn change_state(&mut self, at: Instant, address: IpAddr, state: PathState) {
        let Some(path) = self.path(at, address) else { return };
        if path.state.is_none() {
            return;
        }
        let forgiven = if state == PathState::Active { path.forgive(at) } else { None };
        let changed = path.change_state(at, state);
        let source = path.source;
        for step in forgiven.into_iter().chain(changed) {
            let step = match source {
                Some(source) => self.without_link(source, step),
                None => step,
            };
            self.step(at, Some(address), step);
        }
    }

    /// A path whose own link has gone is inactive for that, and not for what was not answered.
    fn without_link(&self, source: IpAddr, step: StepKind) -> StepKind {
        match step {
            StepKind::Became(PathState::Inactive, _) if self.links_down.contains(&source) => {
                StepKind::Became(PathState::Inactive, Vec::new())
            }
            other => other,
        }
    }

    /// The peer's window holds nothing up any more.
    fn open_peer_window(&mut self, at: Instant, least: Duration) {
        if let Some((since, room)) = self.peer_window.take()
            && at.saturating_since(since) >= least
        {
            self.step(at, None, StepKind::PeerWindowClosed(since, room));
        }
    }

    fn follow_sent(
        &mut self,
        at: Instant,
        key: MessageKey,
        tsn: u32,
        path: IpAddr,
        transmission: u32,
        idle: Duration,
    ) {
        self.end_idle(at, idle);
        self.chunks_sent += 1;
        let is_first = transmission <= 1;
        self.chunks_resent += u64::from(!is_first);
        if let MessageKey::Number(number) = key {
            self.latest_message = self.latest_message.max(Some(number));
        }
        let carried_new = self.latest_new;
        if let Some(story) = self.path(at, path) {
            if is_first {
                story.chunks_sent += 1;
            } else {
                story.chunks_resent += 1;
            }
        }
        if is_first && carried_new.is_some_and(|before| before != path) {
            self.step(at, Some(path), StepKind::NewData(key));
        }
        if is_first {
            self.latest_new = Some(path);
        }
        let sent = Transmission { at, path, lost: None };
        if let Some(message) = self.find(key) {
            message.send(tsn, sent);
            return;
        }
        self.messages_sent += u64::from(is_first);
        if self.under_way.len() < MESSAGES_MAX {
            let mut message = Message::default();
            message.send(tsn, sent);
            self.under_way.insert(key, message);
            if let MessageKey::Tsn(tsn) = key {
                self.unnumbered.push_back(tsn);
            }
        }
    }

    /// Departure of the oldest chunk outstanding on a path, first sent or retransmitted.
    fn oldest_outstanding(&self, path: IpAddr) -> Option<Instant> {
        let resent = self.resent_under_way.iter().filter_map(|key| self.resent.get(key));
        let parts = self.under_way.values().chain(resent).flat_map(|message| &message.parts);
        let latest = parts.filter_map(|part| part.sent.last());
        let is_outstanding = |sent: &Transmission| sent.lost.is_none_or(|loss| loss.is_restored);
        latest.filter(|sent| sent.path == path && is_outstanding(sent)).map(|sent| sent.at).min()
    }

    /// All up to the TSN has arrived. What an earlier SACK has covered and nobody has told as acknowledged, is no
    /// longer under way: the first chunks of a message, what was abandoned, and what a trace lacks.
    fn follow_sack(&mut self, cumulative_tsn: u32) {
        if let Some(covered) = self.covered.replace(Tsn(cumulative_tsn)) {
            while let Some(tsn) = self.unnumbered.front().filter(|tsn| Tsn(**tsn).is_at_or_before(covered)) {
                let key = MessageKey::Tsn(*tsn);
                self.unnumbered.pop_front();
                self.settle(key, |_| ());
            }
        }
    }

    /// The message without a number that was sent first of those under way, lost or not.
    fn take_oldest_unnumbered(&mut self) -> Option<MessageKey> {
        self.unnumbered.pop_front().map(MessageKey::Tsn)
    }

    fn follow_abandoned(
        &mut self,
        at: Instant,
        message: Option<u64>,
        stream: u16,
        policy: ReliabilityPolicy,
        sent: bool,
    ) {
        self.messages_abandoned.entry(policy).or_default()[usize::from(sent)] += 1;
        if let Some(number) = message {
            self.latest_message = self.latest_message.max(Some(number));
            self.settle(MessageKey::Number(number), |message| message.failed = Some(at));
        }
        // What is given up at once is one step.
        match self.steps.last_mut() {
            Some(Step { at: last, kind: StepKind::Abandoned(count, of, by, was_sent), .. })
                if *last == at && (*of, *by, *was_sent) == (stream, policy, sent) =>
            {
                *count += 1;
            }
            _ => self.step(at, None, StepKind::Abandoned(1, stream, policy, sent)),
        }
    }

    fn follow_lost(&mut self, key: MessageKey, tsn: u32, path: IpAddr, loss: Loss) {
        *self.lost.entry(loss.evidence).or_default() += 1;
        if let Some(story) = self.path(loss.at, path) {
            story.chunks_lost += 1;
        }
        // What is found at once is one step.
        match self.steps.last_mut() {
            Some(Step { at, path: of, kind: StepKind::Lost(count, evidence) })
                if *at == loss.at && *of == Some(path) && *evidence == loss.evidence =>
            {
                *count += 1;
            }
            _ => self.step(loss.at, Some(path), StepKind::Lost(1, loss.evidence)),
        }
        if let Some(message) = self.under_way.remove(&key) {
            if self.resent.len() < MESSAGES_MAX {
                self.resent.insert(key, message);
                self.resent_under_way.insert(key);
            } else {
                self.resent_left_out += 1;
            }
        }
        if let Some(sent) = self.latest_transmission(key, tsn) {
            sent.lost = Some(loss);
        }
    }

    fn find(&mut self, key: MessageKey) -> Option<&mut Message> {
        match self.resent.get_mut(&key) {
            Some(message) => Some(message),
            None if self.under_way.contains_key(&key) => self.under_way.get_mut(&key),
            None => self.asked.as_mut().filter(|_| self.asked_number.map(MessageKey::Number) == Some(key)),
        }
    }

    fn latest_transmission(&mut self, key: MessageKey, tsn: u32) -> Option<&mut Transmission> {
        let message = self.find(key)?;
        message.parts.iter_mut().find(|part| part.tsn == tsn)?.sent.last_mut()
    }

    fn acknowledge(&mut self, at: Instant, key: MessageKey) {
        let first = |message: &mut Message| message.parts.first()?.sent.first().map(|sent| sent.at);
        if let Some(sent) = self.find(key).and_then(first) {
            self.acknowledgements.add(at, sent, key);
        }
        self.settle(key, |message| message.acknowledged = Some(at));
    }

    /// A message is acknowledged or given up: it is no longer on its way.
    fn settle(&mut self, key: MessageKey, note: impl FnOnce(&mut Message)) {
        if let Some(message) = self.resent.get_mut(&key) {
            note(message);
            self.resent_under_way.remove(&key);
        } else if let Some(mut message) = self.under_way.remove(&key)
            && self.asked_number.map(MessageKey::Number) == Some(key)
        {
            note(&mut message);
            self.asked = Some(message);
        }
    }

    /// The wait that lasts ends now.
    fn end_wait(&mut self, at: Instant) {
        if let Some((since, reason)) = self.waiting {
            add(&mut self.waits, reason, at.saturating_since(since), add_time);
            if let Some(idle) = &mut self.idle {
                let from = since.max(idle.from);
                add(&mut idle.reasons, reason, at.saturating_since(from), add_time);
            }
            self.waiting = Some((at, reason));
        }
    }

    /// DATA leaves: a span without any ends, and another begins.
    fn end_idle(&mut self, at: Instant, least: Duration) {
        self.end_wait(at);
        let begins = Idle { from: at, to: at, reasons: Vec::new() };
        if let Some(mut idle) = self.idle.replace(begins)
            && at.saturating_since(idle.from) >= least
            && self.idles.len() < IDLES_MAX
        {
            idle.to = at;
            self.idles.push(idle);
        }
    }

    /// Ends the association's story with the trace: nothing follows.
    pub(super) fn finish(&mut self, until: Instant, idle: Duration) {
        if self.closed.is_none() {
            self.end_wait(until);
            self.open_peer_window(until, idle);
        }
        let until = self.closed.as_ref().map_or(until, |(at, ..)| *at);
        for path in &mut self.paths {
            if let Some(state) = path.state {
                add(&mut path.spans, state, until.saturating_since(path.since), add_time);
                path.since = until;
            }
        }
    }
}

impl PathStory {
    /// The path has answered: gives that step if there were errors.
    fn forgive(&mut self, at: Instant) -> Option<StepKind> {
        self.errors.clear();
        let errors = std::mem::take(&mut self.error_count);
        let answered = self.answered.filter(|(answered, _)| *answered == at).map(|(_, after)| after);
        (errors > 0).then_some(StepKind::Answered(answered, errors))
    }

    /// The path is in this state: gives that step if it was in another one.
    fn change_state(&mut self, at: Instant, state: PathState) -> Option<StepKind> {
        let before = self.state.replace(state).filter(|before| *before != state)?;
        add(&mut self.spans, before, at.saturating_since(self.since), add_time);
        self.since = at;
        let is_worse = matches!(state, PathState::Inactive | PathState::PotentiallyFailed);
        let errors = if is_worse { self.errors.iter().copied().collect() } else { Vec::new() };
        Some(StepKind::Became(state, errors))
    }

    fn new(at: Instant, address: IpAddr) -> Self {
        Self {
            address,
            source: None,
            state: None,
            is_primary: false,
            spans: Vec::new(),
            chunks_sent: 0,
            chunks_resent: 0,
            chunks_lost: 0,
            timeouts: 0,
            heartbeats: [0; 2],
            cwnd: [0; 3],
            reductions: Vec::new(),
            srtt: None,
            rto: None,
            since: at,
            errors: std::collections::VecDeque::new(),
            error_count: 0,
            answered: None,
        }
    }
}

fn key(message: Option<u64>, tsn: u32) -> MessageKey {
    message.map_or(MessageKey::Tsn(tsn), MessageKey::Number)
}

/// Adds to what is kept under a key.
fn add<K: PartialEq, V: Copy>(list: &mut Vec<(K, V)>, key: K, more: V, combine: impl FnOnce(&mut V, V)) {
    match list.iter_mut().find(|(known, _)| *known == key) {
        Some((_, value)) => combine(value, more),
        None => list.push((key, more)),
    }
}

fn add_time(sum: &mut Duration, more: Duration) {
    *sum = sum.saturating_add(more);
}

/// The least, the greatest and the last of some times.
fn ranged(before: Option<[Duration; 3]>, now: Duration) -> [Duration; 3] {
    before.map_or([now; 3], |[least, greatest, _]| [least.min(now), greatest.max(now), now])
}
