//! A line between two terminals of MTP2: a bearer each way, which can fail.

use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::mtp2::{self, Arrival, Bearer};

use slantpath_signalling::network::{LineConfig, PointEnd, Side};

#[derive(Debug)]
pub(crate) struct Line {
    /// Ends of the link at which its terminals are.
    pub(crate) ends: [PointEnd; 2],
    bearers: [Bearer; 2],
    /// Last transmission of each terminal: a line that works again carries it from then on.
    last: [Option<mtp2::Transmission>; 2],
    condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Broken,
    Works,
}

impl Line {
    pub(crate) fn new(ends: [PointEnd; 2], config: &LineConfig, seed: Seed, path: &str) -> Self {
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
        Self { ends, bearers, last: [None, None], condition: Condition::Works }
    }

    /// A terminal begins to send.
    pub(crate) fn carry(&mut self, from: Side, transmission: mtp2::Transmission) {
        self.last[from as usize] = Some(transmission.clone());
        if self.condition == Condition::Works {
            self.bearers[from as usize].carry(transmission);
        }
    }

    /// The line carries nothing any more. Says whether it did: one that is broken twice stays broken.
    pub(crate) fn fail(&mut self) -> bool {
        std::mem::replace(&mut self.condition, Condition::Broken) == Condition::Works
    }

    /// The line carries again, first of all what each terminal repeats; a unit that was cut in two is lost.
    pub(crate) fn restore(&mut self, now: Instant) {
        if std::mem::replace(&mut self.condition, Condition::Works) == Condition::Works {
            return;
        }
        for (bearer, last) in self.bearers.iter_mut().zip(&self.last) {
            if let Some(last) = last.as_ref().filter(|last| last.repeats) {
                let end = now + (last.end - last.start);
                bearer.carry(mtp2::Transmission { start: now, end, ..last.clone() });
            }
        }
    }

    /// Takes what has come to the end at `to`. A broken line loses what was on it.
    pub(crate) fn poll_arrival(&mut self, now: Instant, to: Side) -> Option<Arrival> {
        loop {
            let arrival = self.bearers[to.far() as usize].poll_arrival(now)?;
            if self.condition == Condition::Works {
                return Some(arrival);
            }
        }
    }

    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.bearers.iter().filter_map(Bearer::next_arrival).min()
    }
}
