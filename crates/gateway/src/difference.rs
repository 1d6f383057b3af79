//! Differences of two configurations of an entity, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_signalling::network::{self, LinkCarrier, NetworkConfig, PointId, SignallingEntity};
use slantpath_signalling::{Gate, RateLimit, ScreeningRule};
use slantpath_ss7::sccp::NodeConfig;

use crate::association::SeatAssociation;

/// Names what is added, removed and changed, each kind in one piece.
pub(crate) fn difference(
    (before, old, old_associations): &(&NetworkConfig, SignallingEntity, Vec<SeatAssociation>),
    (after, new, associations): &(&NetworkConfig, SignallingEntity, &Vec<SeatAssociation>),
) -> Vec<String> {
    let mut words = Vec::new();
    compare(
        "association",
        old_associations.iter().map(|own| (own.name.clone(), own)),
        associations.iter().map(|own| (own.name.clone(), own)),
        |one, other| one.goes_on_as(other),
        &mut words,
    );
    let addresses = |own: &[SeatAssociation]| -> BTreeSet<IpAddr> {
        own.iter().flat_map(|own| own.port.local_addresses.clone()).collect()
    };
    let (known, next) = (addresses(old_associations), addresses(associations));
    words.extend(next.difference(&known).map(|own| format!("own address {own} added")));
    words.extend(known.difference(&next).map(|own| format!("own address {own} removed")));
    if let (SignallingEntity::Point(old), SignallingEntity::Point(new)) = (old, new) {
        compare("link", links(before, *old), links(after, *new), |one, other| one == other, &mut words);
        let (old, new) = (&before.points[old.0], &after.points[new.0]);
        let routes = |config: &slantpath_ss7::mtp3::node::Config| {
            let of = config.destinations.iter();
            of.map(|to| (to.point_code.0.to_string(), to.routes.clone())).collect::<Vec<_>>()
        };
        compare("destination", routes(&old.mtp3), routes(&new.mtp3), |one, other| one == other, &mut words);
        compare_titles(old.sccp.as_ref(), new.sccp.as_ref(), &mut words);
        compare_screening(old, new, &mut words);
        let is_other = old.mtp3.timers != new.mtp3.timers || old.mtp3.held_limit != new.mtp3.held_limit;
        words.extend(is_other.then(|| "settings of MTP3 changed".to_owned()));
    }
    let servers = |network: &NetworkConfig| {
        let all = network.m3ua.servers.iter();
        all.map(|server| (server.routing_context.to_string(), server.clone())).collect::<Vec<_>>()
    };
    let is_same = |one: &network::ServerConfig, other: &network::ServerConfig| {
        let names = |network: &NetworkConfig, server: &network::ServerConfig| {
            let asps = server.asps.iter().map(|asp| network.m3ua.asps[asp.0].name.clone());
            (network.m3ua.points[server.point.0].code, asps.collect::<Vec<_>>())
        };
        names(before, one) == names(after, other)
            && (&one.name, &one.opcs, &one.services, one.traffic_mode, one.needed_active)
                == (&other.name, &other.opcs, &other.services, other.traffic_mode, other.needed_active)
    };
    compare("application server of context", servers(before), servers(after), is_same, &mut words);
    words
}

/// Links of a point by their names, each with all that has it go and come anew.
fn links(network: &NetworkConfig, id: PointId) -> Vec<(String, impl PartialEq)> {
    let of_sets = network.points[id.0].mtp3.link_sets.iter().flat_map(|set| &set.links);
    let own = of_sets.zip(network.links_at(id)).map(|(link, (number, _))| {
        let m2pa = match &network.links[number.0].carrier {
            LinkCarrier::Association(m2pa) => Some(m2pa.clone()),
            LinkCarrier::Line(_) => None,
        };
        (link.name.clone(), (link.clone(), m2pa))
    });
    own.collect()
}

/// Rules and rates of screening by their names.
fn compare_screening(before: &network::PointConfig, after: &network::PointConfig, words: &mut Vec<String>) {
    // A link set is known by its name: another one before it changes its number.
    let gate = |point: &network::PointConfig, gate: &Gate| match gate {
        Gate::LinkSet(id) => Err(point.mtp3.link_sets.get(usize::from(id.0)).map(|set| set.name.clone())),
        Gate::Server(routing_context) => Ok(*routing_context),
    };
    let rules = |point: &network::PointConfig| {
        let named = |rule: &ScreeningRule| {
            let mut own = rule.clone();
            let arrivals = std::mem::take(&mut own.criteria.arrivals);
            (own.name.clone(), (own, arrivals.iter().map(|from| gate(point, from)).collect::<Vec<_>>()))
        };
        point.screening.rules.iter().map(named).collect::<Vec<_>>()
    };
    compare("screening rule", rules(before), rules(after), |one, other| one == other, words);
    let rates = |point: &network::PointConfig| {
        let named = |rate: &RateLimit| {
            let mut own = rate.clone();
            let gates = std::mem::take(&mut own.criteria.arrivals).into_iter().chain(own.towards.take());
            (own.name.clone(), (own, gates.map(|at| gate(point, &at)).collect::<Vec<_>>()))
        };
        point.screening.rates.iter().map(named).collect::<Vec<_>>()
    };
    compare("rate", rates(before), rates(after), |one, other| one == other, words);
}

/// Title rules by their names.
fn compare_titles(before: Option<&NodeConfig>, after: Option<&NodeConfig>, words: &mut Vec<String>) {
    let rules = |config: Option<&NodeConfig>| {
        let rules = config.map(|config| config.translator.rules().to_vec()).unwrap_or_default();
        rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect::<Vec<_>>()
    };
    compare("translation", rules(before), rules(after), |one, other| one == other, words);
}

/// At most so many names of a kind are told.
const NAMES_MAX: usize = 8;

fn compare<T>(
    kind: &str,
    before: impl IntoIterator<Item = (String, T)>,
    after: impl IntoIterator<Item = (String, T)>,
    is_same: impl Fn(&T, &T) -> bool,
    words: &mut Vec<String>,
) {
    let mut known: BTreeMap<String, T> = before.into_iter().collect();
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for (name, own) in after {
        match known.remove(&name) {
            None => added.push(name),
            Some(before) if !is_same(&before, &own) => changed.push(name),
            Some(_) => {}
        }
    }
    let removed: Vec<String> = known.into_keys().collect();
    for (names, verb) in [(added, "added"), (changed, "changed"), (removed, "removed")] {
        if names.is_empty() {
            continue;
        }
        let more = names.len().saturating_sub(NAMES_MAX);
        let told = names[..names.len() - more].join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        words.push(format!("{kind} {told}{more} {verb}"));
    }
}

#[cfg(test)]
mod tests {
    use slantpath_applications::ProgramConfig;
    use slantpath_base::Duration;
    use slantpath_host::Peer;
    use slantpath_signalling::network::{AdaptationId, AspId, Carried, ServedPointId, ServerRegistration};
    use slantpath_signalling::{ScreeningAction, ScreeningConfig, ScreeningCriteria};
    use slantpath_sigtran::asp::{ProcessConfig, TrafficMode};
    use slantpath_ss7::PointCode;
    use slantpath_ss7::mtp3::node::{self, LinkSetConfig, LinkSetId, Mtp3Timer};

    use super::*;

    /// A point with these link sets, a rule for what comes by one of them, and a rate for what leaves by it.
    fn point(link_sets: &[&str], by: u16) -> network::PointConfig {
        let mut mtp3 = node::Config::new("own", PointCode(1));
        let named = |name: &&str| LinkSetConfig {
            name: (*name).to_owned(),
            adjacent: PointCode(2),
            links: Vec::new(),
        };
        mtp3.link_sets = link_sets.iter().map(named).collect();
        let gate = Gate::LinkSet(LinkSetId(by));
        let rule = ScreeningRule {
            name: "inner".to_owned(),
            criteria: ScreeningCriteria { arrivals: vec![gate], ..ScreeningCriteria::default() },
            action: ScreeningAction::Discard,
            copies: false,
        };
        let criteria = ScreeningCriteria::default();
        let towards = Some(gate);
        let (messages_per_second, burst) = (100, 10);
        let rate = RateLimit { name: "outer".to_owned(), criteria, towards, messages_per_second, burst };
        let screening = ScreeningConfig { rules: vec![rule], rates: vec![rate] };
        network::PointConfig { mtp3, sccp: None, processor: None, screening }
    }

    #[test]
    fn screening_is_the_same_by_another_number_of_its_link_set_and_another_by_its_own() {
        let told = |after: &network::PointConfig| {
            let mut words = Vec::new();
            compare_screening(&point(&["boston", "rome"], 0), after, &mut words);
            words
        };
        assert_eq!(told(&point(&["athens", "boston", "rome"], 1)), [""; 0]);
        assert_eq!(
            told(&point(&["boston", "rome"], 1)),
            ["screening rule inner changed", "rate outer changed"]
        );
        let mut without = point(&["boston", "rome"], 0);
        without.screening.rules.clear();
        without.screening.rates[0].burst = 11;
        assert_eq!(told(&without), ["screening rule inner removed", "rate outer changed"]);
    }

    fn told(before: &NetworkConfig, after: &NetworkConfig, addresses: [&[IpAddr]; 2]) -> Vec<String> {
        let occupant = SignallingEntity::Point(PointId(0));
        let [old, new] = addresses.map(|own| vec![association(own)]);
        difference(&(before, occupant, old), &(after, occupant, &new))
    }

    /// An association at these addresses, which calls its peer from each of them.
    fn association(local_addresses: &[IpAddr]) -> SeatAssociation {
        let port = ProgramConfig {
            sctp: Box::default(),
            local_addresses: local_addresses.to_vec(),
            local_port: 2_905,
            peer: Some(Peer { addresses: vec![[192, 0, 2, 9].into()], port: 2_905 }),
        };
        SeatAssociation {
            name: "first".to_owned(),
            carried: Carried::Adaptation(AdaptationId(0)),
            port,
            opens: true,
            reopen_after: Duration::from_secs(1),
        }
    }

    fn network_of(point: network::PointConfig) -> NetworkConfig {
        NetworkConfig { points: vec![point], ..NetworkConfig::default() }
    }

    #[test]
    fn settings_of_mtp3_and_own_addresses_are_told() {
        let [first, second]: [IpAddr; 2] = [1, 2].map(|host| [192, 0, 2, host].into());
        let before = network_of(point(&["boston"], 0));
        assert_eq!(told(&before, &before, [&[first]; 2]), [""; 0]);
        let mut held = before.clone();
        held.points[0].mtp3.held_limit += 1;
        assert_eq!(told(&before, &held, [&[first]; 2]), ["settings of MTP3 changed"]);
        let mut slow = before.clone();
        let timers = before.points[0].mtp3.timers.clone().with(Mtp3Timer::T2, Duration::from_millis(1_500));
        slow.points[0].mtp3.timers = timers;
        assert_eq!(told(&before, &slow, [&[first]; 2]), ["settings of MTP3 changed"]);
        assert_eq!(told(&before, &before, [&[first], &[first, second]]), ["own address 192.0.2.2 added"]);
        assert_eq!(told(&before, &before, [&[first, second], &[second]]), ["own address 192.0.2.1 removed"]);
    }

    #[test]
    fn an_application_server_with_other_processes_is_changed() {
        let asp = |name: &str| network::AspConfig {
            name: name.to_owned(),
            process: ProcessConfig::default(),
            audit: Duration::from_secs(30),
        };
        let served = network::ServedPointConfig { name: "users".to_owned(), code: PointCode(9), sccp: None };
        let server = network::ServerConfig {
            name: "register".to_owned(),
            routing_context: 7,
            network_appearance: None,
            point: ServedPointId(0),
            opcs: Vec::new(),
            services: Vec::new(),
            traffic_mode: TrafficMode::Override,
            needed_active: 1,
            asps: vec![AspId(0)],
            registration: ServerRegistration::Static,
        };
        let mut before = network_of(point(&["boston"], 0));
        before.m3ua.asps = vec![asp("one"), asp("two")];
        before.m3ua.points = vec![served];
        before.m3ua.servers = vec![server];
        // Numbers follow the order of names: the same process may have another one.
        let address: [IpAddr; 1] = [[192, 0, 2, 1].into()];
        let own = [&address[..]; 2];
        let mut same = before.clone();
        same.m3ua.asps.insert(0, asp("none"));
        same.m3ua.servers[0].asps = vec![AspId(1)];
        assert_eq!(told(&before, &same, own), [""; 0]);
        let mut other = before.clone();
        other.m3ua.servers[0].asps = vec![AspId(1)];
        assert_eq!(told(&before, &other, own), ["application server of context 7 changed"]);
    }

    #[test]
    fn eight_names_of_a_kind_are_told_and_the_rest_is_counted() {
        let told = |count: usize| {
            let mut words = Vec::new();
            let names = (1..=count).map(|number| (number.to_string(), ()));
            compare("link", [], names, |(), ()| true, &mut words);
            words
        };
        assert_eq!(told(8), ["link 1, 2, 3, 4, 5, 6, 7, 8 added"]);
        assert_eq!(told(10), ["link 1, 2, 3, 4, 5, 6, 7, 8 and 2 more added"]);
    }
}
