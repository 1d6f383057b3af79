//! Values that only a topology knows: dates, lengths, angles with a sign, names of presets.

use core::fmt;
use core::ops::Deref;

use slantpath_base::{Angle, Duration};
use slantpath_orbit::Utc;
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::constellation::shell::Phasing;
use slantpath_orbit::route::Refresh;
use slantpath_reader::{Fault, Json, KeyValue, UpperBound, ValueData, ValueNode, fault_of, json, suggest};

/// A date in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date(pub Utc);

impl Deref for Date {
    type Target = Utc;

    fn deref(&self) -> &Utc {
        &self.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl KeyValue for Date {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let help = "write a date in UTC like \"2026-03-01T00:00:00Z\"";
        match &node.data {
            ValueData::Datetime(text) | ValueData::Text(text) => text
                .parse()
                .map(Self)
                .map_err(|error: slantpath_orbit::utc::DateError| fault_of(&error, help)),
            _ => Err(Fault::new(format!("a date is wanted here, not {}", node.kind())).help(help)),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?)?[Zz]?$";
        json!({ "type": "string", "pattern": pattern, "examples": ["2026-03-01T00:00:00Z"] })
    }
}

/// A constellation that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetName(pub Preset);

impl KeyValue for PresetName {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let name = String::read(node)?;
        let known = Preset::ALL.map(Preset::name);
        name.parse().map(Self).map_err(|_| {
            Fault::new(format!("no constellation is called `{name}`")).help(suggest(&name, "presets", &known))
        })
    }

    fn write(&self) -> String {
        format!("\"{}\"", self.0)
    }

    fn schema() -> Json {
        json!({ "enum": Preset::ALL.map(Preset::name), "examples": ["iridium"] })
    }
}

/// The most that a phasing may be, in either of its units.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PhasingMost {
    /// Of Walker's F.
    pub walker: u32,
    /// Of an angle.
    pub angle: Angle,
}

impl fmt::Display for PhasingMost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "walker {} or {}", self.walker, self.angle)
    }
}

impl UpperBound for PhasingMost {
    fn number(self) -> Option<Json> {
        None
    }
}

/// Phase by which neighbouring planes are out of step. Written `"alternate"`, `"walker 39"` or `"8.2 deg"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhasingText(pub Phasing);

impl KeyValue for PhasingText {
    type Most = PhasingMost;

    fn beyond(&self, most: &PhasingMost) -> Option<String> {
        match self.0 {
            Phasing::Alternate => None,
            Phasing::Offset(angle) => angle.beyond(&most.angle),
            Phasing::Walker(f) => (f > most.walker).then(|| format!("walker {f}")),
        }
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let help = "write \"alternate\", Walker's F like \"walker 39\", or the angle from plane to plane like \
                    \"8.2 deg\"";
        let text = String::read(node).map_err(|fault| Fault::new(fault.message).help(help))?;
        let trimmed = text.trim();
        if trimmed == "alternate" {
            return Ok(Self(Phasing::Alternate));
        }
        let wrong = || Fault::new(format!("`{text}` is no phasing")).help(help);
        match trimmed.strip_prefix("walker") {
            Some(number) => number.trim().parse().map(|f| Self(Phasing::Walker(f))).map_err(|_| wrong()),
            None => trimmed.parse().map(|angle| Self(Phasing::Offset(angle))).map_err(|_| wrong()),
        }
    }

    fn write(&self) -> String {
        match self.0 {
            Phasing::Alternate => "\"alternate\"".to_owned(),
            Phasing::Offset(angle) => angle.write(),
            Phasing::Walker(f) => format!("\"walker {f}\""),
        }
    }

    fn schema() -> Json {
        let pattern = "^\\s*(alternate|walker\\s*[0-9]+|-?[0-9]*\\.?[0-9]+\\s*(deg|°|rad))\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["alternate", "walker 39", "8.2 deg"] })
    }
}

/// Links whose delays are read when a contact begins or ends. Written `"all"`, `"changed"`, or as the least time
/// between two readings of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshText(pub Refresh);

impl KeyValue for RefreshText {
    type Most = Duration;

    fn beyond(&self, most: &Duration) -> Option<String> {
        match self.0 {
            Refresh::AtMostEvery(time) => time.beyond(most),
            Refresh::All | Refresh::Changed => None,
        }
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match String::read(node).as_deref().map(str::trim) {
            Ok("all") => Ok(Self(Refresh::All)),
            Ok("changed") => Ok(Self(Refresh::Changed)),
            _ => Duration::read(node).map(|time| Self(Refresh::AtMostEvery(time))).map_err(|fault| {
                Fault::new(fault.message).help("write \"all\", \"changed\" or a time like \"1 s\"")
            }),
        }
    }

    fn write(&self) -> String {
        match self.0 {
            Refresh::All => "\"all\"".to_owned(),
            Refresh::AtMostEvery(time) => time.write(),
            Refresh::Changed => "\"changed\"".to_owned(),
        }
    }

    fn schema() -> Json {
        let pattern = "^\\s*(all|changed|[0-9][0-9_]*(\\.[0-9_]+)?\\s*(ns|us|[µμ]s|ms|s|min|h|d))\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["all", "changed", "1 s"] })
    }
}

slantpath_reader::word_or! {
    /// A latitude beyond which links between planes are off.
    pub enum CutOff {
        /// They are on everywhere.
        Off = "none",
        /// They are off while either end is beyond this geocentric latitude.
        Latitude(Angle) like "60 deg",
    }
}
