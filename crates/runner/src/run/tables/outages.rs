//! `outages` and `host_paths`: when paths between the hosts of flows carried nothing.

use slantpath_base::{Duration, Instant};
use slantpath_net::OutageCause;

use crate::columns::{Count, Number, Text, columns};

columns! {
    /// Columns of `outages`.
    pub(in crate::run) struct OutageColumns {
        /// Host that sends.
        from: Text,
        /// Host that it sends to.
        to: Text,
        /// Path, by the link of the address that it leads to.
        path: Text,
        /// Time from which on it carried nothing, on the way there or back.
        begin_s: Number,
        /// Time from which on it carried packets again. Missing if the run ended before.
        end_s: Number,
        /// Reason: `link down`, `all packets lost`, `no contact` or `no route`.
        cause: Text,
        /// Link that carried nothing. Of `no route`, the link by which packets came to where no way led on.
        link: Text,
    }
}

columns! {
    /// Columns of `host_paths`.
    pub(in crate::run) struct HostPathColumns {
        /// Host that sends.
        from: Text,
        /// Host that it sends to.
        to: Text,
        /// Path, by the link of the address that it leads to.
        path: Text,
        /// Number of outages.
        outages: Count,
        /// Time for which it carried nothing, after the warm-up.
        outage_s: Number,
        /// Longest single outage.
        outage_max_s: Number,
        /// Share of the time after the warm-up in which it carried packets, on both ways.
        available_share: Number,
    }
}

/// Names by which a path is called: of its two hosts and of its link.
pub(in crate::run) type PathNames<'a> = [&'a str; 3];

/// Time for which a path carried nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct OutageSpan {
    pub(in crate::run) begin: Instant,
    /// `None` while it lasts.
    pub(in crate::run) end: Option<Instant>,
    pub(in crate::run) cause: OutageCause,
}

impl OutageColumns {
    pub(in crate::run) fn push(&mut self, [from, to, path]: PathNames<'_>, span: OutageSpan, link: &str) {
        self.from.push(from);
        self.to.push(to);
        self.path.push(path);
        self.begin_s.push_instant(span.begin);
        self.end_s.push_optional(span.end.map(|end| end.since_start().as_secs_f64()));
        self.cause.push(span.cause.name());
        self.link.push(link);
    }
}

/// Sums over the outages of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct OutageSums {
    pub(in crate::run) outages: u64,
    pub(in crate::run) longest: Duration,
    /// Of the time that counts.
    pub(in crate::run) time: Duration,
}

impl HostPathColumns {
    /// Adds a path over a time that counts.
    pub(in crate::run) fn push(&mut self, [from, to, path]: PathNames<'_>, sums: OutageSums, span: Duration) {
        self.from.push(from);
        self.to.push(to);
        self.path.push(path);
        self.outages.push(sums.outages);
        self.outage_s.push(sums.time.as_secs_f64());
        self.outage_max_s.push(sums.longest.as_secs_f64());
        let share = (!span.is_zero()).then(|| 1.0 - sums.time.as_secs_f64() / span.as_secs_f64());
        self.available_share.push_optional(share);
    }
}
