//! A line: timers of MTP2 and of both points against twice its delay.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::schema::signalling::{self, Mtp2, SignallingLink};

use super::round_trip;
use super::scene::{Scene, place_or};

/// Up to which one-way delay Q.703, section 1.4, has the basic error correction.
const BASIC_UP_TO: Duration = Duration::from_millis(15);

/// Remedy for a line's timer that is too short.
const LONGER: &str = "let the timer be longer than twice `delay`";

pub(crate) fn check(scene: &Scene<'_>, name: &str, link: &SignallingLink, mtp2: &Mtp2, faults: &mut Faults) {
    let round_trip = round_trip::of_line(mtp2).length;
    if *mtp2.t7 <= round_trip {
        let message = format!(
            "`{name}`: T7 of {} over a round trip of {round_trip} takes the link out with every message",
            *mtp2.t7
        );
        let help = "let `t7` be longer than twice `delay`";
        faults.report(place_or(mtp2.t7.place(), link), Fault::new(message).help(help));
    }
    for (timer, setting) in [("T2", &mtp2.t2), ("T3", &mtp2.t3)] {
        if **setting <= round_trip {
            let value = **setting;
            let message = format!(
                "`{name}`: MTP2 {timer} of {value} over a round trip of {round_trip} never lets the link align"
            );
            faults.report(place_or(setting.place(), link), Fault::new(message).help(LONGER));
        }
    }
    let proved = mtp2.t4_normal.saturating_add(round_trip);
    if *mtp2.t1 <= proved {
        let message = format!(
            "`{name}`: MTP2 T1 of {} expires while the peer proves, which may take {proved}",
            *mtp2.t1
        );
        let help = "let `t1` be longer than `t4_normal` and twice `delay`";
        faults.report(place_or(mtp2.t1.place(), link), Fault::new(message).help(help));
    }
    for (kind, setting) in [("normal", &mtp2.t4_normal), ("emergency", &mtp2.t4_emergency)] {
        if **setting <= round_trip {
            let value = **setting;
            let message = format!(
                "`{name}`: MTP2 T4 ({kind}) of {value} is over before a round trip of {round_trip}, and proves nothing"
            );
            let place = place_or(setting.place(), link);
            faults.warn_of_kind(format!("MTP2 T4 {kind}"), place, Fault::new(message).help(LONGER));
        }
    }
    for waiting in scene.waiting(link).iter().filter(|waiting| **waiting.setting <= round_trip) {
        let message = format!(
            "`{name}` at `{}`: {} of {} over a round trip of {round_trip} expires before any answer",
            waiting.point, waiting.timer, **waiting.setting
        );
        let (place, fault) = (place_or(waiting.setting.place(), link), Fault::new(message).help(LONGER));
        if waiting.is_vital {
            faults.report(place, fault);
        } else {
            faults.warn_of_kind(format!("{} over a line", waiting.timer), place, fault);
        }
    }
    if *mtp2.error_correction == signalling::ErrorCorrection::Basic && *mtp2.delay > BASIC_UP_TO {
        let message = format!(
            "`{name}`: basic error correction over a delay of {}, beyond the {BASIC_UP_TO} that it is made for",
            *mtp2.delay
        );
        let help = "write `error_correction = \"preventive-cyclic\"`";
        let place = place_or(mtp2.error_correction.place(), link);
        faults.warn_of_kind("basic correction", place, Fault::new(message).help(help));
    }
}
