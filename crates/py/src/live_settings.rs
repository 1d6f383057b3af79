//! Settings of an SCTP port by their names, as Python gives them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slantpath_live::{
    AuthenticationConfig, Duration, EndpointConfig, Extension, Extensions, PathMtuDiscovery, SharedKey,
    StreamId, StreamScheduling,
};
use slantpath_profiles::{Profile, ProfileError};
use slantpath_runner::LoadError;
use slantpath_runner::schema::Dscp;

use crate::os_error::os_error;
use crate::source::scenario_error;

/// Time of a setting that is a number of seconds to Python.
pub(crate) fn time(name: &str, seconds: f64) -> PyResult<Duration> {
    if (0.0..=1e9).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(PyValueError::new_err(format!("{name} is {seconds}: a time is from 0 to 1e9 seconds")))
}

/// Sets all that is given.
pub(crate) fn set_all(config: &mut EndpointConfig, settings: &Bound<'_, PyDict>) -> PyResult<()> {
    let profile = settings.get_item("profile")?;
    if let Some(place) = &profile {
        let streams = config.sctp.outbound_streams;
        config.sctp = config.carriage.settings(read(&place.extract::<String>()?)?.config(streams));
    }
    settings.iter().try_for_each(|(name, value)| set(config, &name.extract::<String>()?, &value))?;
    let sctp = &mut config.sctp;
    // What is required is offered.
    sctp.extensions = sctp.extensions.union(sctp.required_extensions);
    let AuthenticationConfig { keys, active_key, .. } = &sctp.authentication;
    if sctp.extensions.contain(Extension::Authentication) {
        if settings.contains("active_key")? && !keys.contains_key(active_key) {
            let known: Vec<_> = keys.keys().map(u16::to_string).collect();
            let message = format!("active_key is {active_key}, and keys has {}", known.join(", "));
            return Err(PyValueError::new_err(message));
        }
        if profile.is_none() {
            sctp.authentication.chunks = AuthenticationConfig::of_data().chunks;
        }
        return Ok(());
    }
    for setting in ["keys", "active_key"] {
        if settings.contains(setting)? {
            let message = format!("{setting} needs \"authentication\" among the extensions");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(())
}

/// The profile of a scenario that `FILE[:NAME]` says.
fn read(place: &str) -> PyResult<Profile> {
    Profile::load(place).map_err(|error| match error {
        ProfileError::Invalid(faults) => scenario_error(&faults),
        ProfileError::Unreadable(LoadError::Unreadable { path, error }) => os_error(&error, &path),
        other => PyValueError::new_err(format!("profile: {other}")),
    })
}

/// Sets one of SCTP's settings by its name: times are seconds.
fn set(config: &mut EndpointConfig, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let time = || time(name, value.extract::<f64>()?);
    let overhead = u16::try_from(config.carriage.overhead_bytes()).unwrap_or_default();
    let sctp = &mut config.sctp;
    match name {
        // It has been read before all others, which stand above it.
        "profile" => {}
        "rto_initial" => sctp.rto_initial = time()?,
        "rto_min" => sctp.rto_min = time()?,
        "rto_max" => sctp.rto_max = time()?,
        "sack_delay" => sctp.sack_delay = time()?,
        "heartbeat_interval" if value.is_none() => sctp.heartbeat_interval = None,
        "heartbeat_interval" => sctp.heartbeat_interval = Some(time()?),
        "path_max_retrans" => sctp.path_max_retrans = value.extract()?,
        "association_max_retrans" => sctp.association_max_retrans = value.extract()?,
        "outbound_streams" => sctp.outbound_streams = value.extract()?,
        "inbound_streams" => sctp.inbound_streams = value.extract()?,
        "receive_buffer_bytes" => sctp.receive_buffer_bytes = value.extract()?,
        "send_buffer_bytes" => sctp.send_buffer_bytes = value.extract()?,
        "total_send_buffer_bytes" => sctp.total_send_buffer_bytes = Some(value.extract()?),
        "dscp" => {
            let text: String = value.extract()?;
            let dscp: Dscp = text.parse().map_err(|()| {
                PyValueError::new_err(format!("dscp: {text} is none of EF, CS0 to CS7, and AF11 to AF43"))
            })?;
            sctp.ip.dscp = dscp.wire();
        }
        "max_associations" => sctp.max_associations = value.extract()?,
        "extensions" => sctp.extensions = extensions(name, value)?,
        "required_extensions" => sctp.required_extensions = extensions(name, value)?,
        "keys" => {
            let keys: Vec<(u16, Vec<u8>)> = value.cast::<PyDict>()?.items().extract()?;
            sctp.authentication.keys = keys.into_iter().map(|(id, key)| (id, SharedKey::new(key))).collect();
        }
        "active_key" => sctp.authentication.active_key = value.extract()?,
        "path_mtu_bytes" => {
            let mtu = value.extract::<u16>()?.saturating_sub(overhead);
            (sctp.initial_path_mtu, sctp.max_path_mtu) = (mtu, mtu);
        }
        "path_mtu_discovery" => {
            let known = [("icmp", PathMtuDiscovery::Off), ("probing", PathMtuDiscovery::Probing)];
            sctp.path_mtu_discovery = one_of(name, value, &known)?;
        }
        "stream_values" => {
            let values: Vec<(u16, u16)> = value.cast::<PyDict>()?.items().extract()?;
            sctp.stream_values = values.into_iter().map(|(id, value)| (StreamId(id), value)).collect();
        }
        "stream_scheduling" => {
            sctp.stream_scheduling = {
                let all = StreamScheduling::ALL.map(|scheduling| (scheduling.name(), scheduling));
                one_of(name, value, &all)?
            }
        }
        "socket_buffer_bytes" => config.socket_buffer_bytes = value.extract()?,
        _ => return Err(PyValueError::new_err(format!("no setting of SCTP is called {name}"))),
    }
    Ok(())
}

fn extensions(setting: &str, value: &Bound<'_, PyAny>) -> PyResult<Extensions> {
    let names: Vec<String> = value.extract()?;
    let all = Extension::ALL.map(|extension| (extension.name(), extension));
    names.iter().try_fold(Extensions::NONE, |set, name| Ok(set.with(named(setting, name, &all)?)))
}

fn one_of<T: Copy>(setting: &str, value: &Bound<'_, PyAny>, known: &[(&'static str, T)]) -> PyResult<T> {
    named(setting, &value.extract::<String>()?, known)
}

fn named<T: Copy>(setting: &str, name: &str, known: &[(&'static str, T)]) -> PyResult<T> {
    known.iter().find(|(own, _)| *own == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(own, _)| *own).collect();
        PyValueError::new_err(format!("{setting}: {name} is none of {}", names.join(", ")))
    })
}
