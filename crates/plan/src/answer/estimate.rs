//! Outcome of the answer's own settings: the least and the most that can be expected.

use super::{Numbers, PACKET};
use crate::bursts::largest_share;
use crate::course::{Course, Flow};
use crate::framing::{DATA_HEADER, Framing, HEADERS, HEADERS_WITH_SACK};

/// A frame of the access system, in seconds.
pub(crate) const FRAME_S: f64 = 0.04;
/// From the request to the plan, beside hops and waiting, in seconds.
pub(crate) const PROCESSING_S: f64 = 0.02;

/// A minute, and by how many standard deviations less than the mean may come in it.
const A_MINUTE_S: f64 = 60.0;
const OF_A_MINUTE: f64 = 2.0;
/// The sum of two waits that both are random, beside one of them, as rarely.
const OF_BOTH: f64 = 1.21;
/// For how long more than the mean comes, in seconds, and by how many standard deviations.
const LASTS_S: f64 = 10.0;
const OF_SECONDS: f64 = 3.0;
/// Octets of chunks in packets that wait for the window, at least.
const PACKET_AT_LEAST: f64 = 1_300.0;
/// Standard deviations by which the largest of the looks of ten seconds exceeds the mean.
const OF_LOOKS: f64 = 1.5;

/// Range of what is expected, from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Least value that is expected.
    pub least: f64,
    /// Greatest value that is expected.
    pub most: f64,
}

/// The loop of asking and planning: a hop, and the time between looks and plans, in seconds.
pub(crate) fn access_loop(one_way: f64, allocation: f64) -> (f64, f64) {
    let hop = one_way.min(allocation / 4.0);
    (hop, (allocation - 2.0 * hop - PROCESSING_S - FRAME_S).max(2.0 * FRAME_S))
}

/// Outcome of settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// From a message until MTP3 has its answer.
    pub(super) answer: Range,
    /// From SCTP to its acknowledgement.
    pub(super) acknowledged: Range,
    /// From gateway to gateway.
    pub(super) delay: Range,
    pub(super) lost: Range,
    pub(super) standstill: Range,
    /// Messages that wait for the window.
    pub(super) waiting: Range,
    pub(super) outstanding: Range,
    /// Wait that what comes at random exceeds once in a million times.
    pub(super) queueing: f64,
}

/// Framings, and messages a second before and after the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) alone: Framing,
    pub(super) shared: Framing,
    pub(super) full: Framing,
    pub(super) before: f64,
    pub(super) after: f64,
    /// From a message to its acknowledgement, with nothing waiting.
    pub(super) acknowledged: f64,
    pub(super) sack_delay: f64,
}

/// As many messages a second as come for some seconds now and then, where so many come on average.
pub(super) fn lasting(per_second: f64) -> f64 {
    per_second + OF_SECONDS * (per_second / LASTS_S).sqrt()
}

impl Numbers {
    pub(super) fn is_on_demand(&self, load: &Load) -> bool {
        self.on_demand > 0.0 && 8.0 * load.alone.ethernet * load.after > self.permanent
    }

    /// The load of the fullest association beside the mean of all.
    fn unevenness(&self) -> f64 {
        largest_share(super::whole_links(self.links), self.associations) * f64::from(self.associations)
    }

    fn flow(&self, load: &Load, window: f64, queue: f64) -> Flow {
        let total = self.permanent + self.on_demand;
        let is_asked = self.on_demand > 0.0;
        Flow {
            load: (load.before, load.after),
            alone: load.alone,
            packet: PACKET,
            headers: HEADERS,
            permanent: self.permanent,
            total,
            held: self.permanent,
            allocation: if is_asked { self.allocation } else { 0.0 },
            look: if is_asked { access_loop(self.round_trip / 2.0, self.allocation).1 } else { 1.0 },
            interruption: self.interruption,
            window: window / largest_share(super::whole_links(self.links), self.associations),
            queue,
            round_trip: self.round_trip,
            answering: self.bundling + 2.0 * load.alone.sent_in(self.permanent),
        }
    }

    /// Estimates the outcome of a window of each association and of a queue.
    pub(super) fn estimate(&self, load: &Load, window: f64, queue: f64) -> Estimate {
        let flow = self.flow(load, window, queue);
        let total = flow.total;
        let is_on_demand = self.is_on_demand(load);
        // A packet that begins within the window is sent whole.
        let overrun = PACKET * f64::from(self.associations);
        let early = (flow.allocation - flow.look).max(0.0);
        let noise = OF_LOOKS / (load.before * flow.look).max(1.0).sqrt();
        let held = (8.0 * load.alone.ethernet * load.before * (1.0 + noise)).clamp(self.permanent, total);
        // In a minute less than the mean may come.
        let fewer = |per_second: f64| per_second - OF_A_MINUTE * (per_second / A_MINUTE_S).sqrt();
        let least = Flow {
            load: (fewer(flow.load.0).max(0.0), fewer(flow.load.1).max(0.0)),
            headers: HEADERS_WITH_SACK,
            allocation: early,
            held: if self.on_demand > 0.0 { held } else { self.permanent },
            window: flow.window + overrun,
            ..flow
        };
        // More than the mean comes for seconds, and packets are not full to the last octet.
        // Where all windows are full, each association has as much of the band, and the fullest waits as if all were as
        // full.
        let band = if is_on_demand { total } else { self.permanent };
        let uneven = if 8.0 * load.alone.ethernet * load.after > band { self.unevenness() } else { 1.0 };
        let most = Flow {
            load: (lasting(flow.load.0) * uneven, lasting(flow.load.1) * uneven),
            packet: PACKET_AT_LEAST,
            window: if uneven > 1.0 { window * f64::from(self.associations) } else { flow.window },
            queue: (queue - OF_SECONDS * queue.min(1e9).sqrt()).max(1.0),
            ..flow
        };
        let (most, least): (Course, Course) = (most.course(), least.course());
        // Bursts of messages wait for each other: with their own headers, or where the band is less, as they share
        // them.
        let framing = [&load.alone, &load.shared]
            .into_iter()
            .find(|framing| 8.0 * framing.ethernet * load.after < band)
            .unwrap_or(&load.full);
        let queueing = framing.longest_queueing(load.after, band);
        let window_time = 8.0 * flow.window * load.full.ethernet_per_window() / band;
        let queueing = queueing.min(window_time.max(flow.round_trip));
        let ordinary = framing.ordinary_queueing(load.after, band, A_MINUTE_S).min(queueing);
        let range = |least: f64, most: f64, waits: f64| Range {
            least: least.min(most) + ordinary * waits,
            most: least.max(most) + queueing * waits,
        };
        let plain = |least: f64, most: f64| Range { least: least.min(most), most: least.max(most) };
        let gateways = 2.0 * self.gateway_delay;
        let sent = self.bundling + load.alone.sent_in(band);
        let mut estimate = Estimate {
            answer: range(least.answer + gateways, most.answer + gateways, OF_BOTH),
            acknowledged: range(least.acknowledged, most.acknowledged, OF_BOTH),
            delay: range(least.delay + gateways + sent, most.delay + gateways + sent, 1.0),
            lost: plain(least.lost, most.lost),
            standstill: plain(least.standstill, most.standstill),
            waiting: plain(least.waiting, most.waiting),
            outstanding: plain(least.outstanding, most.outstanding),
            queueing,
        };
        if self.is_full(load, flow.window) {
            // As much as a window may wait in SCTP's buffer as well. While that is emptied M2PA answers nothing, and
            // what comes waits above it.
            let chunk = load.alone.chunk;
            let windows = flow.window * self.unevenness();
            let buffer = windows * load.full.ethernet_per_window() * chunk / (chunk - DATA_HEADER).max(1.0);
            estimate.delay.most += window_time;
            estimate.answer.most += window_time;
            let emptied = 8.0 * buffer / self.permanent;
            estimate.standstill.most = estimate.standstill.most.max(self.round_trip + emptied);
            let above = load.after * 8.0 * buffer / band;
            let above = above + OF_SECONDS * above.sqrt();
            estimate.waiting.most = estimate.waiting.most.max(above);
            if above > queue {
                estimate.lost.most = estimate.lost.most.max((above - queue) / above);
            }
        }
        estimate
    }

    /// True if so many bytes in all are outstanding for long: the band, or the window, takes no more.
    fn is_full(&self, load: &Load, window: f64) -> bool {
        let band = if self.is_on_demand(load) { self.permanent + self.on_demand } else { self.permanent };
        let per_second = lasting(load.after);
        window.is_finite()
            && (8.0 * load.alone.ethernet * per_second > band
                || load.alone.window * per_second * load.acknowledged > window)
    }
}
