//! Timers of links against the round trips that the scenario gives them, and against SCTP's retransmission timeout.

mod association;
mod carried;
mod line;
mod reading;
mod round_trip;
mod waiting;

use slantpath_base::Duration;
use slantpath_net::Routes;
use slantpath_reader::{Faults, Place, Setting};
use slantpath_ss7::mtp3::node::Timer;

use crate::flow::trace::Traces;
use crate::network::Built;
use crate::schema::File;
use crate::signalling::offered::Offered;
use crate::signalling::schema::{Carrier, Signalling, SignallingLink};

/// Timers of a point that wait for an answer over a link. T12 to T14 belong to inhibiting, which nobody has to use.
const WAITING: [(Timer, &str); 7] = [
    (Timer::T2, "Q.704 T2"),
    (Timer::T4, "Q.704 T4"),
    (Timer::T5, "Q.704 T5"),
    (Timer::T12, "Q.704 T12"),
    (Timer::T13, "Q.704 T13"),
    (Timer::T14, "Q.704 T14"),
    (Timer::TestT1, "Q.707 T1"),
];

/// Called when all else is right.
pub(crate) fn check(file: &File, built: &Built, routes: &mut Routes, traces: &Traces, faults: &mut Faults) {
    let Some(signalling) = file.signalling.whole() else { return };
    let offered = Offered::new(signalling, traces);
    let scene = Scene { file, built, signalling, offered: &offered };
    let mut meant = carried::Meant::new();
    for (name, link) in signalling.links.iter() {
        match &*link.carrier {
            Carrier::M2pa(m2pa) => association::check(&scene, routes, (name, link), m2pa, &mut meant, faults),
            Carrier::Mtp2(mtp2) => {
                line::check(&scene, name, link, mtp2, faults);
                carried::line(&scene, (name, link), mtp2, &mut meant, faults);
            }
        }
    }
    carried::nothing_meant(&scene, &meant, faults);
}

/// Everything that a link stands in.
struct Scene<'a> {
    file: &'a File,
    built: &'a Built,
    signalling: &'a Signalling,
    offered: &'a Offered<'a>,
}

/// A timer of a point that waits for an answer over a link.
struct Waiting<'a> {
    point: &'a str,
    timer: &'static str,
    setting: &'a Setting<Duration>,
    /// True if traffic and tests of every link need the answer.
    is_vital: bool,
}

impl<'a> Scene<'a> {
    /// Gives the timers of both points of a link.
    fn waiting(&self, link: &'a SignallingLink) -> Vec<Waiting<'a>> {
        let ends = [&link.between.0, &link.between.1].into_iter();
        let ends = ends.filter_map(|end| Some((end.as_str(), self.signalling.points.find(end)?)));
        let waiting = ends.flat_map(|(name, point)| {
            WAITING.into_iter().map(move |(timer, text)| {
                let is_vital = !matches!(timer, Timer::T12 | Timer::T13 | Timer::T14);
                let setting = point.timers.setting(timer);
                Waiting { point: name, timer: text, setting, is_vital }
            })
        });
        waiting.collect()
    }
}

/// A place in a link's table, or that of the link where nobody wrote the value.
fn place_or(place: Place, link: &SignallingLink) -> Place {
    if place == Place::default() { link.between.place() } else { place }
}
