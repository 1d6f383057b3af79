//! Timers of links against the round trips that the scenario gives them, and against SCTP's retransmission timeout.

mod association;
mod carried;
mod line;
mod reading;
mod round_trip;
mod scene;
mod send_buffer;
mod waiting;

use slantpath_net::Routes;
use slantpath_reader::Faults;
use slantpath_scenario::Checked;
use slantpath_scenario::network::Built;
use slantpath_scenario::schema::signalling::{Carrier, Signalling};

use self::scene::Scene;
use crate::signalling::offered::Offered;

/// Called when all else is right.
pub(crate) fn check(checked: &Checked, built: &Built, routes: &mut Routes, faults: &mut Faults) {
    let (file, Some(plan)) = (checked.file(), checked.signalling_plan()) else { return };
    let signalling: &Signalling = &file.signalling;
    let offered = Offered::new(signalling, plan);
    let scene = Scene { file, built, signalling, live: checked.live_nodes(), offered: &offered };
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
