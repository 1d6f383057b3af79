//! A threshold of an error counter, which may be off.

use core::fmt;
use slantpath_reader::{Fault, Json, KeyValue, ValueNode, json};

/// Beyond how many consecutive timeouts something happens. Written `"off"` or as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Beyond so many.
    Above(u32),
    /// No threshold: it never happens.
    Off,
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(count) => count.fmt(f),
            Self::Off => f.write_str("off"),
        }
    }
}

impl KeyValue for Threshold {
    type Most = u32;

    fn beyond(&self, most: &u32) -> Option<String> {
        match self {
            Self::Above(count) => count.beyond(most),
            Self::Off => None,
        }
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        if String::read(node).is_ok_and(|text| text.trim() == "off") {
            return Ok(Self::Off);
        }
        u32::read(node)
            .map(Self::Above)
            .map_err(|fault| Fault::new(fault.message).help("write \"off\" or a number like 4"))
    }

    fn write(&self) -> String {
        match self {
            Self::Above(count) => count.write(),
            Self::Off => "\"off\"".to_owned(),
        }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "off" }, u32::schema()], "examples": ["off", 0] })
    }
}
