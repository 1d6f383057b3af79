//! Outcome of the answer's own settings: the least and the most that can be expected.

use super::{Numbers, PACKET, WAITS_MOST_S};
use crate::bursts::largest_share;
use crate::course::{Course, Flow};
use crate::framing::{DATA_HEADER, Framing};
use crate::question::MessageCarrier;

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

/// The first look after a step, in parts of the interval of looks: an allocation is that much earlier or later than on
/// average. One in thirty is later still.
const EARLY: f64 = 0.5;
const LATE: f64 = 0.75;
/// A load that is so many times greater fills the band: what waits hardly drains.
const NEARLY: f64 = 1.05;
/// The part of the fluid's wait for SCTP's buffer that answers have at least.
const OF_BUFFER: f64 = 0.25;
/// The part of it beyond which every message is late.
const OF_WAIT: f64 = 1.2;
/// The part of the longest wait above SCTP at which a message may already be late, with what waits in SCTP.
const OF_LATE: f64 = 0.6;
/// Standard deviations by which the largest of the looks of a minute exceeds the mean, with hardly a doubt.
const OF_ALL_LOOKS: f64 = 4.0;

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
    /// True if the window is full for long.
    pub(super) is_full: bool,
    /// True if the band takes messages only as they share packets, and what comes for some seconds nearly fills it even
    /// in full ones.
    pub(super) is_tight: bool,
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

impl Load {
    /// True if it has more outstanding than so many bytes in all where nothing waits.
    fn exceeds(&self, window: f64) -> bool {
        self.alone.window * lasting(self.after) * self.acknowledged > window
    }
}

/// As many messages a second as come for some seconds now and then, where so many come on average.
pub(super) fn lasting(per_second: f64) -> f64 {
    per_second + OF_SECONDS * (per_second / LASTS_S).sqrt()
}

impl Numbers {
    pub(super) fn is_on_demand(&self, load: &Load) -> bool {
        self.on_demand > 0.0 && 8.0 * load.alone.ethernet * load.after > self.permanent
    }

    /// The load with its framings.
    pub(super) fn load(&self) -> Load {
        let associations = f64::from(self.associations);
        let per_second = |erlang: f64| self.links * self.line_rate * erlang / 8.0 / f64::from(self.octets);
        let (before, after) = (per_second(self.erlang), per_second(self.erlang + self.step));
        let alone = Framing::new(self.framed, before / associations, self.bundling);
        let shared = Framing::shared(self.framed).no_more_than(&alone);
        let full = Framing::full(self.framed).no_more_than(&shared);
        let sack_delay = if self.round_trip >= 0.4 { 0.1 } else { (self.round_trip / 2.0).clamp(0.01, 0.04) };
        let share = largest_share(super::whole_links(self.links), self.associations);
        let acknowledged = self.bundling
            + alone.acknowledged_after(self.round_trip, sack_delay, after * share, self.permanent);
        Load { alone, shared, full, before, after, acknowledged, sack_delay }
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
            headers: self.framed.headers(),
            permanent: self.permanent,
            total,
            held: self.permanent,
            allocation: if is_asked { self.allocation } else { 0.0 },
            look: if is_asked { access_loop(self.round_trip / 2.0, self.allocation).1 } else { 1.0 },
            first_look: LATE,
            interruption: self.interruption,
            window: window / largest_share(super::whole_links(self.links), self.associations),
            queue,
            round_trip: self.round_trip,
            answering: self.bundling + 2.0 * load.alone.sent_in(self.permanent),
        }
    }

    /// Gives the flow in which least is expected, and that in which most is, with a window of each association.
    fn flows(&self, load: &Load, window: f64, queue: f64) -> (Flow, Flow) {
        let flow = self.flow(load, window, queue);
        // A packet that begins within the window is sent whole.
        let overrun = PACKET * f64::from(self.associations);
        let early = (flow.allocation - flow.look).max(0.0);
        let noise = OF_LOOKS / (load.before * flow.look).max(1.0).sqrt();
        let held =
            (8.0 * load.alone.ethernet * load.before * (1.0 + noise)).clamp(self.permanent, flow.total);
        let is_m2pa = self.carrier == MessageCarrier::M2pa;
        // In a minute less than the mean may come.
        let fewer = |per_second: f64| per_second - OF_A_MINUTE * (per_second / A_MINUTE_S).sqrt();
        let least = Flow {
            load: (fewer(flow.load.0).max(0.0), fewer(flow.load.1).max(0.0)),
            headers: self.framed.headers_least(),
            allocation: early,
            first_look: EARLY,
            // Each association has a queue of its own; in the most, the fullest is full first.
            queue: if is_m2pa {
                queue * f64::from(self.associations)
            } else {
                queue * self.late_after() / WAITS_MOST_S * OF_WAIT
            },
            held: if self.on_demand > 0.0 { held } else { self.permanent },
            window: flow.window + overrun,
            round_trip: if load.exceeds(flow.window) {
                // In parts it has two too many, for what has left is rounded up there and back.
                (flow.round_trip - 2.0 * flow.part()).max(flow.round_trip / 2.0) + self.pair(load)
            } else {
                flow.round_trip
            },
            ..flow
        };
        // More than the mean comes for seconds, and packets are not full to the last octet.
        // Where all windows are full, each association has as much of the band, and the fullest waits as if all were as
        // full.
        let is_over = 8.0 * load.alone.ethernet * load.after > self.band(load);
        let uneven = if is_over { self.unevenness() } else { 1.0 };
        let most = Flow {
            load: (lasting(flow.load.0) * uneven, lasting(flow.load.1) * uneven),
            packet: PACKET_AT_LEAST,
            window: if uneven > 1.0 { window * f64::from(self.associations) } else { flow.window },
            queue: if is_m2pa {
                (queue - OF_SECONDS * queue.min(1e9).sqrt()).max(1.0)
            } else {
                OF_LATE * queue
            },
            round_trip: flow.round_trip + if load.exceeds(flow.window) { self.pair(load) } else { 0.0 },
            ..flow
        };
        (least, most)
    }

    /// Gives the time that two full packets take on a fixed link, in seconds: a SACK comes after the second one, and a
    /// window that is full waits for it. Slots of a terminal are a part of its round trip.
    pub(super) fn pair(&self, load: &Load) -> f64 {
        if self.on_demand > 0.0 { 0.0 } else { 2.0 * load.full.sent_in(self.permanent) }
    }

    /// Bits a second that the load can have after its step.
    fn band(&self, load: &Load) -> f64 {
        if self.is_on_demand(load) { self.permanent + self.on_demand } else { self.permanent }
    }

    /// Estimates the outcome of a window of each association and of a queue.
    pub(super) fn estimate(&self, load: &Load, window: f64, queue: f64) -> Estimate {
        let flow = self.flow(load, window, queue);
        let band = self.band(load);
        let (least, most) = self.flows(load, window, queue);
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
            is_full: self.is_full(load, flow.window),
            is_tight: 8.0 * load.alone.ethernet * load.after > band
                && NEARLY * 8.0 * load.full.ethernet * lasting(load.after) > band,
        };
        if NEARLY * 8.0 * load.alone.ethernet * lasting(load.after) > band {
            // What waits is not gone for minutes, and moves from one direction to the other.
            estimate.delay.most = estimate.delay.most.max(estimate.answer.most - self.round_trip / 2.0);
        }
        if self.asks_at_random(load, flow.look) {
            // The other direction may be silent after this one.
            let silent = self.round_trip + 2.0 * self.interruption;
            estimate.standstill.most = estimate.standstill.most.max(silent);
        }
        if estimate.is_full {
            // An answer need not wait for the buffer as the fluid does: it may find it emptied.
            let at_once = estimate.answer.least.min(estimate.delay.least + self.round_trip / 2.0);
            estimate.answer.least = at_once + OF_BUFFER * (estimate.answer.least - at_once);
            // As much as a window may wait in SCTP's buffer as well. While that is emptied M2PA answers nothing, and
            // what comes waits above it.
            let chunk = load.alone.chunk;
            let windows = flow.window * self.unevenness();
            let buffer = windows * load.full.ethernet_per_window() * chunk / (chunk - DATA_HEADER).max(1.0);
            estimate.delay.most += window_time;
            estimate.answer.most += window_time;
            let emptied = 8.0 * buffer / self.permanent;
            estimate.standstill.most = estimate.standstill.most.max(self.round_trip + emptied);
            let above = load.after * emptied;
            let above = above + OF_SECONDS * above.sqrt();
            estimate.waiting.most = estimate.waiting.most.max(above);
            if above > queue {
                estimate.lost.most = estimate.lost.most.max((above - queue) / above);
            }
        }
        estimate
    }

    /// True if what comes between two looks exceeds the permanent band now and then, so that a terminal asks, and is
    /// interrupted.
    fn asks_at_random(&self, load: &Load, look: f64) -> bool {
        let most = load.after + OF_ALL_LOOKS * (load.after / look).sqrt();
        self.on_demand > 0.0 && self.interruption > 0.0 && 8.0 * load.alone.ethernet * most > self.permanent
    }

    /// True if so many bytes in all are outstanding for long: the band, or the window, takes no more.
    fn is_full(&self, load: &Load, window: f64) -> bool {
        let fills = 8.0 * load.alone.ethernet * lasting(load.after) > self.band(load);
        window.is_finite() && (fills || load.exceeds(window))
    }
}
