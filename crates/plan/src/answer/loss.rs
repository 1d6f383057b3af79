//! Random loss: how often it takes a link out of service, and how fast a window that follows it can be.

use super::{Impossible, Numbers, PACKET, Recommendation, Unit, kbit, time};
use crate::question::MessageCarrier;
use crate::timers::M2PA_T7;

/// The time that a link has to stay in service, in seconds.
const LOOKED_AT_S: f64 = 100.0;

/// Packets of a window from which on SACKs find a loss: three that follow, and those that are not acknowledged yet.
pub(super) const FOUND_FROM: f64 = 8.0;

/// Outages in it that are certain to be seen.
const OFTEN: f64 = 3.0;

/// Outages in it that are not to be expected.
pub(super) const RARELY: f64 = 0.05;

/// Outages in it with which none is promised.
pub(super) const HARDLY_EVER: f64 = 0.005;

/// Losses of one packet in a row that are looked at: more of them last longer than any timer that waits.
const IN_A_ROW_MOST: u32 = 8;

/// Times after which a message is answered whose packet was lost, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Time of the answer if nothing is lost.
    pub(super) answered: f64,
    pub(super) round_trip: f64,
    pub(super) rto_min: f64,
    pub(super) rto_max: f64,
    /// True if enough packets follow for their SACKs to find the first loss.
    pub(super) is_found: bool,
}

impl Recovery {
    /// The answer's time with so many losses in a row. The first is found by the SACKs of later packets, each further
    /// one by T3-rtx, which doubles (RFC 9260, sections 7.2.4 and 6.3.3).
    fn after(&self, losses: u32) -> f64 {
        let mut after = self.answered;
        let mut rto = self.rto_min;
        for number in 0..losses {
            if number == 0 && self.is_found {
                after += self.round_trip;
            } else {
                after += rto;
                rto = (2.0 * rto).min(self.rto_max.max(self.rto_min));
            }
        }
        after
    }

    /// The most losses in a row that a timer outlasts.
    fn outlasted_by(&self, timer: f64) -> u32 {
        (0..IN_A_ROW_MOST).take_while(|losses| self.after(losses + 1) < timer).count().try_into().unwrap_or(0)
    }
}

impl Numbers {
    /// The rate that a window reaches which takes each loss for congestion.
    pub(super) fn congestion_setting(&self, window_octets: f64, needed: f64) -> Recommendation {
        let limit = 1.22 * window_octets.max(PACKET) * 8.0 / (self.round_trip.max(1e-3) * self.loss.sqrt());
        Recommendation::new("sctp.congestion_control", limit, Unit::BitPerSecond).within(Some(needed), None).because(
            format!(
                "the window of this answer is fixed, and no loss reduces it; where it follows RFC 9260, as in Linux, \
                 {:.2} % of loss leave this rate at most (Mathis et al. 1997)",
                100.0 * self.loss
            ),
        )
    }

    /// Adds the demands that the loss of the path forbids. `packets` are those with DATA that an association sends in a
    /// second.
    pub(super) fn loss_faults(
        &self,
        recovery: &Recovery,
        packets: f64,
        (needed, total): (f64, f64),
        impossible: &mut Vec<Impossible>,
    ) {
        let percent = |part: f64| format!("{:.2} %", 100.0 * part);
        let passing = 1.0 - self.loss;
        if needed > total * passing {
            impossible.push(Impossible {
                concerns: "path.loss",
                breaks: "loss",
                demand: format!("{} on Ethernet with {} of loss", kbit(needed), percent(self.loss)),
                why: if passing > 0.0 {
                    format!("what is retransmitted makes them {} of {}", kbit(needed / passing), kbit(total))
                } else {
                    "nothing arrives".to_owned()
                },
                possible: format!("a loss of {}", percent((1.0 - needed / total).max(0.0))),
            });
        }
        if self.carrier != MessageCarrier::M2pa {
            return;
        }
        let timer = M2PA_T7.most.as_secs_f64();
        // A timer that no answer meets is told by itself.
        if recovery.answered >= timer {
            return;
        }
        let in_a_row = recovery.outlasted_by(timer) + 1;
        let per_second = self.outages(recovery, packets)(timer) / LOOKED_AT_S;
        if per_second * LOOKED_AT_S <= OFTEN {
            return;
        }
        let bearable = libm::pow(OFTEN / LOOKED_AT_S / (2.0 * packets), 1.0 / f64::from(in_a_row));
        let lost = match in_a_row {
            1 => "a packet is lost".to_owned(),
            2 => "a packet and its retransmission are lost".to_owned(),
            _ => format!("a packet is lost {in_a_row} times in a row"),
        };
        impossible.push(Impossible {
            concerns: "path.loss",
            breaks: "m2pa.t7",
            demand: format!("links that stay in service with {} of loss", percent(self.loss)),
            why: format!(
                "{lost} every {}, and what follows is answered after {}, beyond T7 of {} at most ({})",
                time(1.0 / per_second),
                time(recovery.after(in_a_row)),
                M2PA_T7.most,
                M2PA_T7.source
            ),
            possible: format!("a loss below {:.3} %, or less delay", 100.0 * bearable),
        });
    }

    /// Number of times, in the hundred seconds looked at, that so many losses in a row outlast a timer: in both
    /// directions, a message, or what answers it. `packets` are those with DATA that an association sends in a second.
    /// Without M2PA no timer waits; then those count that delay a message by more than a loss that is found and a
    /// time-out.
    pub(super) fn outages(&self, recovery: &Recovery, packets: f64) -> impl Fn(f64) -> f64 + use<> {
        let (recovery, loss, associations) = (*recovery, self.loss, f64::from(self.associations));
        let is_timed = self.carrier == MessageCarrier::M2pa;
        move |timer| {
            let in_a_row = match (is_timed, recovery.is_found) {
                (true, _) => recovery.outlasted_by(timer) + 1,
                (false, true) => 3,
                (false, false) => 2,
            };
            LOOKED_AT_S * 2.0 * packets * associations * libm::pow(loss, f64::from(in_a_row))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_loss_costs_a_round_trip_and_each_further_one_a_time_out_that_doubles() {
        let recovery =
            Recovery { answered: 0.7, round_trip: 0.6, rto_min: 1.0, rto_max: 3.0, is_found: true };
        let expected = [0.7, 1.3, 2.3, 4.3, 7.3, 10.3];
        for (losses, after) in (0..).zip(expected) {
            assert!((recovery.after(losses) - after).abs() < 1e-9, "{losses}: {}", recovery.after(losses));
        }
        for (timer, losses) in [(0.5, 0), (1.299, 0), (1.301, 1), (2.301, 2), (4.301, 3)] {
            assert_eq!(recovery.outlasted_by(timer), losses, "{timer}");
        }
    }
}
