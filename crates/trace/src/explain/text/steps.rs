//! Each step of a story in words.

use slantpath_base::Instant;
use slantpath_sctp::{AssociationState, PathState, ReliabilityPolicy, Unanswered};

use super::{cause_words, duration, errors_words, evidence_words, instant, state_name, unanswered_name};
use crate::explain::story::{Step, StepKind};
use crate::header::TraceSettings;

/// Gives the words for a step, without the instant and the path.
pub(super) fn in_words(step: &Step, settings: &TraceSettings) -> String {
    match &step.kind {
        StepKind::Up => "the association is up".to_owned(),
        StepKind::Known(state) => format!("known, {}", state_name(*state)),
        StepKind::TimedOut(rto, outstanding, _) => format!(
            "T3-rtx expired after an RTO of {}; {outstanding} bytes outstanding are given up",
            duration(*rto)
        ),
        StepKind::Unanswered(what, errors, association_errors) => format!(
            "{} was not answered: error {errors} in a row (Path.Max.Retrans {}), of the association \
             {association_errors} (Association.Max.Retrans {})",
            unanswered_name(*what),
            settings.path_max_retrans,
            settings.association_max_retrans
        ),
        StepKind::Became(state, errors) => became_words(*state, errors, settings),
        StepKind::Answered(Some(after), errors) => {
            format!(
                "a HEARTBEAT was answered after {}, which ends {} in a row",
                duration(*after),
                errors_words(*errors)
            )
        }
        StepKind::Answered(None, errors) => {
            format!(
                "DATA that went nowhere else was acknowledged, which ends {} in a row",
                errors_words(*errors)
            )
        }
        StepKind::Primary => "is the primary path".to_owned(),
        StepKind::NewData(first) => format!("new DATA goes here, from {first} on"),
        StepKind::Reduced(reduction) => format!(
            "cwnd reduced from {} to {} bytes (ssthresh {}) {}",
            reduction.from,
            reduction.to,
            reduction.ssthresh,
            cause_words(reduction.cause)
        ),
        StepKind::Lost(count, evidence) => {
            format!("{} to be retransmitted: {}", chunks_words(*count), evidence_words(*evidence))
        }
        StepKind::PeerWindowClosed(since, room) => format!(
            "the peer's window lets out what is to be sent, after {}: it had room for {room} bytes, less than the \
             next chunk",
            duration(step.at.saturating_since(*since))
        ),
        StepKind::SwitchedOver => {
            "has become the primary path: the former one had not answered often enough".to_owned()
        }
        StepKind::LocalLink(source, false) => {
            format!("no packet can leave from {source}: it or its link has gone")
        }
        StepKind::LocalLink(source, true) => format!("packets can leave from {source} again"),
        StepKind::State(state) => state_words(*state).to_owned(),
        StepKind::Revoked(count) => {
            format!(
                "the peer has thrown away {}, acknowledged by Gap Ack Blocks before",
                chunks_words(*count)
            )
        }
        StepKind::Abandoned(count, stream, policy, was_sent) => {
            let messages = if *count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
            let sent = if *was_sent { "a part had been sent" } else { "unsent" };
            format!("{messages} of stream {stream} given up {}: {sent}", policy_words(*policy))
        }
        StepKind::Told(notice) => notice.words(),
        StepKind::Closed(true, reason) => reason.clone(),
        StepKind::Closed(false, reason) => format!("the association is gone: {reason}"),
    }
}

fn became_words(state: PathState, errors: &[(Instant, Unanswered)], settings: &TraceSettings) -> String {
    let list: Vec<String> =
        errors.iter().map(|(at, what)| format!("{} at {}", unanswered_name(*what), instant(*at))).collect();
    let list = list.join(", ");
    match state {
        PathState::Inactive if errors.is_empty() => "is inactive: our address has no link".to_owned(),
        PathState::Inactive => format!(
            "is inactive: more than Path.Max.Retrans ({}) errors in a row, {list}",
            settings.path_max_retrans
        ),
        PathState::PotentiallyFailed => {
            format!("is potentially failed, other paths are preferred: {list} not answered")
        }
        PathState::Active => "is active".to_owned(),
        PathState::Unconfirmed => "is unconfirmed".to_owned(),
    }
}

fn chunks_words(count: u64) -> String {
    if count == 1 { "1 chunk".to_owned() } else { format!("{count} chunks") }
}

/// Why a message was given up.
pub(super) const fn policy_words(policy: ReliabilityPolicy) -> &'static str {
    match policy {
        ReliabilityPolicy::Lifetime => "for their age (lifetime)",
        ReliabilityPolicy::Retransmissions => "for retransmissions beyond their limit",
        ReliabilityPolicy::Priority => "for room in the send buffer (priority)",
    }
}

const fn state_words(state: AssociationState) -> &'static str {
    match state {
        AssociationState::Established => "the association is up",
        AssociationState::ShutdownPending => "the shutdown waits until all is acknowledged",
        AssociationState::ShutdownSent => "SHUTDOWN has been sent",
        AssociationState::ShutdownReceived => "the peer has sent SHUTDOWN",
        AssociationState::ShutdownAckSent => "SHUTDOWN ACK has been sent",
        AssociationState::Closed => "the association is closed",
    }
}
