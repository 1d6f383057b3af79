//! `[probes]`: what is measured and captured.

use core::fmt;

use slantpath_base::{Duration, Probability};
use slantpath_net::Sampling;
use slantpath_profiles::Interval;
use slantpath_reader::{Fault, Json, KeyValue, Setting, ValueNode, json, section, word_or};
use slantpath_results::Precision;

use crate::bounds::RUN;

section! {
    /// Measurements and captures. Counters of flows and links are always kept.
    pub struct Probes {
        /// Records each message: when it was sent, delivered and retransmitted, and on which path.
        messages: Setting<bool> = true;
        /// Precision of a histogram of the delays of each flow's messages: how far its percentiles may lie from the
        /// exact ones, between 0.001 % and 10 %. It needs no record of messages.
        delays: Setting<DelayPrecision> = DelayPrecision::Off;
        /// Delay from which on a message comes too late: `messages_late` of `flows` counts those.
        deadline: Setting<Interval> = Interval::Off, at most RUN;
        /// Counts the packets that hosts send to each other, and averages their one-way delays and how these change:
        /// all packets, those of the transports' own among them.
        host_pairs: Setting<bool> = false;
        /// Records what each terminal with capacity on demand had to send, asked for and had, whenever it looked. No if
        /// absent.
        access: Option<Setting<bool>>;
        /// Records each packet that a link or a node dropped: when, where, for which reason, and of which flow it was.
        /// The first 100 million are kept. No if absent.
        drops: Option<Setting<bool>>;
        /// Length of the intervals of which each flow, direction of a link, downlink that antennas share, signalling
        /// link and association that carries signalling has a row.
        intervals: Setting<Interval> = Interval::Off, at most RUN;
        /// Interval at which cwnd, ssthresh, outstanding bytes, RTO and SRTT of each path are sampled.
        paths: Setting<Interval> = Interval::Off, at most RUN;
        /// Interval at which the length of each link's queue is sampled.
        queues: Setting<QueueSampling> = QueueSampling(None), at most RUN;
        /// Interval at which the places of satellites, and of sites that travel, are recorded; with them come the
        /// contacts of the sky.
        sky: Setting<Interval> = Interval::Off, at most RUN;
        /// Flows of which every step of a failover is recorded: starts and expiries of T3-rtx, retransmissions, changes
        /// of paths.
        timelines: Setting<Vec<String>> = Vec::new();
        /// Links whose packets are captured, both directions, as pcapng.
        captures: Setting<Vec<String>> = Vec::new();
    }
}

word_or! {
    /// Precision of a histogram of delays.
    pub enum DelayPrecision {
        /// There is none.
        Off = "off",
        /// A delay lies within this part of itself.
        Within(Probability) like "1 %",
    }
}

impl DelayPrecision {
    /// The coarsest precision that histograms allow.
    pub const COARSEST: f64 = 0.1;

    /// Precision of the histogram, if there is one.
    pub fn histogram(self) -> Option<Precision> {
        self.quantity().and_then(|ratio| Precision::within(ratio.as_f64()))
    }
}

/// Times at which a queue's length is recorded, if it is. Written `"off"`, `"on change"` or as an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSampling(pub Option<Sampling>);

impl fmt::Display for QueueSampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Sampling::Every(interval)) => interval.fmt(f),
            Some(Sampling::OnChange) => f.write_str("on change"),
            None => f.write_str("off"),
        }
    }
}

impl KeyValue for QueueSampling {
    type Most = Duration;

    fn beyond(&self, most: &Duration) -> Option<String> {
        match self.0 {
            Some(Sampling::Every(interval)) => interval.beyond(most),
            Some(Sampling::OnChange) | None => None,
        }
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match String::read(node).as_deref().map(str::trim) {
            Ok("off") => Ok(Self(None)),
            Ok("on change") => Ok(Self(Some(Sampling::OnChange))),
            _ => Duration::read(node).map(|every| Self(Some(Sampling::Every(every)))).map_err(|fault| {
                Fault::new(fault.message).help("write \"off\", \"on change\" or an interval like \"100 ms\"")
            }),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^\\s*(off|on change|[0-9][0-9_]*(\\.[0-9_]+)?\\s*(ns|us|[µμ]s|ms|s|min|h|d))\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["off", "on change", "100 ms"] })
    }
}
