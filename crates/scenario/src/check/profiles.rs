//! Protocol configurations: values that contradict each other.

use slantpath_base::Duration;

use crate::diagnostic::{Fault, Faults};
use crate::schema::File;
use crate::section::Setting;

pub(super) fn check(file: &File, faults: &mut Faults) {
    for (_, profile) in file.sctp.iter() {
        rto(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
    }
    for (_, profile) in file.tcp.iter() {
        rto(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
    }
}

fn rto(initial: &Setting<Duration>, min: &Setting<Duration>, max: &Setting<Duration>, faults: &mut Faults) {
    if **min > **max {
        let message = format!("`rto_min` is {}, `rto_max` is {}: no time-out satisfies both", **min, **max);
        let at = if min.origin() == crate::section::Origin::Given { min } else { max };
        faults.report(at.place(), Fault::new(message).help("let `rto_min` be at most `rto_max`"));
        return;
    }
    if !(**min..=**max).contains(&**initial) {
        let message = format!("`rto_initial` is {}, outside of {} to {}", **initial, **min, **max);
        let at = [initial, min, max].into_iter().find(|s| s.origin() == crate::section::Origin::Given);
        let help = "let it lie between `rto_min` and `rto_max`";
        faults.report(at.unwrap_or(initial).place(), Fault::new(message).help(help));
    }
}
