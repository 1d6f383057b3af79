//! Quantities and numbers that may be negative. Their bounds hold for the absolute value.

use core::fmt;

use serde_json::{Value as Json, json};
use slantpath_base::{Angle, Length};

use super::{KeyValue, fault_of};
use crate::diagnostic::Fault;
use crate::document::{ValueData, ValueNode};

/// A quantity in text that may be negative.
fn signed<T>(node: &ValueNode, what: &str, example: &str) -> Result<T, Fault>
where
    T: core::str::FromStr,
    T::Err: fmt::Display,
{
    let like = format!("write {what} as a string with its unit, like \"{example}\"");
    match &node.data {
        ValueData::Text(text) => text.parse().map_err(|error: T::Err| fault_of(&error, &like)),
        ValueData::Float(number) => Err(Fault::new(format!("`{number}` has no unit")).help(like)),
        ValueData::Integer(number) => Err(Fault::new(format!("`{number}` has no unit")).help(like)),
        _ => Err(Fault::new(format!("{what} is wanted here, not {}", node.kind())).help(like)),
    }
}

impl KeyValue for Angle {
    type Most = Self;

    fn beyond(&self, most: &Self) -> Option<String> {
        (self.as_radians().abs() > most.as_radians()).then(|| self.to_string())
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        signed(node, "an angle", "8.2 deg")
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^\\s*-?[0-9]*\\.?[0-9]+\\s*(deg|°|rad)\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["8.2 deg"] })
    }
}

impl KeyValue for Length {
    type Most = Self;

    fn beyond(&self, most: &Self) -> Option<String> {
        (self.as_metres().abs() > most.as_metres()).then(|| self.to_string())
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        signed(node, "a length", "780 km")
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^\\s*-?[0-9]*\\.?[0-9]+\\s*(m|km)\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["780 km"] })
    }
}

impl KeyValue for f64 {
    type Most = Self;

    fn beyond(&self, most: &Self) -> Option<String> {
        (self.abs() > *most).then(|| self.to_string())
    }

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let number = match &node.data {
            ValueData::Float(text) => text.replace('_', "").parse().ok(),
            ValueData::Integer(number) => Some(*number as Self),
            _ => None,
        };
        number.filter(|number: &Self| number.is_finite()).ok_or_else(|| {
            Fault::new(format!("a number is wanted here, not {}", node.number_or_kind()))
                .help("write it like 0.5")
        })
    }

    fn write(&self) -> String {
        format!("{self:?}")
    }

    fn schema() -> Json {
        json!({ "type": "number", "examples": [0.5] })
    }
}
