//! MTP3 and SCCP of a point, once all names are resolved.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, LinkSetConfig, Mtp3LinkId, SequenceNumbers};
use slantpath_ss7::mtp3::{ServiceIndicator, Slc};
use slantpath_ss7::sccp::gtt::Translator;
use slantpath_ss7::sccp::{self, Ssn, Subsystem};

use crate::by_point::ByPoint;
use crate::names::{Unresolved, code, known};
use crate::route::build::{NoTranslator, translator};
use crate::schema::{self, Point, Signalling};

/// MTP3 of a point, with link sets named by the adjacent points.
pub(crate) fn mtp3(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    name: &str,
    point: &Point,
) -> Result<node::Config, Unresolved> {
    let mut config = node::Config::new(name, point.code.0);
    config.format = point.format.policy();
    config.network = point.network.policy();
    config.function = point.function.policy();
    config.restart = match *point.restart {
        schema::Restart::Omitted => node::Procedure::Omitted,
        schema::Restart::Used => node::Procedure::Used,
    };
    if point.periodic_link_test.as_deref() == Some(&schema::PeriodicLinkTest::Omitted) {
        config.periodic_link_test = node::Procedure::Omitted;
    }
    config.congestion = match *point.congestion {
        schema::Congestion::International => node::CongestionMethod::International,
        schema::Congestion::National => node::CongestionMethod::National,
    };
    config.transfer_restricted = match *point.transfer_restricted {
        schema::TransferRestricted::Omitted => node::Procedure::Omitted,
        schema::TransferRestricted::Used => node::Procedure::Used,
    };
    config.sharing_bit = *point.sharing_bit;
    config.spread = match point.spread.as_ref().map(|spread| **spread) {
        Some(schema::Spread::LinkCode) => node::Spread::LinkCode,
        Some(schema::Spread::LinkSelection) | None => node::Spread::Selection,
    };
    config.held_limit = usize::try_from(*point.held_limit).unwrap_or(usize::MAX);
    config.timers = point.timers.timers();
    config.users = point.users.iter().filter_map(|user| ServiceIndicator::new(*user)).collect();
    for (adjacent, links) in by_point.link_sets(name) {
        let link = |name: &str| {
            let link = known(signalling.links.find(name), name)?;
            let sequence = match *link.carrier {
                schema::Carrier::M2pa(_) => SequenceNumbers::Bits24,
                schema::Carrier::Mtp2(_) => SequenceNumbers::Bits7,
            };
            let slc = Slc(*link.slc);
            Ok(node::LinkConfig { name: name.to_owned(), slc, sequence })
        };
        config.link_sets.push(LinkSetConfig {
            name: adjacent.to_owned(),
            adjacent: code(signalling, adjacent)?,
            links: links.iter().copied().map(link).collect::<Result<_, _>>()?,
        });
    }
    let own = by_point.links(name).iter().map(|(_, link)| *link);
    let is_backup = |link: &str| signalling.links.find(link).is_some_and(|link| *link.backup);
    config.backups = own.zip(0..).filter(|(link, _)| is_backup(link)).map(|(_, id)| Mtp3LinkId(id)).collect();
    let mut destinations: BTreeMap<&str, Vec<node::RouteConfig>> = BTreeMap::new();
    for route in by_point.routes(name) {
        let config = node::RouteConfig { link_set: (*route.via).clone(), priority: *route.priority };
        destinations.entry(&route.to).or_default().push(config);
    }
    let destination =
        |(to, routes)| Ok(node::DestinationConfig { point_code: code(signalling, to)?, routes });
    config.destinations = destinations.into_iter().map(destination).collect::<Result<_, _>>()?;
    let served: BTreeSet<PointCode> =
        by_point.behind(name).map(|point| code(signalling, point)).collect::<Result<_, _>>()?;
    config.served = served.into_iter().collect();
    Ok(config)
}

/// SCCP of a point, if it has one.
pub(crate) fn sccp(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    name: &str,
    translator: Translator,
) -> Result<Option<sccp::NodeConfig>, Unresolved> {
    let point = known(signalling.points.find(name), name)?;
    let Some(table) = &point.sccp else { return Ok(None) };
    let mut config = sccp::NodeConfig::new(point.code.0, point.network.policy());
    config.timers = table.timers();
    config.reassembly = table.reassembly_limits();
    let concerned = table.concerned.iter().map(|name| code(signalling, name));
    let concerned: BTreeSet<PointCode> = concerned.collect::<Result<_, _>>()?;
    let backup = table.backup.as_ref().map(|name| code(signalling, name)).transpose()?;
    let subsystem = || Subsystem { concerned: concerned.clone(), backup };
    config.subsystems = point.subsystems.iter().map(|ssn| (Ssn(*ssn), subsystem())).collect();
    let rules = by_point.translations(name).iter();
    let known = rules.flat_map(|(_, rule)| rule.to.iter()).chain(table.concerned.iter());
    for far in known.chain(table.backup.as_deref()).filter(|far| *far != name) {
        let capability = signalling.points.find(far).and_then(|far| far.sccp.as_ref());
        let capability = capability.map(|far| far.capability()).unwrap_or_default();
        let remote = config.remotes.entry(code(signalling, far)?).or_default();
        remote.capability = capability;
        if table.backup.as_ref().is_some_and(|backup| **backup == *far) {
            remote.subsystems.extend(config.subsystems.keys());
        }
    }
    config.translator = translator;
    Ok(Some(config))
}

/// SCCP of the point of that name, if it has one, once translations are right.
pub(crate) fn sccp_of(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    name: &str,
) -> Result<Option<sccp::NodeConfig>, Unresolved> {
    let translator = translator(signalling, by_point, name).map_err(|error| match error {
        NoTranslator::Contradictory(_) => Unresolved(name.to_owned()),
        NoTranslator::Unresolved(unresolved) => unresolved,
    });
    sccp(signalling, by_point, name, translator?)
}
