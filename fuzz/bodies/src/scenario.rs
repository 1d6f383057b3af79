//! The scenario file, the topology file and the quantities in them.

use core::fmt::{Debug, Display};
use core::str::FromStr;
use std::io;
use std::sync::Arc;

use slantpath_base::{Angle, DataRate, DataSize, Duration, Length, Probability};
use slantpath_runner::{Diagnostics, Files, Scenario};
use slantpath_topology::Topology;

const NAME: &str = "fuzz.toml";

/// A scenario that is accepted is printed as one that is accepted and is the same; of one that is refused, every
/// fault has a place in the text.
pub fn scenario(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match parse(text) {
        Ok(scenario) => {
            for printed in [scenario.merged(), scenario.canonical()] {
                let again = parse(&printed).unwrap_or_else(|faults| panic!("{faults}\n{printed}"));
                assert_eq!(again.canonical(), scenario.canonical());
            }
        }
        Err(faults) => have_places(&faults),
    }
}

/// Variant of [`scenario`] for a topology, whose network is built but whose contacts are not solved.
pub fn topology(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Topology::parse(NAME, text, &[], small_files()) {
        Ok(topology) => {
            for printed in [topology.merged(), topology.canonical()] {
                let again = Topology::parse(NAME, &printed, &[], small_files())
                    .unwrap_or_else(|faults| panic!("{faults}\n{printed}"));
                assert_eq!(again.canonical(), topology.canonical());
            }
        }
        Err(faults) => have_places(&faults),
    }
}

fn have_places(faults: &Diagnostics) {
    assert!(faults.len() > 0);
    for fault in faults {
        assert!(fault.span.end <= fault.source.text.len(), "{fault:?}");
        assert!(fault.line >= 1 && fault.column >= 1);
    }
}

/// Any file that a topology names: a set of elements that is also no track and no outage.
fn small_files() -> Files {
    Arc::new(|_| Ok(ELEMENTS.to_owned()))
}

const ELEMENTS: &str = "BIRD\n\
    1 90001U 26001A   26060.00000000  .00000000  00000-0  00000+0 0  9993\n\
    2 90001  86.4000  30.0000 0002000  90.0000  60.0000 14.34217000    01\n";

fn parse(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::parse(NAME, text, &[], Arc::new(|_| Err(io::Error::from(io::ErrorKind::NotFound))))
}

/// A quantity that is read is written as one that reads the same.
pub fn quantity(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    round_trip::<Angle>(text);
    round_trip::<DataRate>(text);
    round_trip::<DataSize>(text);
    round_trip::<Duration>(text);
    round_trip::<Length>(text);
    round_trip::<Probability>(text);
}

fn round_trip<T: FromStr<Err: Debug> + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        let again: T = written.parse().unwrap_or_else(|error| panic!("{written}: {error:?}"));
        assert_eq!(again, value, "{written}");
    }
}
