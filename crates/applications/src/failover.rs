//! Failovers of a sender: new messages go by another path, since the one that carried them has not answered.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::Notice;

/// Move of a sender's new messages to another path, as its association tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    /// Instant at which the first new message left by the other path.
    pub at: Instant,
    /// Address of the peer that has carried new messages before.
    pub from: IpAddr,
    /// Address of the peer that carries them from then on.
    pub to: IpAddr,
    /// Number of that first message, if it has one.
    pub message: Option<u32>,
    /// Instant at which the last packet left that the former path has answered.
    pub answered: Option<Instant>,
    /// Instant at which an answer was first due and did not come; `None` if the path's own link had gone.
    pub first_timeout: Option<Instant>,
    /// Instant at which another path was decided on.
    pub decided: Option<Instant>,
}

impl Failover {
    /// Takes a failover from what an association tells at `now`; `None` if that is something else.
    pub fn of(now: Instant, notice: &Notice) -> Option<Self> {
        let Notice::FailedOver { path, former, message, unanswered_ns, first_timeout_ns, decided_ns } =
            notice
        else {
            return None;
        };
        let before = |time: &Option<Duration>| time.map(|time| now - time);
        Some(Self {
            at: now,
            from: *former,
            to: *path,
            message: message.and_then(|number| u32::try_from(number).ok()),
            answered: before(unanswered_ns),
            first_timeout: before(first_timeout_ns),
            decided: before(decided_ns),
        })
    }
}
