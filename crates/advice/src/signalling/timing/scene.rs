//! A link, what it stands in, and the timers of points that wait over it.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_reader::{Place, Setting, Tables};
use slantpath_scenario::network::Built;
use slantpath_scenario::schema::signalling::{Signalling, SignallingLink};
use slantpath_scenario::schema::{File, LiveNode};
use slantpath_ss7::mtp3::node::Mtp3Timer;

use super::round_trip::Delays;
use crate::signalling::offered::Offered;

/// Timers of a point that wait for an answer over a link. T12 to T14 belong to inhibiting, which nobody has to use.
const WAITING: [(Mtp3Timer, &str); 7] = [
    (Mtp3Timer::T2, "Q.704 T2"),
    (Mtp3Timer::T4, "Q.704 T4"),
    (Mtp3Timer::T5, "Q.704 T5"),
    (Mtp3Timer::T12, "Q.704 T12"),
    (Mtp3Timer::T13, "Q.704 T13"),
    (Mtp3Timer::T14, "Q.704 T14"),
    (Mtp3Timer::TestT1, "Q.707 T1"),
];

/// Everything that a link stands in.
pub(super) struct Scene<'a> {
    pub(super) file: &'a File,
    pub(super) built: &'a Built,
    pub(super) signalling: &'a Signalling,
    /// Nodes that may be live.
    pub(super) live: &'a Tables<LiveNode>,
    pub(super) offered: &'a Offered<'a>,
    pub(super) delays: &'a Delays,
    /// Numbers of the associations that share the rate of a link which they use first.
    pub(super) shares: &'a BTreeMap<&'a str, u64>,
}

/// A timer of a point that waits for an answer over a link.
pub(super) struct Waiting<'a> {
    pub(super) point: &'a str,
    pub(super) timer: &'static str,
    pub(super) setting: &'a Setting<Duration>,
    /// True if traffic and tests of every link need the answer.
    pub(super) is_vital: bool,
}

impl<'a> Scene<'a> {
    /// Gives the timers of both points of a link.
    pub(super) fn waiting(&self, link: &'a SignallingLink) -> Vec<Waiting<'a>> {
        let ends = [&link.between.0, &link.between.1].into_iter();
        let ends = ends.filter_map(|end| Some((end.as_str(), self.signalling.points.find(end)?)));
        let waiting = ends.flat_map(|(name, point)| {
            WAITING.into_iter().map(move |(timer, text)| {
                let is_vital = !matches!(timer, Mtp3Timer::T12 | Mtp3Timer::T13 | Mtp3Timer::T14);
                let setting = point.timers.setting(timer);
                Waiting { point: name, timer: text, setting, is_vital }
            })
        });
        waiting.collect()
    }
}

/// A place in a link's table, or that of the link where nobody wrote the value.
pub(super) fn place_or(place: Place, link: &SignallingLink) -> Place {
    if place == Place::default() { link.between.place() } else { place }
}
