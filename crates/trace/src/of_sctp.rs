//! Events of SCTP, as records.

use slantpath_base::Instant;
use slantpath_sctp::{self as sctp, Cause, CloseReason, LossEvidence, T3RtxChange, TraceEvent};

use crate::field::{Evidence, TimerChange};
use crate::record::{Record, What};

impl Record {
    /// An event of a traced association; `None` for what a trace does not tell: messages that have arrived, or parts of
    /// them, which are the reader's and no decision of the association.
    pub fn of_event(at: Instant, association: u32, event: &sctp::Event) -> Option<Self> {
        Some(Self { at, association, what: what(event)? })
    }
}

/// Messages without a number of their own are all sent with this one.
fn numbered(context: u64) -> Option<u64> {
    (context != u64::MAX).then_some(context)
}

fn what(event: &sctp::Event) -> Option<What> {
    Some(match event {
        sctp::Event::Established { outbound_streams, inbound_streams } => {
            What::Up { outbound_streams: *outbound_streams, inbound_streams: *inbound_streams }
        }
        sctp::Event::Acknowledged { context } => What::Acknowledged { message: numbered(*context) },
        sctp::Event::Transmitted { context, tsn, destination, transmission } => What::Sent {
            message: numbered(*context),
            tsn: tsn.0,
            path: *destination,
            transmission: *transmission,
        },
        sctp::Event::SendBufferDrained { free } => What::Room { free_bytes: *free },
        sctp::Event::SendFailed { message, .. } => What::Failed { message: numbered(message.context) },
        sctp::Event::T3Rtx { address, change } => {
            let (change, rto_ns, outstanding_bytes) = match *change {
                T3RtxChange::Expired { rto, outstanding } => {
                    (TimerChange::Expired, Some(rto), Some(outstanding))
                }
                T3RtxChange::Restarted { rto } => (TimerChange::Restarted, Some(rto), None),
                T3RtxChange::Started { rto } => (TimerChange::Started, Some(rto), None),
                T3RtxChange::Stopped => (TimerChange::Stopped, None, None),
            };
            What::T3Rtx { path: *address, change, rto_ns, outstanding_bytes }
        }
        sctp::Event::Closed(reason) => {
            What::Closed { orderly: *reason == CloseReason::ShutdownComplete, reason: closed(reason) }
        }
        sctp::Event::Trace(event) => traced(event),
        sctp::Event::Arrived { .. } | sctp::Event::Received(_) | sctp::Event::ReceivedPart(_) => return None,
        other => What::Notice(other.notice()?),
    })
}

fn traced(event: &TraceEvent) -> What {
    match event {
        TraceEvent::State(state) => What::State { state: *state },
        TraceEvent::Path(metrics) => What::Path {
            path: metrics.address,
            source: metrics.source,
            state: metrics.state,
            primary: metrics.is_primary,
            cause: metrics.cause,
            cwnd_bytes: metrics.cwnd,
            ssthresh_bytes: metrics.ssthresh,
            flight_bytes: metrics.flight_size,
            srtt_ns: metrics.srtt,
            rto_ns: metrics.rto,
            errors: metrics.error_count,
            mtu_bytes: metrics.mtu,
        },
        TraceEvent::PathError { address, unanswered, error_count, association_error_count } => {
            What::PathError {
                path: *address,
                unanswered: *unanswered,
                errors: *error_count,
                association_errors: *association_error_count,
            }
        }
        TraceEvent::HeartbeatSent { address } => What::HeartbeatSent { path: *address },
        TraceEvent::HeartbeatAnswered { address, round_trip } => {
            What::HeartbeatAnswered { path: *address, round_trip_ns: *round_trip }
        }
        TraceEvent::Sack { cumulative_tsn, gap_blocks, a_rwnd } => {
            What::Sack { cumulative_tsn: cumulative_tsn.0, gap_blocks: *gap_blocks, a_rwnd_bytes: *a_rwnd }
        }
        TraceEvent::Lost { context, tsn, address, evidence } => {
            let (message, tsn, path) = (numbered(*context), tsn.0, *address);
            let lost = |evidence, reports, age_ns, reordering_window_ns, mtu_bytes| What::Lost {
                message,
                tsn,
                path,
                evidence,
                reports,
                age_ns,
                reordering_window_ns,
                mtu_bytes,
            };
            match *evidence {
                LossEvidence::MissIndications { reports } => {
                    lost(Evidence::MissIndications, Some(reports.into()), None, None, None)
                }
                LossEvidence::Overtaken { age, reordering_window } => {
                    lost(Evidence::Overtaken, None, Some(age), Some(reordering_window), None)
                }
                LossEvidence::Probed => lost(Evidence::Probed, None, None, None, None),
                LossEvidence::Refused => lost(Evidence::Refused, None, None, None, None),
                LossEvidence::LinkDown => lost(Evidence::LinkDown, None, None, None, None),
                LossEvidence::TimedOut => lost(Evidence::TimedOut, None, None, None, None),
                LossEvidence::TooBig { mtu } => lost(Evidence::TooBig, None, None, None, Some(mtu)),
            }
        }
        TraceEvent::Restored { context, tsn } => What::Restored { message: numbered(*context), tsn: tsn.0 },
        TraceEvent::Revoked { context, tsn } => What::Revoked { message: numbered(*context), tsn: tsn.0 },
        TraceEvent::LocalLink { source, is_up } => What::LocalLink { source: *source, up: *is_up },
        TraceEvent::Waiting { reason, peer_rwnd } => {
            What::Waiting { reason: *reason, peer_rwnd_bytes: *peer_rwnd }
        }
    }
}

fn closed(reason: &CloseReason) -> String {
    match reason {
        CloseReason::Aborted(cause) => shortened(format!("aborted by this end: {cause}")),
        CloseReason::ShutdownComplete => "closed in order".to_owned(),
        CloseReason::PeerAborted(causes) if causes.is_empty() => {
            "aborted by the peer, which does not say why".to_owned()
        }
        CloseReason::PeerAborted(causes) => shortened(format!("aborted by the peer: {}", words(causes))),
        CloseReason::PeerUnreachable => {
            "the peer has left more unanswered than Association.Max.Retrans, or Max.Init.Retransmits, allows"
                .to_owned()
        }
        CloseReason::StaleCookie => "the peer has refused the cookie as stale".to_owned(),
        CloseReason::PeerRestarted => "the peer has begun anew before the end".to_owned(),
    }
}

fn words(causes: &[Cause]) -> String {
    let causes: Vec<String> = causes.iter().map(Cause::to_string).collect();
    causes.join(", ")
}

/// Shortens a string, for what a peer says may be long.
fn shortened(text: String) -> String {
    const MOST: usize = 512;
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Duration;
    use slantpath_sctp::{Notice, Tsn, Unanswered};

    fn path(last: u8) -> core::net::IpAddr {
        core::net::IpAddr::from([10, 0, 0, last])
    }

    /// No two numbers of an event are equal, so that none can stand in another's place.
    #[test]
    fn each_value_of_an_event_is_told_in_its_place() {
        let ms = Duration::from_millis;
        let lost = |evidence| {
            sctp::Event::Trace(Box::new(TraceEvent::Lost {
                context: 5,
                tsn: Tsn(6),
                address: path(7),
                evidence,
            }))
        };
        let told = |evidence, reports, age_ns, reordering_window_ns, mtu_bytes| What::Lost {
            message: Some(5),
            tsn: 6,
            path: path(7),
            evidence,
            reports,
            age_ns,
            reordering_window_ns,
            mtu_bytes,
        };
        let t3 = |change, rto_ns, outstanding_bytes| What::T3Rtx {
            path: path(1),
            change,
            rto_ns,
            outstanding_bytes,
        };
        let cases = [
            (
                sctp::Event::Established { outbound_streams: 1, inbound_streams: 2 },
                What::Up { outbound_streams: 1, inbound_streams: 2 },
            ),
            (
                sctp::Event::Transmitted { context: 1, tsn: Tsn(2), destination: path(3), transmission: 4 },
                What::Sent { message: Some(1), tsn: 2, path: path(3), transmission: 4 },
            ),
            (sctp::Event::Acknowledged { context: u64::MAX }, What::Acknowledged { message: None }),
            (
                sctp::Event::T3Rtx {
                    address: path(1),
                    change: T3RtxChange::Expired { rto: ms(2), outstanding: 3 },
                },
                t3(TimerChange::Expired, Some(ms(2)), Some(3)),
            ),
            (
                sctp::Event::T3Rtx { address: path(1), change: T3RtxChange::Restarted { rto: ms(2) } },
                t3(TimerChange::Restarted, Some(ms(2)), None),
            ),
            (
                sctp::Event::T3Rtx { address: path(1), change: T3RtxChange::Started { rto: ms(2) } },
                t3(TimerChange::Started, Some(ms(2)), None),
            ),
            (
                sctp::Event::T3Rtx { address: path(1), change: T3RtxChange::Stopped },
                t3(TimerChange::Stopped, None, None),
            ),
            (
                sctp::Event::Trace(Box::new(TraceEvent::PathError {
                    address: path(1),
                    unanswered: Unanswered::Heartbeat,
                    error_count: 2,
                    association_error_count: 3,
                })),
                What::PathError {
                    path: path(1),
                    unanswered: Unanswered::Heartbeat,
                    errors: 2,
                    association_errors: 3,
                },
            ),
            (
                sctp::Event::Trace(Box::new(TraceEvent::Sack {
                    cumulative_tsn: Tsn(2),
                    gap_blocks: 3,
                    a_rwnd: 4,
                })),
                What::Sack { cumulative_tsn: 2, gap_blocks: 3, a_rwnd_bytes: 4 },
            ),
            (
                lost(LossEvidence::MissIndications { reports: 8 }),
                told(Evidence::MissIndications, Some(8), None, None, None),
            ),
            (
                lost(LossEvidence::Overtaken { age: ms(8), reordering_window: ms(9) }),
                told(Evidence::Overtaken, None, Some(ms(8)), Some(ms(9)), None),
            ),
            (lost(LossEvidence::TooBig { mtu: 8 }), told(Evidence::TooBig, None, None, None, Some(8))),
            (sctp::Event::Restarted, What::Notice(Notice::Restarted {})),
        ];
        for (event, wanted) in cases {
            let record = Record::of_event(Instant::START + ms(1), 7, &event).unwrap();
            assert_eq!((record.at, record.association), (Instant::START + ms(1), 7));
            assert_eq!(record.what, wanted, "{event:?}");
        }
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(shortened("x".repeat(512)), "x".repeat(512));
        assert_eq!(shortened("x".repeat(513)), format!("{}…", "x".repeat(512)));
    }
}
