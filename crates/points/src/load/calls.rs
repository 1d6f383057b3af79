//! Ends of the titles that loads call, followed through the tables of all points: at a destination of the load, in the
//! subsystem at which its messages are counted.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_reader::{Fault, Faults, Named, Place, Setting};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{self, ByTitle, GeneratorConfig, Selection};
use slantpath_ss7::mtp3::Sls;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::sccp::gtt::{self, NoTranslation, Outcome, Translator, follow};

use crate::load::build::generator;
use crate::names::resolved;
use crate::route::titles::rule_named;
use crate::schema::{Load, Signalling};
use slantpath_ss7::sccp::gtt::Sharing;

/// Called when all else about points, translations and loads is right.
pub(crate) fn check(
    signalling: &Signalling,
    translators: &BTreeMap<PointCode, Translator>,
    faults: &mut Faults,
) {
    let points: BTreeMap<PointCode, &str> =
        signalling.points.iter().map(|(name, point)| (point.code.0, name)).collect();
    for (name, load) in signalling.load.iter() {
        let Some(config) = resolved(generator(signalling, load), faults) else { continue };
        let Some((ByTitle { translator, called, calling }, _)) = config.routing.title() else { continue };
        let selections = selections(&config);
        let mut reported: Vec<gtt::Ending> = Vec::new();
        let mut reached = Vec::new();
        let mut spared = Vec::new();
        let mut is_complete = true;
        for (digits, party) in load.called.iter().flat_map(|called| called.iter()).zip(called) {
            let followed = follow(translators, *translator, party, calling, &selections);
            is_complete &= followed.is_complete;
            for ending in followed.endings {
                let at = points[&ending.at];
                reached.push(at);
                if ending.is_backup && is_shared(signalling, &ending) {
                    spared.push(at);
                } else {
                    spared.retain(|point| *point != at);
                }
                let is_reported =
                    |known: &gtt::Ending| (known.at, known.outcome) == (ending.at, ending.outcome);
                if reported.iter().any(is_reported) {
                    continue;
                }
                judge(signalling, (name, load), digits, points[&ending.at], &ending, faults);
                reported.push(ending);
            }
        }
        for to in load.to.iter().filter(|to| is_complete && !reached.contains(&to.as_str())) {
            let message = format!("load `{name}`: none of the titles that it calls leads to `{to}`");
            let help = "call a title that leads there, or remove the point from `to`";
            faults.warn(load.to.place(), Fault::new(message).help(help));
        }
        for to in load.to.iter().filter(|to| is_complete && spared.contains(&to.as_str())) {
            let count = selections.len();
            let go = if count == 1 { "link selection goes" } else { "link selections go" };
            let message = format!(
                "load `{name}`: `{to}` gets nothing of what it shares: {count} {go} to the others, as their weights \
                 say, and each keeps its point"
            );
            let help = "let `links` be more, each of which has a link selection of its own, or the weights less uneven";
            faults.warn(load.to.place(), Fault::new(message).help(help));
        }
    }
}

/// Tells whether the last rule on the way shares its messages among points, rather than keeping some of these in
/// reserve.
fn is_shared(signalling: &Signalling, ending: &gtt::Ending) -> bool {
    let last = ending.path.last().and_then(|(_, rule)| rule_named(signalling, rule));
    last.is_some_and(|rule| rule.sharing.policy() != Sharing::Dominant)
}

/// The signalling link selections of a load's messages.
fn selections(config: &GeneratorConfig) -> Vec<Sls> {
    match (config.selection, &config.arrivals) {
        (Selection::Trace, load::Arrivals::Trace(messages)) => {
            let used: BTreeSet<u8> = messages.iter().filter_map(|message| Some(message.sls?.0)).collect();
            used.into_iter().map(Sls).collect()
        }
        // Link n takes n modulo 16.
        _ => (0..16).take(usize::from(config.links)).map(Sls).collect(),
    }
}

/// Tells of an ending where messages are not counted: refused where they go, a doubt where only a failure sends them.
fn judge(
    signalling: &Signalling,
    (name, load): (&str, &Named<Load>),
    digits: &str,
    at: &str,
    ending: &gtt::Ending,
    faults: &mut Faults,
) {
    let way: Vec<String> = ending.path.iter().map(|(_, rule)| format!("`{rule}`")).collect();
    let over = if way.is_empty() { String::new() } else { format!(" over {}", way.join(" and ")) };
    let last = ending.path.last().and_then(|(_, rule)| rule_named(signalling, rule));
    let called = load.called.as_ref().map(Setting::place).unwrap_or_default();
    let subsystem = load.subsystem.map(|ssn| Ssn(*ssn));
    let (place, what, help): (Place, String, String) = match ending.outcome {
        Outcome::Fails(error) => {
            let why = match error {
                NoTranslation::Address => "fits its digits",
                NoTranslation::Nature => "is for its translation type, numbering plan and nature",
            };
            (
                called,
                format!("ends at `{at}`{over}, where no rule {why}"),
                format!("add `[[signalling.translations]]` with `at = \"{at}\"`, or call another title"),
            )
        }
        Outcome::Arrives(_) if !load.to.iter().any(|to| to == at) => (
            last.map_or(called, |rule| rule.to.place()),
            format!("leads to `{at}`{over}, and the load goes to {}", quoted(&load.to)),
            format!("let the rule lead to a point of `to`, or add `{at}` to `to` of the load"),
        ),
        Outcome::Arrives(ssn) if ssn != subsystem => {
            let number = |ssn: Option<Ssn>| ssn.map_or_else(|| "none".to_owned(), |ssn| ssn.0.to_string());
            let (comes, counts) = (number(ssn), number(subsystem));
            (
                last.and_then(|rule| rule.to_subsystem.as_ref()).map_or(called, Setting::place),
                format!(
                    "leads to subsystem {comes} of `{at}`{over}, and the load counts at subsystem {counts}"
                ),
                format!("let `to_subsystem` be {counts}, or leave it out"),
            )
        }
        Outcome::Arrives(_) => return,
    };
    if ending.is_backup {
        let message = format!("load `{name}`: if another point fails, the global title {digits} {what}");
        faults.warn(place, Fault::new(message).help(help));
    } else {
        let message = format!("load `{name}`: the global title {digits} {what}: every such message is lost");
        faults.report(place, Fault::new(message).help(help));
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
