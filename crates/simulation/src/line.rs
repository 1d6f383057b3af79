//! A line between two terminals of MTP2: a bearer each way, which can fail.

use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::mtp2::{Arrival, Bearer, Transmission};

use super::config::{LineConfig, Side};

#[derive(Debug)]
pub(super) struct Line {
    bearers: [Bearer; 2],
    /// What each terminal has been sending last: what a line that works again carries from then on.
    last: [Option<Transmission>; 2],
    condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Broken,
    Works,
}

impl Line {
    pub(super) fn new(config: &LineConfig, seed: Seed, path: &str) -> Self {
        let bearer = |direction: &str| {
            let bearer = Bearer::new(config.delay);
            if config.bit_error_rate == 0.0 {
                return bearer;
            }
            let rate = config.terminal.rate.as_bits_per_sec() as f64;
            let mean = Duration::from_secs_f64(1.0 / (rate * config.bit_error_rate));
            bearer.with_errors(mean, seed.stream(&format!("{path}/{direction}")))
        };
        let bearers = [bearer("forward"), bearer("reverse")];
        Self { bearers, last: [None, None], condition: Condition::Works }
    }

    pub(super) const fn is_broken(&self) -> bool {
        matches!(self.condition, Condition::Broken)
    }

    /// A terminal begins to send.
    pub(super) fn carry(&mut self, from: Side, transmission: Transmission) {
        self.last[from as usize] = Some(transmission.clone());
        if self.condition == Condition::Works {
            self.bearers[from as usize].carry(transmission);
        }
    }

    pub(super) fn fail(&mut self) {
        self.condition = Condition::Broken;
    }

    /// The line carries again, first of all what each terminal repeats; a unit that was cut in two is lost.
    pub(super) fn restore(&mut self, now: Instant) {
        self.condition = Condition::Works;
        for (bearer, last) in self.bearers.iter_mut().zip(&self.last) {
            if let Some(last) = last.as_ref().filter(|last| last.repeats) {
                let end = now + (last.end - last.start);
                bearer.carry(Transmission { start: now, end, ..last.clone() });
            }
        }
    }

    /// What has come to the end at `to`. A broken line loses what was on it.
    pub(super) fn poll_arrival(&mut self, now: Instant, to: Side) -> Option<Arrival> {
        loop {
            let arrival = self.bearers[to.far() as usize].poll_arrival(now)?;
            if self.condition == Condition::Works {
                return Some(arrival);
            }
        }
    }

    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.bearers.iter().filter_map(Bearer::next_arrival).min()
    }
}
