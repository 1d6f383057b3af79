//! Retransmissions: after how many a path is passed over, given up, and the association with it.

use super::{Impossible, MARGIN, Numbers, Recommendation, Unit, seconds, time};
use crate::failover::detection;

/// Path.Max.Retrans of RFC 9260, section 16.
const PATH_MAX_RETRANS: u32 = 5;

/// Association.Max.Retrans of RFC 9260, section 16: that of two paths.
const ASSOCIATION_MAX_RETRANS: u32 = 10;

/// The most retransmissions in a row that anything is set to.
const RETRANS_MOST: u32 = 10_000;

/// Interval of HEARTBEATs, in seconds (RFC 9260, section 16): each that nobody answers counts as a time-out does
/// (section 8.2).
const HB_INTERVAL_S: f64 = 30.0;

/// Follows time-outs in a row as long as `goes_on` with the errors that there are with the next one, and with the time
/// before it. Gives these errors, those of HEARTBEATs counted, and the sum of the time-outs. What is retransmitted at
/// the last one has to find the path working.
fn time_outs_within(rto_min: f64, rto_max: f64, goes_on: impl Fn(f64, f64) -> bool) -> (f64, f64) {
    let (mut errors, mut sum, mut next) = (0.0, 0.0_f64, rto_min);
    for time_outs in 1..=RETRANS_MOST {
        let with_next = f64::from(time_outs) + ((sum + next) / HB_INTERVAL_S).ceil();
        if !goes_on(with_next, sum) {
            break;
        }
        (errors, sum) = (with_next, sum + next);
        next = (2.0 * next).min(rto_max.max(rto_min));
    }
    (errors, sum)
}

/// A count that is not large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn whole_count(count: f64) -> u32 {
    count as u32
}

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
        let outlived =
            |most: u32| time_outs_within(rto_min, rto_max, |errors, _| errors <= f64::from(most)).1;
        let for_fade = |least: u32| {
            let Some(fade) = self.fade else { return least };
            let (errors, _) = time_outs_within(rto_min, rto_max, |_, before| before < MARGIN * fade);
            whole_count(errors).clamp(least, RETRANS_MOST)
        };
        let of_fade = |count: u32| match self.fade {
            Some(fade) if outlived(count) >= fade => format!(
                "a fade of {} is outlived: {} of time-outs come before the last retransmission, with HEARTBEATs that \
                 nobody answers",
                time(fade),
                time(outlived(count))
            ),
            _ => format!(
                "every fade that is shorter than {} is outlived, HEARTBEATs that nobody answers counted as well",
                time(outlived(count))
            ),
        };
        let has_backup = self.failover.is_some() || self.backup_round_trip.is_some();
        let path_max =
            if has_backup { for_fade(PATH_MAX_RETRANS) } else { for_fade(ASSOCIATION_MAX_RETRANS) };
        if let Some(fade) = self.fade
            && outlived(path_max) < fade
        {
            impossible.push(Impossible {
                concerns: "path.fade",
                breaks: "path.fade",
                demand: format!("associations that outlive a fade of {}", time(fade)),
                why: format!(
                    "{path_max} retransmissions, each after {} at most, outlive {}",
                    time(rto_max),
                    time(outlived(path_max))
                ),
                possible: format!("RTO.Max of {}", time((MARGIN * fade / f64::from(path_max)).ceil())),
            });
        }
        if !has_backup {
            let after = time(time_outs(path_max));
            settings.push(count("sctp.path_max_retrans", path_max).because(
                "a single path has none to turn to: it is given up with its association, and not sooner (RFC 9260, \
                 section 8.2)",
            ));
            settings.push(count("sctp.association_max_retrans", path_max).because(format!(
                "{}the association ends after {} time-outs in a row, {after} at the least; {}",
                if path_max == ASSOCIATION_MAX_RETRANS { "RFC 9260, section 16: " } else { "" },
                path_max + 1,
                of_fade(path_max)
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
        settings.push(count("sctp.path_max_retrans", path_max).because(format!(
            "{}a path that has been passed over is given up after {} time-outs, {}; it has to be above \
             `sctp.pf_max_retrans`",
            if path_max == PATH_MAX_RETRANS { "RFC 9260, section 16: " } else { "" },
            path_max + 1,
            time(time_outs(path_max))
        )));
        settings.push(count("sctp.association_max_retrans", 2 * path_max).because(format!(
            "the sum over both paths, and no more (RFC 9260, section 8.2): the association ends after {} time-outs in \
             a row on either; while one path answers none is counted, and if both are gone {}",
            2 * path_max + 1,
            of_fade(path_max)
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
