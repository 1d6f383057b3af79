//! Timers of links against the round trips that the scenario gives them, and against SCTP's retransmission timeout.

mod association;
mod carried;
mod line;
mod reading;
mod round_trip;
mod scene;
mod waiting;

use slantpath_net::Routes;
use slantpath_reader::Faults;
use slantpath_scenario::Traces;
use slantpath_scenario::network::Built;
use slantpath_scenario::schema::File;
use slantpath_scenario::schema::signalling::Carrier;

use self::scene::Scene;
use crate::signalling::offered::Offered;

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
