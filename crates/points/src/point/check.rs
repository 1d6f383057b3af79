//! Checks of the keys of a signalling point: user parts, and SCCP with its timers and neighbours.

use slantpath_reader::{Fault, Faults, Named, Nested, Place, Section, Written};
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::mtp3::node::Function;
use slantpath_ss7::sccp::TimerError;

use crate::by_point::ByPoint;
use crate::names::{has_sccp, point, resolved};
use crate::point::build::sccp;
use crate::route::build::translator;
use crate::schema::{Congestion, Point, Sccp, Signalling};

/// The service indicator of SCCP.
const SCCP: u8 = 3;

pub(crate) fn names(signalling: &Signalling<Written>, by_point: &ByPoint<'_>, faults: &mut Faults) {
    for (name, named) in signalling.points.iter() {
        users(by_point, name, named, faults);
        if let Some(Nested(processing)) = &named.processing {
            processing.check(name, faults);
        }
        let is_national =
            matches!(named.network.policy(), NetworkIndicator::National | NetworkIndicator::NationalSpare);
        if *named.congestion == Congestion::National && !is_national {
            let message = format!(
                "`{name}` indicates congestion as national networks do, and its network is `{}`",
                *named.network
            );
            let help = "write `network = \"national\"`, or leave `congestion` out";
            faults.warn_of_kind("congestion", named.congestion.place(), Fault::new(message).help(help));
        }
        if let Some(spread) = &named.spread
            && named.function.policy() == Function::EndPoint
        {
            let message = format!("nothing passes `{name}`, an end point, that could be spread");
            let help = "write `function = \"transfer-point\"`, or leave `spread` out";
            faults.report(spread.place(), Fault::new(message).help(help));
        }
        if named.format.policy() != PointCodeFormat::Itu && has_sccp(by_point, name, named) {
            let message = format!("`{name}` has SCCP, whose addresses have point codes of 14 bits");
            let help = "write `format = \"itu\"`, or leave out its subsystems and translations";
            faults.report(named.format.place(), Fault::new(message).help(help));
        }
        let Some(Nested(table)) = &named.sccp else { continue };
        if !has_sccp(by_point, name, named) {
            let message = format!("`{name}` has no SCCP: it has neither a subsystem nor a translation");
            let help = "name its `subsystems`, or remove the table `sccp`";
            faults.report(table.t_stat_info_longest.place(), Fault::new(message).help(help));
        }
        let neighbours = table.concerned.iter().map(|far| (far, table.concerned.place()));
        let backup = table.backup.iter().map(|far| (&**far, far.place()));
        for (far, place) in neighbours.chain(backup) {
            point(signalling, far, place, faults);
            if *far == *name {
                let message = format!("`{name}` is told of its own subsystems, or takes over from itself");
                faults.report(place, Fault::new(message).help("name another point"));
            } else if signalling.points.find(far).is_some_and(|point| !has_sccp(by_point, far, point)) {
                let message = format!("`{far}` has no SCCP to hear of the subsystems of `{name}`");
                let help = format!("give it `subsystems` or translations, or leave it out in `{name}`");
                faults.warn_of_kind("concerned", place, Fault::new(message).help(help));
            }
        }
    }
}

fn users(by_point: &ByPoint<'_>, name: &str, named: &Named<Point<Written>>, faults: &mut Faults) {
    let place = named.users.place();
    if let Some(user) = named.users.iter().find(|user| **user > 15) {
        let message = format!("there is no service indicator {user}");
        faults.report(place, Fault::new(message).help("user parts have service indicators from 3 to 15"));
    }
    if has_sccp(by_point, name, named) && !named.users.contains(&SCCP) {
        let message = format!("`{name}` has SCCP, and its `users` lack service indicator {SCCP}");
        faults.report(place, Fault::new(message).help("add 3 to `users`"));
    }
}

/// Writes down the SCCP of points that have one.
pub(crate) fn complete(signalling: &mut Signalling<Written>) {
    let by_point = &ByPoint::new(signalling);
    let lacks: Vec<bool> = signalling
        .points
        .iter()
        .map(|(name, point)| point.sccp.is_none() && has_sccp(by_point, name, point))
        .collect();
    let places: Vec<Place> = signalling.points.iter().map(|(_, point)| point.place()).collect();
    for (((_, point), _), place) in
        signalling.points.iter_mut().zip(lacks).zip(places).filter(|((_, lacks), _)| *lacks)
    {
        let mut none = Faults::default();
        let sccp = Sccp::read(&std::collections::BTreeMap::new(), "sccp", place, &mut none);
        point.sccp = sccp.map(Nested);
    }
}

/// Called when translations are right.
pub(crate) fn check(signalling: &Signalling, by_point: &ByPoint<'_>, faults: &mut Faults) {
    for (name, named) in signalling.points.iter() {
        let (Some(Nested(table)), Ok(translator)) = (&named.sccp, translator(signalling, by_point, name))
        else {
            continue;
        };
        let before = faults.len();
        for error in table.timers().faults() {
            let of = |timer: &str| {
                let settings = table.timer_settings();
                settings.iter().find(|(own, _)| *own == timer).map(|(_, setting)| setting.place())
            };
            let (place, help) = match &error {
                TimerError::OutOfRange { timer, .. } => {
                    (of(timer), "the ranges are those of Q.714, annex C, table C.1")
                }
                TimerError::NotLonger { longer, .. } => (of(longer), "raise the first, or lower the second"),
            };
            let place = place.unwrap_or_else(|| named.place());
            faults.report(place, Fault::new(format!("`{name}`: {error}")).help(help));
        }
        if faults.len() > before {
            continue;
        }
        let Some(Some(config)) = resolved(sccp(signalling, by_point, name, translator), faults) else {
            continue;
        };
        if let Err(error) = slantpath_ss7::sccp::Node::new(config) {
            let (place, help) = match &error {
                slantpath_ss7::sccp::ConfigError::ReservedSubsystem(_) => {
                    (named.subsystems.place(), "6 is the HLR, 7 the VLR, 8 the MSC")
                }
                slantpath_ss7::sccp::ConfigError::TooFewOctets { point_code, .. } => {
                    let mut points = signalling.points.iter();
                    let far = points.find(|(_, far)| far.code.0 == *point_code);
                    let far = far.and_then(|(_, far)| Some(far.sccp.as_ref()?.longest_message.place()));
                    (far.unwrap_or_else(|| named.place()), "268 B is usual on links of 64 kbit/s")
                }
                _ => (named.place(), "see docs/models/sccp.md for what SCCP may be"),
            };
            faults.report(place, Fault::new(format!("`{name}`: {error}")).help(help));
        }
    }
}
