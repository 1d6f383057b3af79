//! Promises of an answer, as data: `--verify` measures the same in a run.

use super::estimate::{Estimate, Range};
use super::loss::HARDLY_EVER;
use super::{Impossible, LOST_LEAST, Numbers, Recommendation};
use crate::question::MessageCarrier;

/// The way in which a promise is measured in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The share of messages since the step that did not arrive.
    Loss,
    /// The longest delay of a message from gateway to gateway, in seconds.
    Delay,
    /// Number of times that links went out of service.
    Outages,
    /// The longest time from a message to its answer, in seconds.
    Answer,
    /// The share of messages that SCTP retransmitted.
    Repeated,
    /// Standstill of arrivals after the first path has failed, in seconds.
    Standstill,
    /// Number of associations that ended in a fade.
    Ended,
}

impl Measure {
    /// Name as people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "lost since the step",
            Self::Delay => "longest delay",
            Self::Outages => "outages of links",
            Self::Answer => "longest answer",
            Self::Repeated => "retransmitted by SCTP",
            Self::Standstill => "nothing arrives for",
            Self::Ended => "associations ended",
        }
    }
}

/// Certainty of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseStanding {
    /// Given: the run has to keep it.
    Given,
    /// Within what can be foreseen it is kept, or it is not.
    Open,
    /// Refused: the run has to break it.
    Refused,
}

/// Promise that the settings keep, with the range that is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Name, such as `loss` or `m2pa.t7`.
    pub name: &'static str,
    /// The way in which it is measured.
    pub measure: Measure,
    /// Bound on what is measured.
    pub most: f64,
    /// Range that is expected.
    pub expected: Range,
    /// Certainty of the promise.
    pub standing: PromiseStanding,
}

/// Share that is retransmitted beside what the path loses: a SACK that is lost may cost a message as well.
const REPEATED_BESIDE: f64 = 0.005;

/// Factor of the delay that is promised. Of 640 random questions six exceeded 1.15, and none this.
const OF_DELAY: f64 = 1.3;

/// Room that bursts of whole windows need beyond the load, so that a failover is over soon.
const CATCHES_UP: f64 = 1.3;

impl Numbers {
    /// Promises that the settings keep.
    pub(super) fn promises(
        &self,
        settings: &[Recommendation],
        estimate: &Estimate,
        (rto_min, rto_max, outages): (f64, f64, &dyn Fn(f64) -> f64),
        impossible: &[Impossible],
    ) -> Vec<Promise> {
        let standing = |name: &str, is_sure: bool| {
            if impossible.iter().any(|impossible| impossible.breaks == name) {
                PromiseStanding::Refused
            } else if is_sure {
                PromiseStanding::Given
            } else {
                PromiseStanding::Open
            }
        };
        let promise = |name, measure, most: f64, expected: Range, is_sure| Promise {
            name,
            measure,
            most,
            expected,
            standing: standing(name, is_sure),
        };
        let after_loss = |range: Range| {
            if self.loss > 0.0 {
                Range { most: range.most + self.round_trip + rto_min, ..range }
            } else {
                range
            }
        };
        let timer = settings
            .iter()
            .find(|setting| setting.name == "m2pa.t7")
            .map_or(f64::INFINITY, |timer| timer.value);
        let is_carried = estimate.lost.most < LOST_LEAST;
        // Where packets are lost, a window that is full has no room to send them again.
        let has_room = self.loss == 0.0 || is_carried && !estimate.is_full;
        // Without M2PA, what is late is lost to whoever waits for it.
        let is_in_time = self.carrier == MessageCarrier::M2pa
            || OF_DELAY * after_loss(estimate.delay).most < self.late_after();
        let is_answered =
            is_in_time && estimate.standstill.most < timer && outages(timer) <= HARDLY_EVER && has_room;
        // Where the queue is full, links wait for longer than windows explain. What is under way when one goes out of
        // service is lost, or late.
        let is_kept = is_answered && is_carried && !estimate.is_tight;
        let delay = after_loss(estimate.delay);
        let answer = after_loss(estimate.answer);
        let mut promises = vec![
            promise("loss", Measure::Loss, LOST_LEAST, estimate.lost, is_kept),
            promise("delay", Measure::Delay, OF_DELAY * delay.most, delay, is_kept),
            promise(
                "sctp.rto",
                Measure::Repeated,
                2.0 * self.loss + REPEATED_BESIDE,
                Range { least: self.loss, most: self.loss },
                is_answered && estimate.acknowledged.most <= rto_max,
            ),
        ];
        for setting in settings {
            let timer = setting.value;
            if setting.name == "m2pa.t7" {
                promises.push(promise(setting.name, Measure::Outages, 0.0, estimate.standstill, is_kept));
            } else if setting.name.starts_with("mtp3.") {
                promises.push(promise(
                    setting.name,
                    Measure::Answer,
                    timer,
                    answer,
                    is_kept && answer.most < timer,
                ));
            }
        }
        if settings.iter().any(|setting| setting.name == "sctp.pf_max_retrans") {
            let one_way = self.backup_round_trip.unwrap_or(self.round_trip) / 2.0;
            let takes = rto_min + one_way;
            // SACKs that are under way still arrive, and T3-rtx runs from the last. A whole window is then
            // retransmitted in one burst, in front of what has come meanwhile.
            let load = self.load();
            let cwnd =
                settings.iter().find(|setting| setting.name == "sctp.cwnd").map_or(0.0, |cwnd| cwnd.value);
            let windows = cwnd * f64::from(self.associations);
            let burst = 8.0 * windows * load.full.ethernet_per_window() / (self.permanent + self.on_demand);
            let slowest = takes + self.round_trip / 2.0 + 2.0 * burst;
            // Where bursts take no more than the load, what waits does not drain for long.
            let catches_up = windows > CATCHES_UP * load.after * load.alone.window * (2.0 * one_way + burst);
            let within = self.failover.unwrap_or(slowest);
            let expected = Range { least: takes - rto_min / 2.0, most: slowest };
            let is_sure = is_kept && catches_up && expected.most <= within;
            promises.push(promise("limits.failover", Measure::Standstill, within, expected, is_sure));
        }
        if let Some(fade) = self.fade {
            let outlived = Range { least: fade, most: fade };
            promises.push(promise("path.fade", Measure::Ended, 0.0, outlived, true));
        }
        promises
    }
}
