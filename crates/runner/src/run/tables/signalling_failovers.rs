//! `signalling_failovers` and `signalling_service`: traffic that has left a signalling link, or an ASP, for another.

use slantpath_base::Instant;

use crate::columns::{Count, Number, Text, columns};
use crate::run::failover_sums::FailoverSums;

columns! {
    /// Columns of `signalling_failovers`.
    pub(in crate::run) struct Columns {
        /// Time at which the first message that the former link or ASP would have carried was handed to the other.
        at_s: Number,
        /// Signalling point, or gateway, whose traffic it is.
        point: Text,
        /// Kind of what carries it: `link` of MTP3, or `association` to an ASP.
        kind: Text,
        /// Name of the one that carried it.
        from: Text,
        /// Name of the one that carries it from then on.
        to: Text,
        /// Reason: `line failed`, `deactivated`, `inhibited`, `processor outage`, `point restarted` and `asp failed` by
        /// the script; `link down`, `all packets lost`, `no contact` and `no route` of the packet network below.
        /// `spurious` if nothing of that happened: errors on a line, a timer, a process that does not answer.
        cause: Text,
        /// Time from which on it could not carry. Missing of a spurious failover.
        failed_s: Number,
        /// Failover time: from then until that first message was handed to the other.
        failover_s: Number,
        /// Part of it until the link was out of service at this point, or the ASP did not serve.
        unavailable_s: Number,
        /// Time until that first message was handed to the other, since the last packet left that the far end of the
        /// former's association has answered: all that an end can know. Missing of a line, and if none was answered.
        unanswered_s: Number,
    }
}

columns! {
    /// Columns of `signalling_service`.
    pub(in crate::run) struct ServiceColumns {
        /// Signalling point, gateway or ASP at this end.
        point: Text,
        /// Kind: `link` of MTP3, or `association` to an ASP, whose traffic moves to another one; `path` of the
        /// association below either, which moves to another path while the link or the ASP stays in service.
        kind: Text,
        /// Name of the signalling link, or of the association.
        name: Text,
        /// Failovers from it, or between its paths, since what carried it could no longer.
        failovers: Count,
        /// Failovers from it without such a reason.
        spurious_failovers: Count,
        /// Longest failover time. Missing if there was none.
        failover_max_s: Number,
    }
}

impl ServiceColumns {
    pub(in crate::run) fn push(&mut self, [point, kind, name]: [&str; 3], sums: FailoverSums) {
        self.point.push(point);
        self.kind.push(kind);
        self.name.push(name);
        self.failovers.push(sums.real);
        self.spurious_failovers.push(sums.spurious);
        self.failover_max_s.push_optional(sums.longest.map(slantpath_base::Duration::as_secs_f64));
    }
}

/// Failover with what is known of its reason.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct ToldDiversion<'a> {
    pub(in crate::run) at: Instant,
    pub(in crate::run) point: &'a str,
    pub(in crate::run) kind: &'static str,
    pub(in crate::run) names: [&'a str; 2],
    pub(in crate::run) failed: Option<(Instant, &'static str)>,
    pub(in crate::run) unavailable: Option<Instant>,
    /// Instant at which the newest packet left that the far end of the former's association has answered.
    pub(in crate::run) answered: Option<Instant>,
}

impl Columns {
    pub(in crate::run) fn push(&mut self, told: &ToldDiversion<'_>) {
        let ToldDiversion { at, point, kind, names: [from, to], failed, unavailable, answered } = *told;
        let since_failure = |at: Option<Instant>| {
            let (failed, _) = failed?;
            Some(at?.saturating_since(failed).as_secs_f64())
        };
        self.at_s.push_instant(at);
        self.point.push(point);
        self.kind.push(kind);
        self.from.push(from);
        self.to.push(to);
        self.cause.push(failed.map_or("spurious", |(_, cause)| cause));
        self.failed_s.push_optional(failed.map(|(at, _)| at.since_start().as_secs_f64()));
        self.failover_s.push_optional(since_failure(Some(at)));
        self.unavailable_s.push_optional(since_failure(unavailable));
        let unanswered = answered.map(|answered| at.saturating_since(answered).as_secs_f64());
        self.unanswered_s.push_optional(unanswered);
    }
}
