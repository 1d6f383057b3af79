//! `[sky]`: a topology that is there, nodes at its sites, a table for every link.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use slantpath_base::{DataSize, Duration};
use slantpath_orbit::constellation::IslPattern;
use slantpath_orbit::{ContactNetwork, Site};
use slantpath_reader::{Fault, Faults, Flat, Nested, Place, Setting, Tables, suggest};

use super::port::SkyPort;
use super::schema::{Standing, StandingAntenna, Waiting};
use super::tables::{access_table, isl_table};
use super::topology;
use super::{cables, repeaters, routes};
use crate::link::conditioning;
use crate::link::schema::{Family, nothing};
use crate::schema::Node;
use crate::written::{AccessTable, Flow, Link, SkyDirection, SkyTable};

/// Completes links and nodes under a sky whose topology is sound, and checks them.
pub(crate) fn check(
    sky: &mut SkyTable,
    network: &ContactNetwork,
    nodes: &mut Tables<Node>,
    links: &mut Tables<Link>,
    flows: &Tables<Flow>,
    faults: &mut Faults,
) {
    conditioners(sky, nodes, flows, faults);
    cables::expand(sky, nodes, links, network, faults);
    complete(sky, &repeaters::tables(sky, network), faults);
    let places: BTreeMap<String, Place> =
        nodes.iter().map(|(name, node)| (name.to_owned(), node.place())).collect();
    let given =
        nodes.iter().filter_map(|(_, node)| node.addresses.as_ref()).flat_map(|given| given.iter().copied());
    let of_links = links.iter().filter_map(|(_, link)| link.addresses.as_ref());
    let of_links = of_links.flat_map(|addresses| [addresses.0, addresses.1]);
    let mut pool = Pool { next: 0, taken: given.chain(of_links).collect() };
    let mut stands = BTreeMap::<String, String>::new();
    let sites = &network.sites;
    for (name, node) in nodes.iter_mut() {
        stand(name, node, places[name], sites, &mut stands, &mut pool, faults);
    }
    let antennas = nodes.iter().flat_map(|(_, node)| node.antennas.iter());
    let antennas = antennas.flat_map(|names| names.iter().map(|name| (name.as_str(), names.place())));
    let links: Vec<(&str, Place)> = links.iter().map(|(name, link)| (name, link.place())).collect();
    names(&places, &links, &antennas.collect::<Vec<_>>(), faults);
    if stands.is_empty() {
        let help = "let a node stand at one of its sites: `site = \"london\"` in `[nodes.<name>]`";
        faults.report(topology::place(sky), Fault::new("no node stands under the sky").help(help));
    }
    constellations(sky, network, faults);
    repeaters::check(sky, network, faults);
    let mut standing = Some(Vec::new());
    for (number, site) in sites.iter().enumerate() {
        let Some(name) = stands.get(&site.name) else { continue };
        let own = nodes.find(name).and_then(|node| standing_at(sky, (number, site), name, node));
        standing = standing.zip(own).map(|(mut standing, own)| {
            standing.push(own);
            standing
        });
        for antenna in 0..site.antennas.len() {
            let constellation = site.antennas[antenna].constellation.as_deref();
            let table = access_table(sky, &site.name, constellation);
            let table = table.and_then(|place| sky.access.iter().nth(place));
            if let Some((_, table)) = table {
                let node = nodes.find(name);
                mtu_fits(table, node.and_then(|node| node.addresses.as_ref()?.get(antenna).copied()), faults);
            } else if sky.access.all_whole() {
                let message = format!(
                    "no table says what the links of antenna {} of `{}` are like",
                    antenna + 1,
                    site.name
                );
                let help =
                    "write `[sky.access.default]` with `rate = \"2 Mbit/s\"`, or one that names its site";
                faults.report(topology::place(sky), Fault::new(message).help(help));
            }
        }
    }
    sky.stands.resolve(standing);
    isls(sky, network, faults);
    // In a millisecond a delay of a low orbit drifts by 50 ns.
    if let Some(interval) = &sky.recompute_every
        && **interval < Duration::from_millis(1)
    {
        let fault = Fault::new(format!("routes cannot be worked out every {}", **interval));
        faults.report(interval.place(), fault.help("write `\"1 ms\"` or more"));
    }
    routes::check(sky, nodes, flows, network, faults);
}

/// The node at a site with its antennas, if each has a table.
fn standing_at(sky: &SkyTable, (number, site): (usize, &Site), name: &str, node: &Node) -> Option<Standing> {
    let (names, addresses) = (node.antennas.as_ref()?, node.addresses.as_ref()?);
    let antennas = site.antennas.iter().zip(names.iter()).zip(addresses.iter());
    let antennas = antennas.map(|((antenna, name), &address)| {
        let table = access_table(sky, &site.name, antenna.constellation.as_deref())?;
        Some(StandingAntenna { name: name.clone(), address, table })
    });
    Some(Standing { site: number, node: name.to_owned(), antennas: antennas.collect::<Option<_>>()? })
}

/// Rules of conditioning name hosts and flows, wherever they stand.
fn conditioners(sky: &SkyTable, nodes: &Tables<Node>, flows: &Tables<Flow>, faults: &mut Faults) {
    let access = sky.access.iter().flat_map(|(_, table)| {
        [&table.both.0, &table.uplink.0, &table.downlink.0].map(|direction| (direction, *table.mtu))
    });
    let isls = sky.isls.iter().map(|(_, table)| (&table.both.0, *table.mtu));
    for (direction, mtu) in access.chain(isls) {
        conditioning::check(nodes, flows, direction.port.conditioners(), mtu, faults);
    }
}

/// Reports what has no meaning without a sky.
pub(crate) fn no_sky(nodes: &Tables<Node>, links: &Tables<Link>, faults: &mut Faults) {
    cables::without_a_sky(links, faults);
    for (name, node) in nodes.iter() {
        let given = node.site.as_ref().map(|site| ("site", site.place()));
        let given = given.or(node.antennas.as_ref().map(|antennas| ("antennas", antennas.place())));
        let given = given.or(node.addresses.as_ref().map(|own| ("addresses", own.place())));
        if let Some((key, place)) = given.or(node.balance.map(|own| ("balance", own.place()))) {
            let fault = Fault::new(format!("`{key}` of node `{name}` has no meaning without a sky"));
            faults.report(place, fault.help("write `[sky]` with `topology = \"sky.toml\"`"));
        }
    }
}

/// Writes down what every direction is like. `repeat` are the tables of satellites that only repeat.
fn complete(sky: &mut SkyTable, repeat: &BTreeSet<usize>, faults: &mut Faults) {
    let places: BTreeMap<String, Place> =
        sky.access.iter().map(|(name, table)| (name.to_owned(), table.place())).collect();
    for (index, (name, table)) in sky.access.iter_mut().enumerate() {
        let (place, repeats) = (places[name], repeat.contains(&index));
        if repeats {
            repeaters::no_transmitter(&table.downlink, place, faults);
        }
        let both = core::mem::replace(&mut table.both.0, Flat(nothing(place))).0;
        for direction in [&both, &table.downlink] {
            not_on_demand(direction, faults);
        }
        for (direction, own) in [("uplink", &mut table.uplink), ("downlink", &mut table.downlink)] {
            *own = Nested(completed(&own.0, &both, place));
            if repeats && direction == "downlink" {
                repeaters::without_transmitter(&mut own.0);
                own.channel.check(faults);
                continue;
            }
            values(own, *table.mtu, &format!("sky.access.{name}"), direction, place, faults);
        }
        mtu(&table.mtu, faults);
        if *table.shared_downlink
            && let Some(discipline) =
                table.downlink.port.transmitter().and_then(|port| port.discipline.as_ref())
            && !discipline.0.is_settled_on_arrival()
        {
            let fault = Fault::new("a transmitter that antennas share sends in the order of arrival");
            let help = "write `shared_downlink = false`, or a discipline of kind `red`, `wred` or `rio-c`";
            faults.report(table.shared_downlink.place(), fault.help(help));
        }
        if *table.shared_downlink
            && let Some(arq) = &table.downlink.channel.arq
        {
            let fault = Fault::new("a transmitter that antennas share repeats nothing");
            faults.report(arq.0.tries.place(), fault.help("write `shared_downlink = false`"));
        }
        if *table.shared_downlink
            && let Some(compression) = &table.downlink.channel.header_compression
        {
            let fault = Fault::new("a transmitter that antennas share compresses no headers");
            let help = "write `shared_downlink = false`, or `uplink.header_compression` alone";
            faults.report(compression.0.compressed.place(), fault.help(help));
        }
    }
    let places: BTreeMap<String, Place> =
        sky.isls.iter().map(|(name, table)| (name.to_owned(), table.place())).collect();
    for (name, table) in sky.isls.iter_mut() {
        let place = places[name];
        not_on_demand(&table.both.0, faults);
        table.both = Flat(completed(&table.both.0, &nothing(place), place));
        values(&table.both.0, *table.mtu, &format!("sky.isls.{name}"), "", place, faults);
        mtu(&table.mtu, faults);
    }
}

/// Reports capacity on demand where no terminal asks for it.
fn not_on_demand(direction: &SkyDirection, faults: &mut Faults) {
    let Some(access) = &direction.access else { return };
    let fault = Fault::new("antennas ask for capacity, and satellites do not");
    let help = "write it as `uplink.access` into a table `[sky.access.<name>]`";
    faults.report(access.0.system.place(), fault.help(help));
}

fn completed(own: &SkyDirection, both: &SkyDirection, place: Place) -> SkyDirection {
    SkyDirection {
        rate: own.rate.or(both.rate.filter(|_| own.access.is_none())),
        access: own.access.clone(),
        port: Flat(match (&own.port.0, &both.port.0) {
            (SkyPort::Sends(own), SkyPort::Sends(both)) => SkyPort::Sends(own.completed(both, place)),
            _ => own.port.0.clone(),
        }),
        channel: Flat(own.channel.completed(&both.channel, place)),
        at_handover: own.at_handover.or(both.at_handover).or(Setting::default(Waiting::Kept, place).into()),
    }
}

fn values(
    direction: &SkyDirection,
    mtu: DataSize,
    table: &str,
    name: &str,
    place: Place,
    faults: &mut Faults,
) {
    if direction.rate.is_none() && direction.access.is_none() {
        let of = if name.is_empty() { String::new() } else { format!(" for its {name}") };
        let fault = Fault::new(format!("`{table}` has no rate{of}"));
        faults.report(place, fault.help("write `rate = \"2 Mbit/s\"`, with the value you mean"));
    }
    let cure = "for a time without a link, write an outage into the topology";
    if let Some(port) = direction.port.transmitter() {
        port.check(direction.rate, mtu, cure, faults);
    }
    direction.channel.check(faults);
}

fn mtu(mtu: &Setting<DataSize>, faults: &mut Faults) {
    let (least, most) = (DataSize::from_bytes(68), DataSize::from_bytes(65_535));
    slantpath_profiles::fault::within("mtu", mtu, least, most, faults);
}

/// An antenna whose address is of IPv6 needs links that IPv6 may use.
fn mtu_fits(table: &AccessTable, address: Option<IpAddr>, faults: &mut Faults) {
    // What is too small for IPv4 is too small for all.
    let Some(least) = address.filter(IpAddr::is_ipv6).map(|address| Family::of(address).least_mtu()) else {
        return;
    };
    if *table.mtu < least {
        let message = format!("an MTU of {} is too small for an antenna with an address of IPv6", *table.mtu);
        let help =
            format!("let it be {} bytes at least, or give the antenna an address of IPv4", least.as_bytes());
        faults.report(table.mtu.place(), Fault::new(message).help(help));
    }
}

/// Links and antennas have names of their own, and none has one that a part of the sky may have.
fn names(
    nodes: &BTreeMap<String, Place>,
    links: &[(&str, Place)],
    antennas: &[(&str, Place)],
    faults: &mut Faults,
) {
    let of_sky = |name: &str| name == "sky" || name.starts_with("sky.") || name.starts_with("sky/");
    let nodes = nodes.iter().map(|(name, &place)| (name.as_str(), place));
    for (name, place) in nodes.chain(links.iter().copied()).filter(|(name, _)| of_sky(name)) {
        let fault = Fault::new(format!("`{name}` is called as parts of the sky are"));
        faults.report(place, fault.help("give it a name that does not begin with `sky`"));
    }
    let mut known: BTreeSet<&str> = links.iter().map(|&(name, _)| name).collect();
    for &(name, place) in antennas {
        if !known.insert(name) {
            let fault = Fault::new(format!("another link or antenna is called `{name}`, too"));
            faults.report(place, fault.help("give each antenna of each node a name of its own"));
        }
    }
}

/// Addresses for antennas to which nobody has given one: of the shared address space (RFC 6598), which links' own are
/// not taken from.
struct Pool {
    next: u32,
    taken: BTreeSet<IpAddr>,
}

impl Pool {
    const FIRST: Ipv4Addr = Ipv4Addr::new(100, 64, 0, 0);

    fn next(&mut self) -> IpAddr {
        loop {
            self.next += 1;
            let address = IpAddr::from(Ipv4Addr::from_bits(Self::FIRST.to_bits() | self.next << 2 | 1));
            if !self.taken.contains(&address) {
                return address;
            }
        }
    }
}

/// Puts a node at its site: names and addresses of its antennas.
fn stand(
    name: &str,
    node: &mut Node,
    place: Place,
    sites: &[Site],
    stands: &mut BTreeMap<String, String>,
    pool: &mut Pool,
    faults: &mut Faults,
) {
    let Some(site) = &node.site else {
        let given = node.antennas.as_ref().map(|antennas| ("antennas", antennas.place()));
        let given = given.or(node.addresses.as_ref().map(|own| ("addresses", own.place())));
        if let Some((key, at)) = given.or(node.balance.map(|own| ("balance", own.place()))) {
            let fault = Fault::new(format!("`{key}` of node `{name}` has no meaning without a site"));
            faults.report(at, fault.help("write `site = \"london\"`, with a site of the topology"));
        }
        return;
    };
    let Some(found) = sites.iter().find(|known| known.name == **site) else {
        let known: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
        let help = suggest(site, "sites of the topology", &known);
        faults.report(site.place(), Fault::new(format!("there is no site `{}`", **site)).help(help));
        return;
    };
    if let Some(other) = stands.insert(found.name.clone(), name.to_owned()) {
        let fault = Fault::new(format!("`{other}` and `{name}` both stand at site `{}`", found.name));
        let help = "a site's antennas are one node's: let it be a router, and join the others to it by links";
        faults.report(site.place(), fault.help(help));
        return;
    }
    let count = found.antennas.len();
    let derived: Vec<String> = match count {
        1 => vec![format!("sky.{}", found.name)],
        _ => (1..=count).map(|antenna| format!("sky.{}.{antenna}", found.name)).collect(),
    };
    let names = node.antennas.get_or_insert_with(|| Setting::derived(derived, "after the site", place));
    if names.len() != count {
        let message =
            format!("site `{}` has {count} antennas, which {} names cannot name", found.name, names.len());
        faults.report(names.place(), Fault::new(message).help("give each antenna one name, in their order"));
    }
    let assigned =
        || Setting::derived((0..count).map(|_| pool.next()).collect::<Vec<IpAddr>>(), "assigned", place);
    let addresses = node.addresses.get_or_insert_with(assigned);
    if addresses.len() != count {
        let message = format!(
            "site `{}` has {count} antennas, and {} addresses are given",
            found.name,
            addresses.len()
        );
        faults.report(addresses.place(), Fault::new(message).help("give each antenna one address"));
    }
}

/// Tables that name constellations and sites name those of the topology.
fn constellations(sky: &SkyTable, network: &ContactNetwork, faults: &mut Faults) {
    let known: Vec<&str> = network.constellations.iter().map(|known| known.name.as_str()).collect();
    let sites: Vec<&str> = network.sites.iter().map(|site| site.name.as_str()).collect();
    let named = sky.access.iter().filter_map(|(_, table)| table.constellation.as_ref());
    for constellation in named.chain(sky.isls.iter().filter_map(|(_, table)| table.constellation.as_ref())) {
        if !known.contains(&constellation.as_str()) {
            let help = suggest(constellation, "constellations of the topology", &known);
            let fault = Fault::new(format!("there is no constellation `{}`", **constellation));
            faults.report(constellation.place(), fault.help(help));
        }
    }
    for named in sky.access.iter().filter_map(|(_, table)| table.sites.as_ref()) {
        for site in named.iter().filter(|site| !sites.contains(&site.as_str())) {
            let help = suggest(site, "sites of the topology", &sites);
            faults.report(named.place(), Fault::new(format!("there is no site `{site}`")).help(help));
        }
    }
}

/// Every constellation with links between its satellites has a table for them.
fn isls(sky: &SkyTable, network: &ContactNetwork, faults: &mut Faults) {
    for constellation in &network.constellations {
        let has_links = constellation.isl.pattern != IslPattern::None;
        if has_links && isl_table(sky, &constellation.name).is_none() && sky.isls.all_whole() {
            let message = format!(
                "no table says what the links between satellites of `{}` are like",
                constellation.name
            );
            let help =
                "write `[sky.isls.default]` with `rate = \"25 Mbit/s\"`, or one that names the constellation";
            faults.report(topology::place(sky), Fault::new(message).help(help));
        }
    }
}
