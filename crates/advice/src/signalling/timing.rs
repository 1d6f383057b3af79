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

use self::round_trip::Delays;
use self::scene::Scene;
use crate::signalling::offered::Offered;

/// Findings that serve the links that come later.
#[derive(Default)]
struct Noted {
    meant: carried::Meant,
    answers: reading::Known,
}

/// Called when all else is right.
pub(crate) fn check(checked: &Checked, built: &Built, routes: &mut Routes, faults: &mut Faults) {
    let (file, Some(plan)) = (checked.file(), checked.signalling_plan()) else { return };
    let signalling: &Signalling = &file.signalling;
    let offered = Offered::new(signalling, plan);
    let (delays, shares) = (Delays::new(file, built), send_buffer::shares(signalling));
    let live = checked.live_nodes();
    let scene = Scene { file, built, signalling, live, offered: &offered, delays: &delays, shares: &shares };
    let mut noted = Noted::default();
    for (name, link) in signalling.links.iter() {
        match &*link.carrier {
            Carrier::M2pa(m2pa) => association::check(&scene, routes, (name, link), m2pa, &mut noted, faults),
            Carrier::Mtp2(mtp2) => {
                line::check(&scene, name, link, mtp2, faults);
                carried::line(&scene, (name, link), mtp2, &mut noted.meant, faults);
            }
        }
    }
    carried::nothing_meant(&scene, &noted.meant, faults);
}
