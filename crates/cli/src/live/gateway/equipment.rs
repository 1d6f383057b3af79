//! Option `--settings`: what `slantpath plan --format gateway` prints, laid over the scenario at the live point.

use std::collections::BTreeSet;
use std::path::Path;

use slantpath_gateway::SignallingEntity;
use slantpath_runner::schema::signalling::Carrier;
use slantpath_runner::{EntityRequest, Scenario, TEXT_MAX, read_bounded};

use crate::failure::Failure;
use crate::terminal;

/// Part of a scenario that a setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Profiles of SCTP of the entity's associations.
    Profile,
    /// Carriers of its links.
    Link,
    /// The point itself.
    Point,
    /// The gateway at the point.
    Gateway,
    /// The application server process.
    Process,
}

/// Units in which equipment has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum In {
    Bytes,
    Count,
    Milliseconds,
}

/// Names of the equipment, with the place, the key and the unit of the scenario.
const NAMES: [(&str, Place, &str, In); 18] = [
    ("init-cwnd-size", Place::Profile, "fixed_cwnd", In::Bytes),
    ("minimum-rto", Place::Profile, "rto_min", In::Milliseconds),
    ("maximum-rto", Place::Profile, "rto_max", In::Milliseconds),
    ("init-rto", Place::Profile, "rto_initial", In::Milliseconds),
    ("cumulative-sack", Place::Profile, "sack_delay", In::Milliseconds),
    ("path-retransmit", Place::Profile, "path_max_retrans", In::Count),
    ("assoc-retransmit", Place::Profile, "association_max_retrans", In::Count),
    ("tx-queue-depth", Place::Link, "transmission_queue", In::Count),
    ("m2pa timer t7", Place::Link, "t7", In::Milliseconds),
    ("mtp3 timer t02", Place::Point, "t2", In::Milliseconds),
    ("mtp3 timer t04", Place::Point, "t4", In::Milliseconds),
    ("mtp3 timer t05", Place::Point, "t5", In::Milliseconds),
    ("mtp3 timer t12", Place::Point, "t12", In::Milliseconds),
    ("mtp3 timer t14", Place::Point, "t14", In::Milliseconds),
    ("mtp3 timer slt-t01", Place::Point, "link_test_t1", In::Milliseconds),
    ("m3ua timer t-ack", Place::Process, "t_ack", In::Milliseconds),
    ("m3ua timer t-r", Place::Gateway, "t_r", In::Milliseconds),
    ("m3ua queue", Place::Gateway, "queue", In::Count),
];

/// Names of how a window shrinks, which a fixed one does not.
const SHRINKING: [&str; 2] = ["retransmit-cwnd-rate", "fast-cwnd-rate"];

/// The scenario with the settings of a file at an entity.
pub(super) fn laid_over(
    scenario: &Scenario,
    request: &EntityRequest,
    path: &Path,
) -> Result<Scenario, Failure> {
    let name = path.display().to_string();
    let bytes = read_bounded(path, TEXT_MAX).map_err(|error| Failure::Misused(format!("{name}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut overrides = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(unmet) = line.trim().strip_prefix("! NOT POSSIBLE:") {
            terminal::warn(&format!("{name}:{number}: the plan could not do this:{unmet}"))?;
        }
        let setting = setting(line).map_err(|why| Failure::Misused(format!("{name}:{number}: {why}")))?;
        if let Some((place, key, value)) = setting {
            let paths = paths(scenario, request, place).into_iter();
            overrides.extend(paths.map(|path| format!("{path}.{key}={value}")));
        }
    }
    scenario.with(&name, &overrides).map_err(Failure::Invalid)
}

/// Place, key and value of a line; `None` of a comment, and of what a fixed window has anyhow.
fn setting(line: &str) -> Result<Option<(Place, &'static str, String)>, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((value, name)) = words.split_last().filter(|_| !line.trim_start().starts_with('!')) else {
        return Ok(None);
    };
    let name = name.join(" ");
    let number = value.parse::<u64>().map_err(|_| format!("`{value}` is no whole number"))?;
    if SHRINKING.contains(&name.as_str()) {
        return match number {
            0 => Ok(None),
            _ => Err(format!("`{name}` of {number}: a window that is given is fixed here, write 0")),
        };
    }
    let Some((_, place, key, unit)) = NAMES.iter().find(|(own, ..)| *own == name) else {
        let known: Vec<&str> = NAMES.iter().map(|(own, ..)| *own).chain(SHRINKING).collect();
        return Err(format!("there is no setting `{name}`; there are {}", known.join(", ")));
    };
    let value = match unit {
        In::Bytes => format!("\"{number} B\""),
        In::Count => number.to_string(),
        In::Milliseconds => format!("\"{number} ms\""),
    };
    Ok(Some((*place, *key, value)))
}

/// Paths of the tables of a kind that are the entity's.
fn paths(scenario: &Scenario, request: &EntityRequest, place: Place) -> BTreeSet<String> {
    let signalling = &scenario.signalling;
    let ends = request.ends.iter().map(|end| (end.is_of_m2pa(), &end.own.name));
    match place {
        Place::Profile => ends
            .filter_map(|(is_of_m2pa, name)| {
                if !is_of_m2pa {
                    return Some(format!("sctp.{}", *signalling.associations.find(name)?.profile));
                }
                match &signalling.links.find(name)?.carrier.0 {
                    Carrier::M2pa(carrier) => Some(format!("sctp.{}", *carrier.profile)),
                    Carrier::Mtp2(_) => None,
                }
            })
            .collect(),
        Place::Link => ends
            .filter(|(is_of_m2pa, _)| *is_of_m2pa)
            .map(|(_, name)| format!("signalling.links.{name}.carrier"))
            .collect(),
        Place::Point | Place::Gateway | Place::Process => {
            let is_process = matches!(request.entity, SignallingEntity::Process(_));
            let name = &request.name;
            let path = match place {
                Place::Process if is_process => Some(format!("signalling.asps.{name}")),
                Place::Point if !is_process => Some(format!("signalling.points.{name}")),
                Place::Gateway if !is_process && signalling.gateways.find(name).is_some() => {
                    Some(format!("signalling.gateways.{name}"))
                }
                _ => None,
            };
            path.into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_setting_a_comment_or_told_with_what_is_wrong() {
        let of = |line: &str| setting(line).unwrap();
        assert_eq!(of(" minimum-rto 800"), Some((Place::Profile, "rto_min", "\"800 ms\"".to_owned())));
        assert_eq!(
            of("mtp3 timer slt-t01 4000"),
            Some((Place::Point, "link_test_t1", "\"4000 ms\"".to_owned()))
        );
        assert_eq!(of(" m3ua queue 200"), Some((Place::Gateway, "queue", "200".to_owned())));
        for line in ["", "! per association of M2PA", " ! NOT POSSIBLE: 3", " fast-cwnd-rate 0"] {
            assert_eq!(of(line), None);
        }
        let wrong = |line: &str| setting(line).unwrap_err();
        assert_eq!(wrong("minimum-rto 1 s"), "`s` is no whole number");
        assert!(
            wrong("minimum-rtt 1")
                .starts_with("there is no setting `minimum-rtt`; there are init-cwnd-size, ")
        );
        assert_eq!(
            wrong("fast-cwnd-rate 50"),
            "`fast-cwnd-rate` of 50: a window that is given is fixed here, write 0"
        );
    }
}
