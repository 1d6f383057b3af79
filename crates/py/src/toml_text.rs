//! Python values as TOML.

use std::fmt::Write;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyMapping, PySequence, PyString};

/// Depth at which lists and tables lie in each other at most. Those of scenarios lie at four or five; a list that holds
/// itself has no end.
const DEEPEST: usize = 32;

/// A value as TOML: texts, numbers, flags, lists and tables of them.
#[pyfunction]
pub(crate) fn toml_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text_within(value, DEEPEST)
}

/// Writes as TOML a value in which others may lie `depth` deep.
fn text_within(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.str()?.to_string());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(match number.value() {
            number if number.is_nan() => "nan".to_owned(),
            number if number.is_infinite() => if number > 0.0 { "inf" } else { "-inf" }.to_owned(),
            number => format!("{number:?}"),
        });
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(quoted(&text.to_cow()?));
    }
    let inner = |value: &Bound<'_, PyAny>| match depth.checked_sub(1) {
        Some(depth) => text_within(value, depth),
        None => Err(PyValueError::new_err(format!(
            "a value of a scenario is at most {DEEPEST} lists and dicts deep: this one is deeper, or holds itself"
        ))),
    };
    if let Ok(table) = value.cast::<PyMapping>() {
        let entries = table
            .items()?
            .iter()
            .map(|item| {
                let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
                Ok(format!("{} = {}", quoted(&key), inner(&value)?))
            })
            .collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    if let Ok(list) = value.cast::<PySequence>() {
        let items = list.try_iter()?.map(|item| inner(&item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("[{}]", items.join(", ")));
    }
    Err(PyTypeError::new_err(format!(
        "a value of a scenario is a string, a number, a flag, a list or a dict, not {}",
        value.get_type().name()?
    )))
}

/// A string as TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut toml = String::with_capacity(text.len() + 2);
    toml.push('"');
    for character in text.chars() {
        match character {
            '"' => toml.push_str("\\\""),
            '\\' => toml.push_str("\\\\"),
            control if control.is_control() => {
                write!(toml, "\\U{:08X}", u32::from(control)).expect("a string takes everything");
            }
            plain => toml.push(plain),
        }
    }
    toml.push('"');
    toml
}
