//! Settings of an SCTP port by their names, as Python gives them: those of the declaration in `slantpath_profiles`, and
//! what is no transport's.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use slantpath_live::{Duration, EndpointConfig, Extension, SctpConfig, SharedKey, StreamId};
use slantpath_profiles::{Assignment, Profile, ProfileError};
use slantpath_runner::schema::NamedDscp;
use slantpath_runner::{LoadError, OwnKinds};

use crate::controller::PythonKinds;
use crate::os_error::os_error;
use crate::source::settings_error;
use crate::toml_text::toml_text;

/// Settings that are none of the declaration's.
const BESIDE: [&str; 9] = [
    "controllers",
    "dscp",
    "keys",
    "max_associations",
    "outbound_streams",
    "profile",
    "socket_buffer_bytes",
    "stream_values",
    "total_send_buffer_bytes",
];

/// Names that settings have had, and the keys that they are of.
const OLD_NAMES: [(&str, &str); 4] = [
    ("heartbeat_interval", "hb_interval"),
    ("path_mtu_bytes", Assignment::PATH_MTU),
    ("receive_buffer_bytes", "receive_buffer"),
    ("send_buffer_bytes", "send_buffer"),
];

/// Time of a setting that is a number of seconds to Python.
pub(crate) fn time(name: &str, seconds: f64) -> PyResult<Duration> {
    if (0.0..=1e9).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(PyValueError::new_err(format!("{name} is {seconds}: a time is from 0 to 1e9 seconds")))
}

/// Sets all that is given. Returns the settings that a scenario has as well.
pub(crate) fn set_all(config: &mut EndpointConfig, settings: &Bound<'_, PyDict>) -> PyResult<Profile> {
    let place = settings.get_item("profile")?.map(|place| place.extract::<String>()).transpose()?;
    let has_keys = settings.contains("keys")?;
    let mut assignments = Vec::new();
    for (name, value) in settings.iter() {
        let name: String = name.extract()?;
        // It names one of `keys`, where there are some.
        let is_beside = BESIDE.contains(&name.as_str()) || has_keys && name == "active_key";
        if !is_beside {
            assignments.push(assignment(&name, &value)?);
        }
    }
    let kinds = own_kinds(settings)?;
    let profile =
        Profile::live(place.as_deref(), &assignments, kinds.controllers()).map_err(|error| match error {
            ProfileError::Invalid(faults) => {
                let names: Vec<&str> = assignments.iter().map(|one| one.name.as_str()).collect();
                settings_error(&faults, &names)
            }
            ProfileError::Unreadable(LoadError::Unreadable { path, error }) => os_error(&error, &path),
            other => PyValueError::new_err(format!("profile: {other}")),
        })?;
    config.sctp = config.carriage.settings(profile.config(config.sctp.outbound_streams));
    settings.iter().try_for_each(|(name, value)| set_beside(config, &name.extract::<String>()?, &value))?;
    if has_keys {
        check_keys(&mut config.sctp, settings)?;
    }
    Ok(profile)
}

/// Classes of controllers that the settings may name.
fn own_kinds(settings: &Bound<'_, PyDict>) -> PyResult<OwnKinds> {
    let Some(classes) = settings.get_item("controllers")? else { return Ok(OwnKinds::none()) };
    Ok(PythonKinds::new(classes.cast::<PyDict>()?)?.kinds)
}

/// A setting of the declaration. Numbers are of seconds and bytes where the key is a quantity; none is `off`.
fn assignment(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Assignment> {
    let key = OLD_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, key)| key);
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<f64>().ok() };
    let quantity = number.and_then(|number| Assignment::quantity(key, number));
    let text = match quantity {
        Some(quantity) => quantity,
        None if value.is_none() => "off".to_owned(),
        None if value.is_instance_of::<PyString>() => value.extract()?,
        None => toml_text(value)?,
    };
    Ok(Assignment::new(name, key, text))
}

/// Sets what is none of the declaration's.
fn set_beside(config: &mut EndpointConfig, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let sctp = &mut config.sctp;
    match name {
        "outbound_streams" => sctp.outbound_streams = value.extract()?,
        "total_send_buffer_bytes" => sctp.total_send_buffer_bytes = Some(value.extract()?),
        "dscp" => {
            let text: String = value.extract()?;
            let dscp: NamedDscp = text.parse().map_err(|()| {
                PyValueError::new_err(format!("dscp: {text} is none of EF, CS0 to CS7, and AF11 to AF43"))
            })?;
            sctp.ip.dscp = dscp.wire();
        }
        "max_associations" => sctp.max_associations = value.extract()?,
        "keys" => {
            let keys: Vec<(u16, Vec<u8>)> = value.cast::<PyDict>()?.items().extract()?;
            sctp.authentication.keys = keys.into_iter().map(|(id, key)| (id, SharedKey::new(key))).collect();
        }
        "stream_values" => {
            let values: Vec<(u16, u16)> = value.cast::<PyDict>()?.items().extract()?;
            sctp.stream_values = values.into_iter().map(|(id, value)| (StreamId(id), value)).collect();
        }
        "socket_buffer_bytes" => config.socket_buffer_bytes = value.extract()?,
        // Of the declaration.
        _ => {}
    }
    Ok(())
}

/// Refuses keys that nothing uses, and sets the active one.
fn check_keys(sctp: &mut SctpConfig, settings: &Bound<'_, PyDict>) -> PyResult<()> {
    if !sctp.extensions.contain(Extension::Authentication) {
        return Err(PyValueError::new_err("keys needs \"authentication\" among the extensions"));
    }
    let Some(active) = settings.get_item("active_key")? else { return Ok(()) };
    let active: u16 = active.extract()?;
    if !sctp.authentication.keys.contains_key(&active) {
        let known: Vec<_> = sctp.authentication.keys.keys().map(u16::to_string).collect();
        let message = format!("active_key is {active}, and keys has {}", known.join(", "));
        return Err(PyValueError::new_err(message));
    }
    sctp.authentication.active_key = active;
    Ok(())
}
