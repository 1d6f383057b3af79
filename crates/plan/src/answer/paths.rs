//! Retransmissions: after how many a path is passed over, given up, and the association with it.

use super::{Impossible, Numbers, Recommendation, Unit, seconds, time};
use crate::failover::detection;

/// Path.Max.Retrans of RFC 9260, section 16.
const PATH_MAX_RETRANS: u32 = 5;

/// Association.Max.Retrans of RFC 9260, section 16: that of two paths.
const ASSOCIATION_MAX_RETRANS: u32 = 10;

impl Numbers {
    /// Retransmissions of paths and associations. Where there is a second path, the first is passed over at its first
    /// time-out (RFC 7829) and given up as late as RFC 9260 has it; a single path is given up with its association.
    pub(super) fn path_settings(
        &self,
        rto_min: f64,
        rto_max: f64,
        settings: &mut Vec<Recommendation>,
        impossible: &mut Vec<Impossible>,
    ) {
        let time_outs = |retransmissions: u32| {
            detection(seconds(rto_min), seconds(rto_max), retransmissions).as_secs_f64()
        };
        let count =
            |name, retransmissions: u32| Recommendation::new(name, f64::from(retransmissions), Unit::Count);
        let has_backup = self.failover.is_some() || self.backup_round_trip.is_some();
        if !has_backup {
            let after = time(time_outs(ASSOCIATION_MAX_RETRANS));
            settings.push(count("sctp.path_max_retrans", ASSOCIATION_MAX_RETRANS).because(
                "a single path has none to turn to: it is given up with its association, and not sooner (RFC 9260, \
                 section 8.2)",
            ));
            settings.push(count("sctp.association_max_retrans", ASSOCIATION_MAX_RETRANS).because(format!(
                "RFC 9260, section 16: the association ends after {} time-outs in a row, {after} at the least, and \
                 outlives every fade that is shorter",
                ASSOCIATION_MAX_RETRANS + 1
            )));
            return;
        }
        let one_way = self.backup_round_trip.unwrap_or(self.round_trip) / 2.0;
        settings.push(count("sctp.pf_max_retrans", 0).because(format!(
            "RFC 7829: new messages leave the path after its first time-out, {} and {} on the other one, and no \
             path is given up for a short fault",
            time(rto_min),
            time(one_way)
        )));
        settings.push(count("sctp.path_max_retrans", PATH_MAX_RETRANS).because(format!(
            "RFC 9260, section 16: a path that has been passed over is given up after {} time-outs, {}; it has to be \
             above `sctp.pf_max_retrans`",
            PATH_MAX_RETRANS + 1,
            time(time_outs(PATH_MAX_RETRANS))
        )));
        settings.push(count("sctp.association_max_retrans", 2 * PATH_MAX_RETRANS).because(format!(
            "the sum over both paths, and no more (RFC 9260, section 8.2): the association ends after {} time-outs in \
             a row on either",
            2 * PATH_MAX_RETRANS + 1
        )));
        let Some(within) = self.failover else { return };
        if rto_min + one_way <= within {
            return;
        }
        let why = if self.round_trip + one_way >= within {
            format!(
                "an acknowledgement is missed after a round trip of {} at the earliest, and what is retransmitted \
                 takes {} more: no setting helps",
                time(self.round_trip),
                time(one_way)
            )
        } else {
            format!(
                "T3 of {} must outlast a round trip with its SACK, and what is retransmitted takes {} more",
                time(rto_min),
                time(one_way)
            )
        };
        impossible.push(Impossible {
            concerns: "limits.failover",
            breaks: "limits.failover",
            demand: format!("failover within {}", time(within)),
            why,
            possible: format!(
                "{}; or a path that fails without being acknowledged: BFD, or a link alarm",
                time(rto_min + one_way)
            ),
        });
    }
}
