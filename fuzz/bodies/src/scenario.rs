//! The scenario file and the quantities in it.

use core::fmt::{Debug, Display};
use core::str::FromStr;
use std::io;
use std::sync::Arc;

use slantpath_base::{Angle, DataRate, DataSize, Duration, Probability};
use slantpath_scenario::Scenario;

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
        Err(faults) => {
            assert!(faults.len() > 0);
            for fault in &faults {
                assert!(fault.span.end <= fault.source.text.len(), "{fault:?}");
                assert!(fault.line >= 1 && fault.column >= 1);
            }
        }
    }
}

fn parse(text: &str) -> Result<Scenario, slantpath_scenario::Diagnostics> {
    Scenario::parse(NAME, text, &[], Arc::new(|_| Err(io::Error::from(io::ErrorKind::NotFound))))
}

/// A quantity that is read is written as one that reads the same.
pub fn quantity(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    round_trip::<Angle>(text);
    round_trip::<DataRate>(text);
    round_trip::<DataSize>(text);
    round_trip::<Duration>(text);
    round_trip::<Probability>(text);
}

fn round_trip<T: FromStr<Err: Debug> + Display + Debug + PartialEq>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        let again: T = written.parse().unwrap_or_else(|error| panic!("{written}: {error:?}"));
        assert_eq!(again, value, "{written}");
    }
}
