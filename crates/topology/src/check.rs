//! Checks of the parts of a topology against each other. They complete what is left to presets and defaults, so that
//! the merged form says everything, build the network, and report all that cannot be.

use slantpath_base::Duration;
use slantpath_orbit::elements::{Stale, Validity};
use slantpath_orbit::network::NetworkError;
use slantpath_orbit::{ContactNetwork, Utc};
use slantpath_reader::{AllKnown, Fault, Faults, Files, Place, Setting, Stage, fault_of};

use super::constellation::elements::Use;
use super::schema::{self, Positions};
use super::written::TopologyFile;
use super::{cables, constellation, files, ground, outages, paths};

/// More satellites than anyone has filed for, and as many as a machine holds.
pub(super) const MOST_SATELLITES: usize = 100_000;
/// Rows of a table that is sampled: some 2 GB.
const MOST_ROWS: u64 = 50_000_000;
/// Rows of the table of positions where nobody says how often they are written.
const POSITION_ROWS: u64 = 200_000;

/// Checks and completes a topology. `None` if something is at fault, which is then reported.
pub fn check(
    file: &mut TopologyFile,
    all_known: AllKnown,
    files: &Files,
    faults: &mut Faults,
) -> Option<ContactNetwork> {
    let time = head(file, faults);
    let validity = file.validity.whole();
    let validity =
        validity.map(|table| Validity { warn_after: *table.warn_after, refuse_after: *table.refuse_after });
    let use_of_sets = time.zip(validity).map(|((from, span), validity)| Use { from, span, validity });
    let constellations = constellation::check::check(file, use_of_sets, files, faults);
    let is_empty = file.constellations.is_empty();
    if is_empty && all_known.0 {
        let help = "add a table `[constellations.<name>]` that says where the satellites come from";
        faults.report(
            file.topology.whole()?.name.place(),
            Fault::new("the topology has no satellite").help(help),
        );
    }
    let sites = ground::check::check(file, is_empty || constellations.is_none(), files, faults);
    let outages = outages::check(file, files, faults);
    let ((epoch, span), constellations, sites) = (time?, constellations?, sites?);
    let mut network = ContactNetwork::new(epoch, constellations);
    network.sites = sites;
    positions(file, span, network.satellite_count());
    table_sizes(file, span, network.satellite_count(), faults);
    network.validity = validity?;
    let named = match network.nodes_by_name() {
        Ok(named) => named,
        Err(error) => {
            report(file, &error, files, faults);
            return None;
        }
    };
    network.outages = outages::resolved(outages?, &named, file, faults)?;
    paths::check(file, &named, faults);
    network.cables = cables::check(file, faults);
    if !faults.is_empty() {
        return None;
    }
    paths::resolve(file, &named);
    network.pairs = paths::pairs(file);
    match network.check(span) {
        Ok(_) => Some(network),
        Err(error) => {
            report(file, &error, files, faults);
            None
        }
    }
}

/// Epoch and span.
fn head(file: &TopologyFile, faults: &mut Faults) -> Option<(Utc, Duration)> {
    let head = file.topology.whole()?;
    let (epoch, span) = (head.epoch.0, *head.span);
    let mut fail = |place, message: String, help: &str| faults.report(place, Fault::new(message).help(help));
    let end = i64::try_from(span.as_nanos()).ok().and_then(|nanos| epoch.as_nanos().checked_add(nanos));
    if span.is_zero() {
        fail(head.span.place(), "a topology of no length shows nothing".into(), "write `span = \"24 h\"`");
        return None;
    }
    // A day beyond the end is read by some.
    if end.and_then(|end| end.checked_add(86_400_000_000_000)).is_none() {
        fail(head.span.place(), format!("{span} from {epoch} ends beyond the year 2292"), "make it shorter");
        return None;
    }
    if head.sample_every.is_zero() {
        let help = "write an interval like \"10 s\"";
        fail(head.sample_every.place(), "a delay cannot be sampled all the time".into(), help);
    }
    if let Some(every) = &*head.positions_every
        && **every == Positions::Every(Duration::ZERO)
    {
        let help = "write an interval like \"60 s\", or \"off\"";
        fail(every.place(), "places cannot be written all the time".into(), help);
    }
    if let Some(map) = file.map.whole()
        && *map.at > span
    {
        let message = format!("the map at {} lies after the end at {span}", *map.at);
        fail(map.at.place(), message, "let it be earlier, or make `topology.span` longer");
    }
    if let Some(validity) = file.validity.whole()
        && *validity.warn_after > *validity.refuse_after
    {
        let message = format!("a warning after {} never comes", *validity.warn_after);
        let help = format!("sets are refused after {}: warn earlier", *validity.refuse_after);
        fail(validity.warn_after.place(), message, &help);
    }
    Some((epoch, span))
}

fn positions(file: &mut TopologyFile, span: Duration, satellites: usize) {
    let Some(head) = file.topology.whole_mut() else { return };
    let place = head.span.place();
    head.positions_every.get_or_insert_with(|| {
        let minutes = (span.as_nanos() / 60_000_000_000 * satellites as u64).div_ceil(POSITION_ROWS).max(1);
        let how = if minutes == 1 { "default" } else { "so that the table has at most 200,000 rows" };
        Setting::derived(Positions::Every(Duration::from_secs(60 * minutes)), how, place)
    });
}

/// Refuses what is sampled so finely that its table would fill the memory.
fn table_sizes(file: &TopologyFile, span: Duration, satellites: usize, faults: &mut Faults) {
    let Some(head) = file.topology.whole() else { return };
    let rows =
        |every: Duration, of: usize| (span.as_nanos() / every.as_nanos().max(1)).saturating_mul(of as u64);
    let mut limit = |what: &str, rows: u64, place: Place| {
        if rows > MOST_ROWS {
            let fault = Fault::new(format!("the table `{what}` would have {rows} rows"));
            faults.report(
                place,
                fault.help(format!("sample less often: a table has at most {MOST_ROWS} rows")),
            );
        }
    };
    limit("delay", rows(*head.sample_every, file.paths.iter().len()), head.sample_every.place());
    if let Some(setting) = &*head.positions_every
        && let Positions::Every(every) = **setting
    {
        limit("positions", rows(every, satellites), setting.place());
    }
}

/// Says what the network finds wrong, at the table or the line of the element set that is at fault.
pub(super) fn report<S: Stage>(
    file: &schema::TopologyFile<S>,
    error: &NetworkError,
    files: &Files,
    faults: &mut Faults,
) {
    let whole = file.topology.whole().map_or_else(Place::default, |head| head.name.place());
    let text = error.to_string();
    let fault = fault_of(&text, "");
    let (place, fault) = match error {
        NetworkError::NeverSees { site, .. } => {
            let site = file.sites.iter().find(|(name, _)| name == site);
            (site.map_or(whole, |(_, table)| table.place()), fault)
        }
        NetworkError::SpanTooLong { .. } => {
            (file.topology.whole().map_or(whole, |head| head.span.place()), fault)
        }
        NetworkError::Contradiction(contradiction) => {
            let named = file.constellations.iter().find(|(name, _)| *name == contradiction.name);
            let message = format!("{}, but {}", contradiction.claim, contradiction.implied);
            let fault = Fault::new(message).help(contradiction.cure.clone());
            (named.map_or(whole, |(_, table)| table.place()), fault)
        }
        NetworkError::Stale(Stale { file: name, line, object, .. })
        | NetworkError::TooHigh { file: name, line, object, .. }
        | NetworkError::Propagation(slantpath_orbit::sgp4::PropagationError {
            file: name,
            line,
            object,
            ..
        }) => match files(name) {
            Ok(elements) => {
                let place = files::line(name, &elements, *line, faults);
                let prefix = format!("{name}:{line}: ");
                let text = text.strip_prefix(&prefix).unwrap_or(&text);
                (place, object_fault(object, text))
            }
            // It was read a moment ago; what it said still stands.
            Err(_) => (whole, fault),
        },
        _ => (whole, fault),
    };
    faults.report(place, fault);
}

/// `object: what is wrong: cure`, or `object: what is wrong; cure`.
fn object_fault(object: &str, text: &str) -> Fault {
    let rest = text.strip_prefix(object).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text);
    let (wrong, cure) = rest.split_once(": ").or_else(|| rest.split_once("; ")).unwrap_or((rest, ""));
    let cure = if cure.is_empty() { "take a newer element set, or leave the object out" } else { cure };
    Fault::new(format!("{object}: {wrong}")).help(cure)
}

/// Fills in what nobody wrote, and gives what is there then.
pub(super) fn complete<'a, T>(
    setting: &'a mut Option<Setting<T>>,
    value: T,
    how: &'static str,
    place: Place,
) -> &'a Setting<T> {
    setting.get_or_insert_with(|| Setting::derived(value, how, place))
}
