//! Decisions of an association and their reasons, for whoever wants to understand it afterwards.
//!
//! The decisions themselves are events anyway ([`Event::Transmitted`], [`Event::T3Rtx`], [`Event::PathChanged`] and so
//! on); these say what led to them. Nothing here is asked for unless [`SctpConfig::trace`] is set: what changes little
//! by little is compared with what was reported last, whenever nothing more can leave.
//!
//! [`Event::Transmitted`]: crate::Event::Transmitted
//! [`Event::T3Rtx`]: crate::Event::T3Rtx
//! [`Event::PathChanged`]: crate::Event::PathChanged
//! [`SctpConfig::trace`]: crate::SctpConfig::trace

use std::net::IpAddr;

use slantpath_base::Duration;

use crate::association::AssociationState;
use crate::path::{Path, PathState, Paths};
use crate::types::Tsn;

/// Something that only a trace tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// The association has gone into another state (RFC 9260, section 4), or is up.
    State(AssociationState),
    /// A path is seen for the first time, or what governs it has changed.
    Path(PathMetrics),
    /// Something sent to an address was not answered: the error counters have grown (RFC 9260, sections 8.1 and 8.2).
    PathError {
        /// Address of the peer.
        address: IpAddr,
        /// Kind of chunk that was not answered.
        unanswered: Unanswered,
        /// The error counter of the address.
        error_count: u32,
        /// Error counter of the association.
        association_error_count: u32,
    },
    /// A HEARTBEAT is on its way.
    HeartbeatSent {
        /// Address that it goes to.
        address: IpAddr,
    },
    /// A HEARTBEAT has been answered.
    HeartbeatAnswered {
        /// Address that it went to.
        address: IpAddr,
        /// Time from the HEARTBEAT to its answer.
        round_trip: Duration,
    },
    /// A SACK has come.
    Sack {
        /// All DATA chunks up to here have arrived, as it says.
        cumulative_tsn: Tsn,
        /// Number of Gap Ack Blocks in it.
        gap_blocks: u16,
        /// Room that the peer has, in bytes (a_rwnd).
        a_rwnd: u32,
    },
    /// A DATA chunk is to be retransmitted.
    Lost {
        /// The number that its message was sent with.
        context: u64,
        /// TSN of the chunk.
        tsn: Tsn,
        /// Address that it was sent to last.
        address: IpAddr,
        /// Evidence that the chunk was lost.
        evidence: LossEvidence,
    },
    /// A DATA chunk that counted as lost was not: it is in flight again, without having been sent.
    Restored {
        /// The number that its message was sent with.
        context: u64,
        /// TSN of the chunk.
        tsn: Tsn,
    },
    /// The peer has thrown away a DATA chunk that it had acknowledged by a Gap Ack Block (RFC 9260, section 6.2.1).
    Revoked {
        /// The number that its message was sent with.
        context: u64,
        /// TSN of the chunk.
        tsn: Tsn,
    },
    /// No packet can leave from an address of ours any more, or again.
    LocalLink {
        /// Address of ours.
        source: IpAddr,
        /// True if packets can leave from it.
        is_up: bool,
    },
    /// Nothing leaves for another reason than before.
    Waiting {
        /// Reason for which nothing leaves.
        reason: WaitReason,
        /// Window of the peer beyond what is in flight, in bytes.
        peer_rwnd: u64,
    },
}

/// Kind of chunk that was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// DATA, until T3-rtx expired.
    Data,
    /// A HEARTBEAT, for an RTO.
    Heartbeat,
    /// SHUTDOWN or SHUTDOWN ACK, until T2-shutdown expired.
    Shutdown,
    /// ASCONF, for an RTO (RFC 5061).
    Asconf,
    /// RE-CONFIG, for an RTO (RFC 6525).
    ReConfig,
}

/// Evidence that a DATA chunk is to be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossEvidence {
    /// So many SACKs have reported it missing (RFC 9260, section 7.2.4).
    MissIndications {
        /// Number of SACKs that reported it.
        reports: u8,
    },
    /// A chunk that was sent to the address after it has arrived, and time for reordering has passed (RFC 8985).
    Overtaken {
        /// Time since it was sent.
        age: Duration,
        /// The time for reordering.
        reordering_window: Duration,
    },
    /// None: it is the last in flight, and is retransmitted to show whether the last were lost (RFC 8985, section 7).
    Probed,
    /// The peer had no room for it, and has some now.
    Refused,
    /// T3-rtx of its address has expired (RFC 9260, section 6.3.3).
    TimedOut,
    /// The link of our address has gone: it cannot have left, or is not answered there.
    LinkDown,
    /// Packet that was longer than a link on the way carries.
    TooBig {
        /// MTU of the link, in bytes.
        mtu: u16,
    },
}

/// Values that govern a path, after everything that could leave has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathMetrics {
    /// The peer's address.
    pub address: IpAddr,
    /// Address of ours.
    pub source: IpAddr,
    /// State that tells if the path may carry data.
    pub state: PathState,
    /// True if this is the primary path.
    pub is_primary: bool,
    /// Cause of the change of the window since the last time.
    pub cause: WindowCause,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes.
    pub ssthresh: u64,
    /// Bytes outstanding to the address. That they alone have changed is not told.
    pub flight_size: u64,
    /// The smoothed round-trip time, once measured.
    pub srtt: Option<Duration>,
    /// The retransmission timeout, backed off as it may be.
    pub rto: Duration,
    /// Retransmissions and HEARTBEATs in a row without an answer.
    pub error_count: u32,
    /// The path MTU in bytes.
    pub mtu: u16,
}

/// Cause of a change of the congestion window or the slow-start threshold of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowCause {
    /// Acknowledgements have opened the window.
    Acknowledged,
    /// The controller by itself: an idle window decays, a model of the path has learned.
    Controller,
    /// Losses were found, and a recovery has begun.
    LossFound,
    /// The network has marked a packet in place of dropping it.
    Marked,
    /// The course of a recovery, or its end.
    Recovering,
    /// T3-rtx has expired.
    TimedOut,
    /// Neither has changed, or the path is seen for the first time.
    Unchanged,
    /// A reduction was in error and has been taken back.
    Undone,
}

/// Why nothing more leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Timed-out DATA waits for a SACK.
    AfterTimeout,
    /// As many packets have left at once as may.
    Burst,
    /// New DATA waits for more, to fill a packet.
    Bundling,
    /// The congestion window is full.
    CongestionWindow,
    /// There is nothing to send.
    NothingToSend,
    /// The controller's rate.
    Pacing,
    /// The peer has no room.
    PeerWindow,
    /// As many DATA chunks are outstanding as can be numbered.
    TooManyOutstanding,
    /// DATA that is lost or in flight on another path goes first.
    OtherPath,
}

/// Values that have been reported last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracer {
    state: Option<AssociationState>,
    waiting: Option<WaitReason>,
    paths: Vec<Reported>,
}

#[derive(Clone, Copy, Debug)]
struct Reported {
    metrics: PathMetrics,
    timeouts: u64,
    marks: u64,
    undone: u64,
    is_recovering: bool,
}

impl Tracer {
    /// Tells of another state.
    pub(crate) fn compare_state(&mut self, state: AssociationState, tell: &mut impl FnMut(TraceEvent)) {
        if self.state.replace(state) != Some(state) {
            tell(TraceEvent::State(state));
        }
    }

    /// Tells why nothing leaves, if the reason is another one.
    pub(crate) fn compare_waiting(
        &mut self,
        reason: WaitReason,
        peer_rwnd: u64,
        tell: &mut impl FnMut(TraceEvent),
    ) {
        if self.waiting.replace(reason) != Some(reason) {
            tell(TraceEvent::Waiting { reason, peer_rwnd });
        }
    }

    /// Tells of the paths of which anything has changed but the bytes in flight.
    pub(crate) fn compare_paths(
        &mut self,
        paths: &Paths,
        is_recovering: bool,
        tell: &mut impl FnMut(TraceEvent),
    ) {
        for id in paths.ids() {
            let now = Reported::of(&paths[id], id == paths.primary(), is_recovering);
            // Addresses may come and go: a path is known by its own.
            let is_same = |reported: &&mut Reported| reported.metrics.address == now.metrics.address;
            match self.paths.iter_mut().find(is_same) {
                None => {
                    self.paths.push(now);
                    tell(TraceEvent::Path(now.metrics));
                }
                Some(reported) => {
                    let before = std::mem::replace(reported, now);
                    if now.differs_from(&before) {
                        tell(TraceEvent::Path(PathMetrics { cause: now.cause(&before), ..now.metrics }));
                    }
                }
            }
        }
        if self.paths.len() > paths.ids().count() {
            let is_there = |reported: &Reported| paths.find(reported.metrics.address).is_some();
            self.paths.retain(is_there);
        }
    }
}

impl Reported {
    fn of(path: &Path, is_primary: bool, is_recovering: bool) -> Self {
        Self {
            metrics: path.metrics(is_primary),
            timeouts: path.stats.timeouts,
            marks: path.stats.mark_reductions,
            undone: path.stats.undone_reductions,
            is_recovering: is_recovering || path.is_in_fast_recovery(),
        }
    }

    fn differs_from(&self, before: &Self) -> bool {
        self.metrics != PathMetrics { flight_size: self.metrics.flight_size, ..before.metrics }
    }

    /// Cause of the change of the window since `before`.
    fn cause(&self, before: &Self) -> WindowCause {
        let (cwnd, ssthresh) = (self.metrics.cwnd, self.metrics.ssthresh);
        if (cwnd, ssthresh) == (before.metrics.cwnd, before.metrics.ssthresh) {
            return WindowCause::Unchanged;
        }
        let shrinks = cwnd < before.metrics.cwnd || ssthresh < before.metrics.ssthresh;
        match (self.is_recovering, before.is_recovering) {
            _ if self.timeouts > before.timeouts => WindowCause::TimedOut,
            _ if self.undone > before.undone => WindowCause::Undone,
            _ if self.marks > before.marks => WindowCause::Marked,
            (true, false) => WindowCause::LossFound,
            (true | false, true) => WindowCause::Recovering,
            (false, false) if shrinks => WindowCause::Controller,
            (false, false) => WindowCause::Acknowledged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported() -> Reported {
        let metrics = PathMetrics {
            address: [192, 0, 2, 1].into(),
            source: [192, 0, 2, 2].into(),
            state: PathState::Active,
            is_primary: true,
            cause: WindowCause::Unchanged,
            cwnd: 10_000,
            ssthresh: 20_000,
            flight_size: 0,
            srtt: None,
            rto: Duration::from_secs(1),
            error_count: 0,
            mtu: 1_500,
        };
        Reported { metrics, timeouts: 3, marks: 3, undone: 3, is_recovering: false }
    }

    #[test]
    fn the_cause_of_another_window_is_what_was_counted_since_or_the_recovery() {
        // Window and threshold, whether a recovery was and is in progress, what was counted: timeouts, reductions that
        // were undone, marks.
        type Case = ((u64, u64), (bool, bool), [u64; 3], WindowCause);
        let (same, more, less) = ((10_000, 20_000), (10_001, 20_000), (9_999, 20_000));
        let cases: [Case; 16] = [
            (same, (false, true), [4, 4, 4], WindowCause::Unchanged),
            (more, (false, false), [3, 3, 3], WindowCause::Acknowledged),
            ((10_000, 20_001), (false, false), [3, 3, 3], WindowCause::Acknowledged),
            (less, (false, false), [3, 3, 3], WindowCause::Controller),
            ((10_001, 19_999), (false, false), [3, 3, 3], WindowCause::Controller),
            ((9_999, 20_001), (false, false), [3, 3, 3], WindowCause::Controller),
            (less, (false, true), [3, 3, 3], WindowCause::LossFound),
            (more, (false, true), [3, 3, 3], WindowCause::LossFound),
            (less, (true, true), [3, 3, 3], WindowCause::Recovering),
            (more, (true, false), [3, 3, 3], WindowCause::Recovering),
            (less, (false, true), [4, 3, 3], WindowCause::TimedOut),
            (less, (false, false), [4, 4, 4], WindowCause::TimedOut),
            (more, (true, false), [3, 4, 3], WindowCause::Undone),
            (more, (false, false), [3, 4, 4], WindowCause::Undone),
            (less, (false, true), [3, 3, 4], WindowCause::Marked),
            (less, (true, true), [3, 3, 4], WindowCause::Marked),
        ];
        for ((cwnd, ssthresh), (was_recovering, is_recovering), [timeouts, undone, marks], expected) in cases
        {
            let before = Reported { is_recovering: was_recovering, ..reported() };
            let metrics = PathMetrics { cwnd, ssthresh, ..reported().metrics };
            let now = Reported { metrics, timeouts, marks, undone, is_recovering };
            assert_eq!(now.cause(&before), expected, "{now:?}");
        }
    }

    #[test]
    fn bytes_in_flight_alone_are_no_news_and_anything_else_is() {
        let before = reported();
        let with = |metrics| Reported { metrics, ..before }.differs_from(&before);
        assert!(!with(PathMetrics { flight_size: 1, ..before.metrics }));
        assert!(!Reported { timeouts: 4, is_recovering: true, ..before }.differs_from(&before));
        assert!(with(PathMetrics { error_count: 1, flight_size: 1, ..before.metrics }));
        assert!(with(PathMetrics { rto: Duration::from_secs(2), ..before.metrics }));
    }

    #[test]
    fn a_state_and_a_reason_are_told_when_they_become_others() {
        let mut tracer = Tracer::default();
        let mut events = Vec::new();
        let mut tell = |event| events.push(event);
        let states = [AssociationState::Established, AssociationState::ShutdownPending];
        for state in [states[0], states[0], states[1], states[0]] {
            tracer.compare_state(state, &mut tell);
        }
        let reasons = [WaitReason::Burst, WaitReason::Pacing];
        for (reason, peer_rwnd) in [(reasons[0], 1), (reasons[0], 2), (reasons[1], 3), (reasons[0], 4)] {
            tracer.compare_waiting(reason, peer_rwnd, &mut tell);
        }
        let waiting = |(reason, peer_rwnd)| TraceEvent::Waiting { reason, peer_rwnd };
        let expected = [states[0], states[1], states[0]].map(TraceEvent::State).into_iter();
        let expected = expected.chain([(reasons[0], 1), (reasons[1], 3), (reasons[0], 4)].map(waiting));
        assert_eq!(events, expected.collect::<Vec<_>>());
    }
}
