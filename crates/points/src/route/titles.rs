//! Global title translations: digits that can be read, rules that do not contradict, titles that arrive.

use std::collections::BTreeMap;

use slantpath_reader::{Fault, Faults, Place, Setting, Written};
use slantpath_ss7::PointCode;
use slantpath_ss7::sccp::Digits;
use slantpath_ss7::sccp::gtt::{
    DigitPattern, GttError, TranslationLoop, Translator, find_dead_ends, find_loops,
};

use crate::by_point::ByPoint;
use crate::names::{point, resolved};
use crate::network::Reach;
use crate::route::build::{NoTranslator, translation_name, translator};
use crate::schema::{Signalling, Translation};
use slantpath_ss7::sccp::gtt::{RouteOn, Sharing};

pub(crate) const DIGITS: &str =
    "digits are 0 to 9 and a to f; `?` stands for any, and `*` at the end for any more";

pub(crate) fn names(signalling: &Signalling<Written>, faults: &mut Faults) {
    for translation in &signalling.translations {
        point(signalling, &translation.at, translation.at.place(), faults);
        for to in &*translation.to {
            point(signalling, to, translation.to.place(), faults);
            if *to == *translation.at && translation.route_on.policy() == RouteOn::GlobalTitle {
                let message = format!("`{to}` would translate its own translation again");
                let help = "write `route_on = \"subsystem\"`, or let the title go to another point";
                faults.report(translation.to.place(), Fault::new(message).help(help));
            }
        }
        if translation.to.is_empty() {
            let fault = Fault::new("the translation leads nowhere").help("name a point in `to`");
            faults.report(translation.to.place(), fault);
        }
        weights(translation, faults);
        for plan in [&translation.plan, &translation.to_plan].into_iter().flatten() {
            at_most(plan, 15, "numbering plan", faults);
        }
        for nature in [&translation.nature, &translation.to_nature].into_iter().flatten() {
            at_most(nature, 127, "nature of address", faults);
        }
        for pattern in [Some(&translation.digits), translation.calling.as_ref()].into_iter().flatten() {
            if let Err(error) = DigitPattern::parse(pattern) {
                faults.report(pattern.place(), Fault::new(error.to_string()).help(DIGITS));
            }
        }
        if let Err(error) = Digits::parse(&translation.insert) {
            faults.report(translation.insert.place(), Fault::new(error.to_string()).help(DIGITS));
        }
    }
}

/// Each point that shares has a share, and one that is above nothing.
fn weights(translation: &Translation, faults: &mut Faults) {
    let Some(weights) = &translation.weights else { return };
    let (points, shares) = (translation.to.len(), weights.len());
    let (message, help) = if translation.sharing.policy() == Sharing::Dominant {
        let message = format!("`weights` has no meaning with `sharing = \"{}\"`", *translation.sharing);
        (message, "write `sharing = \"turns\"` or `sharing = \"link-selection\"`")
    } else if points != shares {
        (format!("`weights` has {shares} for the {points} of `to`"), "write one weight for each point")
    } else if weights.contains(&0) {
        let message = "a point of weight 0 would never get anything".to_owned();
        (message, "give it at least 1, or remove it from `to`")
    } else {
        return;
    };
    faults.report(weights.place(), Fault::new(message).help(help));
}

/// Reports a number that has fewer bits in an address than in a file (Q.713, section 3.4.2.3).
pub(crate) fn at_most(setting: &Setting<u8>, most: u8, what: &str, faults: &mut Faults) {
    if **setting > most {
        let message = format!("there is no {what} {}", **setting);
        faults.report(setting.place(), Fault::new(message).help(format!("it can be 0 to {most}")));
    }
}

/// The tables of all points, which `calls` follows titles through.
pub(crate) fn check(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    reach: &Reach<'_>,
    faults: &mut Faults,
) -> BTreeMap<PointCode, Translator> {
    let before = faults.len();
    for translation in &signalling.translations {
        for to in &*translation.to {
            reach.must_lead(&translation.at, to, translation.to.place(), faults);
            subsystem(signalling, translation, to, faults);
        }
    }
    let mut translators = BTreeMap::new();
    let mut points = BTreeMap::new();
    for (name, named) in signalling.points.iter() {
        points.insert(named.code.0, name);
        match translator(signalling, by_point, name) {
            Ok(translator) => {
                translators.insert(named.code.0, translator);
            }
            Err(NoTranslator::Unresolved(unresolved)) => {
                resolved::<()>(Err(unresolved), faults);
            }
            Err(NoTranslator::Contradictory(error)) => {
                let place = match &error {
                    GttError::Contradiction { second, .. } => place_of(signalling, second),
                    _ => None,
                };
                let help = "make the digits or the conditions of one of them differ, or remove it";
                let fault = Fault::new(format!("`{name}`: {error}")).help(help);
                faults.report(place.unwrap_or_else(|| named.place()), fault);
            }
        }
    }
    let search = find_loops(&translators);
    for TranslationLoop { path, digits, is_certain } in &search.loops {
        // Once round is enough: a path that was followed for long repeats itself.
        let again = (1..path.len()).find(|at| path[..*at].contains(&path[*at]));
        let steps = path.iter().take(again.map_or(path.len(), |at| at + 1)).map(|(code, rule)| {
            let name = points.get(code).copied().unwrap_or_default();
            format!("`{name}` ({rule})")
        });
        let way = steps.collect::<Vec<_>>().join(" > ");
        let place = path.first().and_then(|(_, rule)| place_of(signalling, rule)).unwrap_or_default();
        let help = "let one of the rules lead to a subsystem, or to a point that ends the circle";
        if *is_certain {
            let message = format!("the global title {digits} goes in a circle: {way}");
            faults.report(place, Fault::new(message).help(help));
        } else {
            let message = format!("global titles like {digits} may go in a circle: {way}");
            faults.warn(place, Fault::new(message).help(help));
        }
    }
    if let (false, Some((_, first))) = (search.is_complete, signalling.points.iter().next()) {
        let message = "there are too many translations to search all of them for circles";
        let help = "keep an eye on the hop counter's drops in the results";
        faults.warn(first.place(), Fault::new(message).help(help));
    }
    // A point whose table is wrong has none, which is reported already.
    if faults.len() == before {
        for dead in find_dead_ends(&translators) {
            let (at, to) = (points[&dead.at], points.get(&dead.to).copied().unwrap_or_default());
            let translates = signalling.translations.iter().any(|rule| *rule.at == to);
            let why = if translates { "has no rule that fits any of them" } else { "translates nothing" };
            let message = format!("`{}` of `{at}` sends its titles on to `{to}`, which {why}", dead.rule);
            let help = format!(
                "add `[[signalling.translations]]` with `at = \"{to}\"`, or write `route_on = \"subsystem\"`"
            );
            let place = rule_named(signalling, &dead.rule).map(|rule| rule.to.place());
            faults.report(place.unwrap_or_default(), Fault::new(message).help(help));
        }
    }
    translators
}

/// A message that has come needs a subsystem which takes it.
fn subsystem(signalling: &Signalling, translation: &Translation, to: &str, faults: &mut Faults) {
    let Some(point) = signalling.points.find(to).filter(|_| translation.route_on.policy() == RouteOn::Ssn)
    else {
        return;
    };
    let wanted = translation.to_subsystem.as_ref().or(translation.subsystem.as_ref());
    let (place, message) = match wanted {
        Some(ssn) if !point.subsystems.contains(ssn) => {
            (ssn.place(), format!("`{to}` has no subsystem {}", **ssn))
        }
        None if point.subsystems.is_empty() => (translation.to.place(), format!("`{to}` has no subsystem")),
        _ => return,
    };
    let help = format!("add it to `subsystems` in `[signalling.points.{to}]`");
    faults.report(place, Fault::new(message).help(help));
}

/// A translation by its name in messages.
pub(crate) fn rule_named<'a>(signalling: &'a Signalling, name: &str) -> Option<&'a Translation> {
    let mut numbered = signalling.translations.iter().enumerate();
    numbered.find(|(number, _)| translation_name(*number) == name).map(|(_, rule)| &**rule)
}

/// Line of the rule of this name.
fn place_of(signalling: &Signalling, name: &str) -> Option<Place> {
    rule_named(signalling, name).map(|rule| rule.digits.place())
}
