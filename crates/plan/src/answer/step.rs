//! The largest step of the load that window, queue and timers take.

use slantpath_base::DataRate;

use super::estimate::{Estimate, Load};
use super::{
    Answer, LOST_LEAST, Numbers, PromiseStanding, WAITS_MOST_S, bytes, kbit, rate, seconds, size, time,
};
use crate::window;

/// Bisections of what the lines have left.
const HALVINGS: u32 = 8;

/// The largest step of the load: the window lets out as much as it holds, the rest waits above it, and both until there
/// is capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargestStep {
    /// Step up to which nothing is lost, in bits of signalling links.
    pub taken: DataRate,
    /// Step from which on messages are certain to be lost, if the lines can have one.
    pub lost_from: Option<DataRate>,
    /// Step of equation 5, which counts the window alone.
    pub by_equation: DataRate,
    /// Reason why no larger one is taken.
    pub reason: String,
}

impl LargestStep {
    /// The step of an answer for which none has been looked for.
    pub(super) const NONE: Self = Self {
        taken: DataRate::from_bits_per_sec(0),
        lost_from: None,
        by_equation: DataRate::from_bits_per_sec(0),
        reason: String::new(),
    };
}

impl Numbers {
    /// Looks for the largest step that the settings of an answer take: steps are followed through queue and window as
    /// the load of the question is.
    pub(super) fn largest_step(&self, answer: &Answer) -> LargestStep {
        let lines = self.links * self.line_rate;
        let left = (1.0 - self.erlang).max(self.step);
        let cwnd = answer.value("sctp.cwnd");
        let timer = answer.setting("m2pa.t7").map_or(f64::INFINITY, |timer| timer.value);
        let set = answer.setting("gateway.transmission_queue").map(|queue| queue.value);
        let queue = |load: &Load| set.unwrap_or_else(|| WAITS_MOST_S * load.after.min(self.band_takes(load)));
        let of = |step: f64| {
            let numbers = Self { step, ..*self };
            let load = numbers.load();
            numbers.estimate(&load, cwnd, queue(&load))
        };
        let is_taken = |of: &Estimate| of.lost.most < LOST_LEAST && of.standstill.most < timer;
        let is_lost = |of: &Estimate| of.lost.least >= LOST_LEAST || of.standstill.least >= timer;
        let by_equation = self.step_by_equation(answer);
        let found = |taken: f64, lost_from: Option<f64>, reason: String| LargestStep {
            taken: rate(taken * lines),
            lost_from: lost_from.map(|step| rate(step * lines)),
            by_equation,
            reason,
        };
        // What the path loses takes links out of service with any step.
        if self.loss > 0.0
            && answer.promises.iter().any(|of| of.name == "loss" && of.standing != PromiseStanding::Given)
        {
            let reason = if set.is_some() { "links may go out of service" } else { "messages may be late" };
            return found(0.0, None, format!("with what the path loses, {reason}"));
        }
        let all = of(left);
        if is_taken(&all) {
            return found(left, None, "the lines have no more".to_owned());
        }
        // Steps that are taken lie below `open`, those that lose above `unlost`.
        let (mut taken, mut open, mut unlost) = (0.0, left, 0.0_f64);
        let (mut beyond, mut lost_from) = (all, is_lost(&all).then_some(left));
        let mut looked = self.step;
        for _ in 0..=HALVINGS {
            let found = of(looked);
            if is_taken(&found) {
                taken = looked;
            } else {
                (open, beyond) = (looked, found);
            }
            if is_lost(&found) {
                lost_from = Some(looked);
            } else {
                unlost = unlost.max(looked);
            }
            looked = f64::midpoint(taken, open);
        }
        while let Some(from) = lost_from
            && from - unlost > left / f64::from(1_u32 << HALVINGS)
        {
            let looked = f64::midpoint(unlost, from);
            if is_lost(&of(looked)) {
                lost_from = Some(looked);
            } else {
                unlost = looked;
            }
        }
        // Without a step it may be no better.
        if taken == 0.0 {
            let none = of(0.0);
            if is_lost(&none) {
                lost_from = Some(0.0);
            }
        }
        let reason = if beyond.lost.most < LOST_LEAST {
            format!("nothing may be answered for longer than T7 of {}", time(timer))
        } else if self.load().full.ethernet_per_line() * lines * (self.erlang + open)
            > self.permanent + self.on_demand
        {
            format!("{} may be less than the load", kbit(self.permanent + self.on_demand))
        } else if let Some(queue) = set {
            format!("a window of {} and a queue of {queue:.0} messages may be full", size(cwnd))
        } else {
            format!(
                "a window of {} may be full, and messages later than {}",
                size(cwnd),
                time(self.late_after())
            )
        };
        found(taken, lost_from, reason)
    }

    /// ΔB_max of equation 5, in bits of signalling links: a load that the permanent band carries, and what the window
    /// holds beyond it for a round trip and an allocation.
    fn step_by_equation(&self, answer: &Answer) -> DataRate {
        let framing = answer.framing;
        let k = framing.ethernet_per_window();
        let ethernet = self.links * self.line_rate * self.erlang * framing.ethernet_per_line();
        let (by_window, _) = window::largest_step(
            rate(self.permanent.min(ethernet) / k),
            bytes(answer.value("sctp.cwnd") * f64::from(self.associations)),
            seconds(self.round_trip),
            seconds(self.allocation),
            seconds(answer.value("sctp.rto_min")),
        );
        rate(by_window.as_bits_per_sec() as f64 / framing.window_per_line())
    }
}
