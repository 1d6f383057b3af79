//! Outcome of a run, in the numbers by which two runs are compared.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};
use slantpath_base::{Duration, Instant};
use slantpath_sctp::Notice;

use crate::explain::story::{AssociationStory, MessageDelays, Step, StepKind, Story};

/// Outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceOutcome {
    /// Messages of which a part was sent.
    pub sent: u64,
    /// Messages that the peer has acknowledged.
    pub acknowledged: u64,
    /// Messages that their readers had.
    pub delivered: u64,
    /// Instant at which the last of them was delivered.
    pub last_delivery: Option<Instant>,
    /// The mean of their delays.
    pub delay_mean: Option<Duration>,
    /// The longest of their delays.
    pub delay_max: Option<Duration>,
    /// The longest time between two deliveries.
    pub longest_gap: Option<Duration>,
    /// The mean time from when a message was first sent until the peer had acknowledged it.
    pub acknowledgement_mean: Option<Duration>,
    /// The longest of these times.
    pub acknowledgement_max: Option<Duration>,
    /// The longest time between two acknowledgements.
    pub acknowledgement_gap: Option<Duration>,
    /// Messages that had to be retransmitted.
    pub messages_resent: u64,
    /// DATA chunks that were retransmitted.
    pub chunks_resent: u64,
    /// Expiries of T3-rtx.
    pub timeouts: u64,
    /// Changes of new DATA from a path that did not answer to another one.
    pub failovers: u64,
    /// The first of them: from the departure of the last packet that the former path has answered to that of the first
    /// new DATA on another one.
    pub first_failover: Option<Duration>,
    /// The longest of them.
    pub longest_failover: Option<Duration>,
    /// Associations that have ended otherwise than in order.
    pub broken: u64,
}

impl TraceOutcome {
    pub(crate) fn of(story: &Story) -> Self {
        let mut outcome = Self::default();
        let mut delays = MessageDelays::default();
        let mut acknowledgements = MessageDelays::default();
        outcome.tell_failovers(story.associations.values());
        for association in story.associations.values() {
            outcome.add(association);
            delays.join(&association.delays);
            acknowledgements.join(&association.acknowledgements);
        }
        (outcome.delivered, outcome.delay_mean) = (delays.messages, delays.mean());
        outcome.delay_max = delays.longest.map(|(longest, _)| longest);
        outcome.longest_gap = delays.longest_gap.map(|(gap, _)| gap);
        outcome.last_delivery = delays.span.map(|(_, last)| last);
        outcome.acknowledgement_mean = acknowledgements.mean();
        outcome.acknowledgement_max = acknowledgements.longest.map(|(longest, _)| longest);
        outcome.acknowledgement_gap = acknowledgements.longest_gap.map(|(gap, _)| gap);
        outcome
    }

    fn add(&mut self, association: &AssociationStory) {
        self.sent += association.messages_sent;
        self.acknowledged += association.messages_acknowledged;
        self.messages_resent += association.resent.len() as u64 + association.resent_left_out;
        self.chunks_resent += association.chunks_resent;
        self.timeouts += association.paths.iter().map(|path| path.timeouts).sum::<u64>();
        self.broken += u64::from(association.closed.as_ref().is_some_and(|(_, orderly, _)| !orderly));
    }

    /// Tells the failovers of all associations: the first is the first in time, whichever association it was of.
    fn tell_failovers<'a>(&mut self, associations: impl Iterator<Item = &'a AssociationStory>) {
        let all: Vec<(Instant, Duration)> = associations.flat_map(failovers).collect();
        self.failovers = all.len() as u64;
        self.first_failover = all.iter().min_by_key(|(at, _)| *at).map(|(_, took)| *took);
        self.longest_failover = all.iter().map(|(_, took)| *took).max();
    }

    /// The numbers with their names and units, in the order in which they are told.
    pub fn rows(&self) -> Vec<(&'static str, &'static str, Option<String>)> {
        let millis = |time: Option<Duration>| time.map(|time| format!("{:.3}", time.as_millis_f64()));
        let count = |count: u64| Some(count.to_string());
        // Of real sockets a trace knows one end only.
        let is_delivery_known = self.delivered > 0 || self.acknowledged == 0;
        let last = self.last_delivery.map(|at| format!("{:.6}", at.since_start().as_secs_f64()));
        vec![
            ("sent", "messages", count(self.sent)),
            ("acknowledged", "messages", count(self.acknowledged)),
            ("delivered", "messages", count(self.delivered).filter(|_| is_delivery_known)),
            ("last delivery", "s", last),
            ("delay, mean", "ms", millis(self.delay_mean)),
            ("delay, at most", "ms", millis(self.delay_max)),
            ("longest gap in deliveries", "ms", millis(self.longest_gap)),
            ("until acknowledged, mean", "ms", millis(self.acknowledgement_mean)),
            ("until acknowledged, at most", "ms", millis(self.acknowledgement_max)),
            ("longest gap in acknowledgements", "ms", millis(self.acknowledgement_gap)),
            ("messages retransmitted", "messages", count(self.messages_resent)),
            ("chunks retransmitted", "chunks", count(self.chunks_resent)),
            ("T3-rtx expired", "times", count(self.timeouts)),
            ("failovers", "times", count(self.failovers)),
            ("first failover", "ms", millis(self.first_failover)),
            ("longest failover", "ms", millis(self.longest_failover)),
            ("ended out of order", "associations", count(self.broken)),
        ]
    }

    /// Gives the outcome as JSON, for programs.
    pub fn json(&self) -> Value {
        let seconds = |time: Option<Duration>| time.map(Duration::as_secs_f64);
        json!({
            "sent": self.sent,
            "acknowledged": self.acknowledged,
            "delivered": self.delivered,
            "last_delivery_s": self.last_delivery.map(|at| at.since_start().as_secs_f64()),
            "delay_mean_s": seconds(self.delay_mean),
            "delay_max_s": seconds(self.delay_max),
            "longest_gap_s": seconds(self.longest_gap),
            "acknowledgement_mean_s": seconds(self.acknowledgement_mean),
            "acknowledgement_max_s": seconds(self.acknowledgement_max),
            "acknowledgement_gap_s": seconds(self.acknowledgement_gap),
            "messages_resent": self.messages_resent,
            "chunks_resent": self.chunks_resent,
            "timeouts": self.timeouts,
            "failovers": self.failovers,
            "first_failover_s": seconds(self.first_failover),
            "longest_failover_s": seconds(self.longest_failover),
            "broken": self.broken,
        })
    }
}

/// Instant and duration of each failover, as the association has told it.
fn failovers(association: &AssociationStory) -> Vec<(Instant, Duration)> {
    let told: Vec<(Instant, Duration)> = association.steps.iter().filter_map(told_failover).collect();
    if told.is_empty() { failovers_by_errors(association) } else { told }
}

/// Failover that a step tells. Of a path that has answered nothing, the time counts from when an answer was first due.
fn told_failover(step: &Step) -> Option<(Instant, Duration)> {
    let StepKind::Told(Notice::FailedOver { unanswered_ns, first_timeout_ns, .. }) = &step.kind else {
        return None;
    };
    Some((step.at, unanswered_ns.or(*first_timeout_ns).unwrap_or_default()))
}

/// Variant of [`failovers`] for traces of associations that did not tell them: from the departure of the oldest packet
/// that was not answered on the path that was left. Where HEARTBEATs alone were not answered, it begins with the first
/// of these errors.
fn failovers_by_errors(association: &AssociationStory) -> Vec<(Instant, Duration)> {
    let mut unanswered_since: BTreeMap<IpAddr, Instant> = BTreeMap::new();
    let mut carrier = association.paths.iter().find(|path| path.is_primary).map(|path| path.address);
    let mut found = Vec::new();
    for step in &association.steps {
        let Some(path) = step.path else { continue };
        match step.kind {
            StepKind::TimedOut(_, _, Some(oldest)) => {
                unanswered_since.entry(path).or_insert(oldest);
            }
            StepKind::Unanswered(..) => {
                unanswered_since.entry(path).or_insert(step.at);
            }
            StepKind::Answered(..) => {
                unanswered_since.remove(&path);
            }
            // The first primary path is known before anything is sent.
            StepKind::Primary if unanswered_since.is_empty() => carrier = Some(path),
            StepKind::NewData(_) => {
                let left = carrier.replace(path).filter(|left| *left != path);
                let since = left.and_then(|left| unanswered_since.get(&left));
                found.extend(since.map(|since| (step.at, step.at.saturating_since(*since))));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::story::MessageKey;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn at(number: u64) -> Instant {
        Instant::START + ms(number)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// An association that sends over path 1, and moves to path 2: what was not answered had left, and new DATA left on
    /// the other path, at these times.
    fn moved(unanswered: u64, new: u64) -> AssociationStory {
        let step = |at, path, kind| Step { at, path: Some(address(path)), kind };
        let steps = vec![
            step(at(0), 1, StepKind::Primary),
            step(at(10), 1, StepKind::NewData(MessageKey::Number(0))),
            step(at(new - 1), 1, StepKind::TimedOut(ms(1_000), 500, Some(at(unanswered)))),
            step(at(new), 2, StepKind::NewData(MessageKey::Number(1))),
        ];
        story(steps)
    }

    fn story(steps: Vec<Step>) -> AssociationStory {
        let mut association = AssociationStory::default();
        association.steps = steps;
        association
    }

    #[test]
    fn the_first_failover_is_the_first_in_time_of_any_association() {
        let mut outcome = TraceOutcome::default();
        outcome.tell_failovers([moved(8_000, 10_000), moved(4_000, 5_000), moved(6_000, 6_500)].iter());
        assert_eq!(
            (outcome.failovers, outcome.first_failover, outcome.longest_failover),
            (3, Some(ms(1_000)), Some(ms(2_000)))
        );
    }

    #[test]
    fn a_path_that_has_answered_meanwhile_begins_anew() {
        let step = |at, path, kind| Step { at, path: Some(address(path)), kind };
        let steps = vec![
            step(at(0), 1, StepKind::Primary),
            step(at(1_000), 1, StepKind::TimedOut(ms(1_000), 500, Some(at(100)))),
            step(at(2_000), 1, StepKind::Answered(None, 1)),
            step(at(7_000), 1, StepKind::TimedOut(ms(1_000), 500, Some(at(6_000)))),
            step(at(8_000), 1, StepKind::TimedOut(ms(1_000), 500, Some(at(7_000)))),
            step(at(8_500), 2, StepKind::NewData(MessageKey::Number(1))),
            // Back, while the path that is left has answered all along: no failover.
            step(at(9_000), 1, StepKind::NewData(MessageKey::Number(2))),
        ];
        assert_eq!(failovers(&story(steps)), [(at(8_500), ms(2_500))]);
    }

    #[test]
    fn a_failover_that_the_association_tells_counts_from_the_last_answer() {
        let told = |unanswered, first_timeout| Step {
            at: at(8_500),
            path: Some(address(2)),
            kind: StepKind::Told(Notice::FailedOver {
                path: address(2),
                former: address(1),
                message: Some(1),
                unanswered_ns: unanswered,
                first_timeout_ns: first_timeout,
                decided_ns: None,
            }),
        };
        let mut association = moved(8_000, 8_500);
        association.steps.push(told(Some(ms(3_000)), Some(ms(400))));
        assert_eq!(failovers(&association), [(at(8_500), ms(3_000))]);
        // A path that has answered nothing counts from when an answer was due.
        assert_eq!(failovers(&story(vec![told(None, Some(ms(400)))])), [(at(8_500), ms(400))]);
    }

    #[test]
    fn each_number_is_told_under_its_name() {
        let outcome = TraceOutcome {
            sent: 1,
            acknowledged: 2,
            delivered: 3,
            last_delivery: Some(at(4)),
            delay_mean: Some(ms(5)),
            delay_max: Some(ms(6)),
            longest_gap: Some(ms(7)),
            acknowledgement_mean: Some(ms(8)),
            acknowledgement_max: Some(ms(9)),
            acknowledgement_gap: Some(ms(10)),
            messages_resent: 11,
            chunks_resent: 12,
            timeouts: 13,
            failovers: 14,
            first_failover: Some(ms(15)),
            longest_failover: Some(ms(16)),
            broken: 17,
        };
        let told: Vec<String> = outcome
            .rows()
            .into_iter()
            .map(|(name, unit, value)| format!("{name}: {} {unit}", value.unwrap_or_default()))
            .collect();
        let wanted = [
            "sent: 1 messages",
            "acknowledged: 2 messages",
            "delivered: 3 messages",
            "last delivery: 0.004000 s",
            "delay, mean: 5.000 ms",
            "delay, at most: 6.000 ms",
            "longest gap in deliveries: 7.000 ms",
            "until acknowledged, mean: 8.000 ms",
            "until acknowledged, at most: 9.000 ms",
            "longest gap in acknowledgements: 10.000 ms",
            "messages retransmitted: 11 messages",
            "chunks retransmitted: 12 chunks",
            "T3-rtx expired: 13 times",
            "failovers: 14 times",
            "first failover: 15.000 ms",
            "longest failover: 16.000 ms",
            "ended out of order: 17 associations",
        ];
        assert_eq!(told, wanted);
        let json = json!({
            "sent": 1, "acknowledged": 2, "delivered": 3, "last_delivery_s": 0.004, "delay_mean_s": 0.005,
            "delay_max_s": 0.006, "longest_gap_s": 0.007, "acknowledgement_mean_s": 0.008,
            "acknowledgement_max_s": 0.009, "acknowledgement_gap_s": 0.01, "messages_resent": 11,
            "chunks_resent": 12, "timeouts": 13, "failovers": 14, "first_failover_s": 0.015,
            "longest_failover_s": 0.016, "broken": 17,
        });
        assert_eq!(outcome.json(), json);
        // A trace of one real socket knows no deliveries: none is told, rather than zero.
        let of_one_end = TraceOutcome { sent: 3, acknowledged: 3, ..TraceOutcome::default() };
        assert_eq!(of_one_end.rows()[2].2, None);
        assert_eq!(TraceOutcome { sent: 3, ..TraceOutcome::default() }.rows()[2].2.as_deref(), Some("0"));
    }
}
