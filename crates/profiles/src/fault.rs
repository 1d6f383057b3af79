//! Checks of single values, and of time-outs, which several tables have.

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Fault, Faults, Origin, Setting};

/// Reports a time that is none.
pub fn positive(value: &Setting<Duration>, what: &str, faults: &mut Faults) {
    if value.is_zero() {
        faults.report(value.place(), Fault::new(format!("{what} of zero is none")).help("let it be longer"));
    }
}

/// Reports an amount of data outside of its bounds.
pub fn within(name: &str, size: &Setting<DataSize>, least: DataSize, most: DataSize, faults: &mut Faults) {
    if !(least..=most).contains(&**size) {
        let message = format!("`{name}` of {} cannot be", **size);
        let help = format!("it lies between {} and {} bytes", least.as_bytes(), most.as_bytes());
        faults.report(size.place(), Fault::new(message).help(help));
    }
}

/// Reports retransmission timeouts that no measurement could satisfy.
pub fn timeouts(
    initial: &Setting<Duration>,
    min: &Setting<Duration>,
    max: &Setting<Duration>,
    faults: &mut Faults,
) {
    if **min > **max {
        let message = format!("`rto_min` is {}, `rto_max` is {}: no time-out satisfies both", **min, **max);
        let at = if min.origin() == Origin::Given { min } else { max };
        faults.report(at.place(), Fault::new(message).help("let `rto_min` be at most `rto_max`"));
        return;
    }
    if !(**min..=**max).contains(&**initial) {
        let message = format!("`rto_initial` is {}, outside of {} to {}", **initial, **min, **max);
        let at = [initial, min, max].into_iter().find(|s| s.origin() == Origin::Given);
        let help = "let it lie between `rto_min` and `rto_max`";
        faults.report(at.unwrap_or(initial).place(), Fault::new(message).help(help));
    }
}

/// Reports a time that lies at or after the end of a run of this length, if that is known.
pub fn before_the_end(duration: Option<Duration>, at: &Setting<Duration>, what: &str, faults: &mut Faults) {
    let Some(duration) = duration.filter(|duration| !duration.is_zero()) else { return };
    if **at >= duration {
        let message = format!("{what} at {} lies after the end of the run at {duration}", **at);
        let help = "let it happen earlier, or make `scenario.duration` longer";
        faults.report(at.place(), Fault::new(message).help(help));
    }
}
