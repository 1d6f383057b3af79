//! Links: values in place, ends that exist, addresses without clash.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slantpath_base::{DataSize, Duration, Probability};
use slantpath_net::WhileDown;
use slantpath_reader::{Awaited, Fault, Faults, Flat, Nested, Pair, Place, Setting, Tables};

use crate::link::conditioning;
use crate::link::schema::{Family, WhileDownChoice, nothing};
use crate::schema::Node;
use crate::written::{Flow, Link, LinkParameters};
use slantpath_reader::resolve;

/// The largest packet that the simulator carries: IPv4's total length and one more.
const LARGEST_MTU: DataSize = DataSize::from_bytes(65_535);

/// Tells whether every link joins two nodes.
pub(crate) fn check(
    links: &mut Tables<Link>,
    nodes: &Tables<Node>,
    flows: &Tables<Flow>,
    faults: &mut Faults,
) -> bool {
    let places: BTreeMap<String, Place> =
        links.iter().map(|(name, link)| (name.to_owned(), link.place())).collect();
    let faults_before = faults.len();
    for (name, link) in links.iter() {
        ends(nodes, name, link, faults);
    }
    let joined = faults.len() == faults_before;
    for (name, link) in links.iter_mut() {
        let place = places[name];
        complete(name, link, place, faults);
        for parameters in [&link.forward, &link.reverse] {
            values(parameters, *link.mtu, faults);
        }
        family(link, place, faults);
    }
    for (_, link) in links.iter() {
        for parameters in [&link.forward, &link.reverse] {
            conditioning::check(nodes, flows, &parameters.port.conditioners, *link.mtu, faults);
        }
    }
    assign_addresses(links, nodes, &places, faults);
    joined
}

fn ends(nodes: &Tables<Node>, name: &str, link: &Link, faults: &mut Faults) {
    let Pair(first, second) = &*link.ends;
    let place = link.ends.place();
    resolve(nodes, first, "node", place, faults);
    if first == second {
        let message = format!("both ends of link `{name}` are `{first}`");
        faults.report(place, Fault::new(message).help("a link joins two different nodes"));
    } else {
        resolve(nodes, second, "node", place, faults);
    }
}

/// Takes for each direction what it says itself, or what the link says for both, or the default.
fn complete(name: &str, link: &mut Link, place: Place, faults: &mut Faults) {
    let both = core::mem::replace(&mut link.both.0, Flat(nothing(place))).0;
    for parameters in [&both, &link.forward, &link.reverse] {
        one_delay(parameters, faults);
        if let (Some(rate), Some(_)) = (parameters.rate, &parameters.access) {
            let fault = Fault::new("`rate` and `access` are both given");
            faults.report(rate.place(), fault.help("what it sends follows from its slots: leave `rate` out"));
        }
    }
    let never = Setting::default(Probability::NEVER, place).into();
    let no_time = Setting::default(Duration::ZERO, place).into();
    let dropped = Setting::default(WhileDownChoice::of(WhileDown::Drop), place).into();
    let direction = |own: &LinkParameters| LinkParameters {
        rate: own.rate.or(both.rate.filter(|_| own.access.is_none())),
        access: match own.rate {
            Some(_) => None,
            None => own.access.clone().or_else(|| both.access.clone()),
        },
        delay: own.delay.or(both.delay.filter(|_| own.delay_trace.is_none())),
        delay_trace: match own.delay {
            Some(_) => None,
            None => own.delay_trace.clone().or_else(|| both.delay_trace.clone()),
        },
        port: Flat(own.port.completed(&both.port, place)),
        shaper: own.shaper.clone().or_else(|| both.shaper.clone()),
        channel: Flat(own.channel.completed(&both.channel, place)),
        fade_trace: own.fade_trace.clone().or_else(|| both.fade_trace.clone()),
        duplicate: own.duplicate.or(both.duplicate).or(never),
        reorder: own.reorder.or(both.reorder).or(never),
        reorder_delay: own.reorder_delay.or(both.reorder_delay).or(no_time),
        while_down: own.while_down.or(both.while_down).or(dropped),
        propagation: Awaited::open(),
    };
    link.forward = Nested(direction(&link.forward));
    link.reverse = Nested(direction(&link.reverse));
    let mut lacks = |key: &str, example: &str, forward: bool, reverse: bool| {
        let of = match (forward, reverse) {
            (true, true) => return,
            (false, false) => "",
            (false, true) => ".forward",
            (true, false) => ".reverse",
        };
        let fault = Fault::new(format!("`links.{name}{of}` lacks `{key}`"))
            .help(format!("write `{key} = \"{example}\"`, with the value you mean"));
        faults.report(place, fault);
    };
    let has_rate = |parameters: &LinkParameters| parameters.rate.is_some() || parameters.access.is_some();
    lacks("rate", "1.536 Mbit/s", has_rate(&link.forward), has_rate(&link.reverse));
    let has_delay =
        |parameters: &LinkParameters| parameters.delay.is_some() || parameters.delay_trace.is_some();
    // What is wrong with a cable, of which the topology says the delay, has been said.
    let is_cable = link.cable.is_some_and(|cable| *cable);
    lacks("delay", "250 ms", is_cable || has_delay(&link.forward), is_cable || has_delay(&link.reverse));
}

fn one_delay(parameters: &LinkParameters, faults: &mut Faults) {
    if let (Some(delay), Some(_)) = (parameters.delay, &parameters.delay_trace) {
        let help = "a delay is constant or follows a file: leave one of them out";
        faults.report(delay.place(), Fault::new("`delay` and `delay_trace` are both given").help(help));
    }
}

fn values(parameters: &LinkParameters, mtu: DataSize, faults: &mut Faults) {
    let LinkParameters { rate, port, channel, .. } = parameters;
    let cure = "for a link that carries nothing, write an event of `[[script]]` with `action = \"down\"`";
    port.check(*rate, mtu, cure, faults);
    channel.check(faults);
    for feature in channel.keeping_order() {
        keeps_order(feature, parameters, faults);
    }
    if let Some(shaper) = &parameters.shaper {
        shaper.0.check(mtu, *rate, faults);
        for feature in channel.keeping_order() {
            shaper.0.not_with(feature, faults);
        }
    }
    if let (Some(reorder), Some(delay)) = (*parameters.reorder, *parameters.reorder_delay)
        && !reorder.is_never()
        && delay.is_zero()
    {
        let message = "packets that are held back for no time are not reordered";
        faults.report(reorder.place(), Fault::new(message).help("write `reorder_delay = \"20 ms\"`"));
    }
}

/// A link that repeats packets or compresses headers, as `feature` says, numbers them: none is doubled, and none
/// overtakes by chance.
fn keeps_order(feature: &str, parameters: &LinkParameters, faults: &mut Faults) {
    for (key, chance) in [("duplicate", *parameters.duplicate), ("reorder", *parameters.reorder)] {
        if let Some(chance) = chance.filter(|chance| !chance.is_never()) {
            let fault = Fault::new(format!("`{key}` has no meaning on a link with `{feature}`"));
            let help = "such a link numbers its packets: leave one of them out";
            faults.report(chance.place(), fault.help(help));
        }
    }
}

fn family(link: &mut Link, place: Place, faults: &mut Faults) {
    let of_addresses = link.addresses.as_ref().map(|addresses| {
        let Pair(first, second) = **addresses;
        if Family::of(first) != Family::of(second) {
            let message = format!("`{first}` and `{second}` are of two families");
            let help = "both ends of a link speak IPv4, or both IPv6";
            faults.report(addresses.place(), Fault::new(message).help(help));
        }
        Family::of(first)
    });
    let family = match (*link.family, of_addresses) {
        (Some(family), Some(other)) if *family != other => {
            let message = format!("the link is `{}`, its addresses are `{other}`", *family);
            let help = "give addresses of that family, or leave `family` out";
            faults.report(family.place(), Fault::new(message).help(help));
            family
        }
        (Some(family), _) => family,
        (None, Some(family)) => Setting::derived(family, "as its addresses", place),
        (None, None) => Setting::default(Family::Ipv4, place),
    };
    link.family = family.into();
    let (least, most) = (family.least_mtu(), LARGEST_MTU);
    if !(least..=most).contains(&*link.mtu) {
        let message = format!("an MTU of {} cannot be", *link.mtu);
        let help =
            format!("with `{}` it lies between {} and {} bytes", *family, least.as_bytes(), most.as_bytes());
        faults.report(link.mtu.place(), Fault::new(message).help(help));
    }
}

/// Links without addresses get a network each, in alphabetical order: 10.x.y.0/30 or fd00:0:n::/64.
fn assign_addresses(
    links: &mut Tables<Link>,
    nodes: &Tables<Node>,
    places: &BTreeMap<String, Place>,
    faults: &mut Faults,
) {
    let mut owners = BTreeMap::<IpAddr, String>::new();
    for (name, link) in links.iter() {
        let Some(addresses) = &*link.addresses else { continue };
        let Pair(first, second) = **addresses;
        for (address, node) in [(first, &link.ends.0), (second, &link.ends.1)] {
            own(&mut owners, address, format!("`{node}` on link `{name}`"), addresses.place(), faults);
        }
    }
    for (name, node) in nodes.iter() {
        for (addresses, names) in node.addresses.iter().zip(&node.antennas) {
            for (&address, antenna) in addresses.iter().zip(names.iter()) {
                let owner = format!("`{name}` on its antenna `{antenna}`");
                own(&mut owners, address, owner, addresses.place(), faults);
            }
        }
    }
    let mut network = 0_u16;
    for (name, link) in links.iter_mut() {
        if link.addresses.is_some() {
            continue;
        }
        let family = link.family.map_or(Family::Ipv4, |family| *family);
        let pair = loop {
            let pair = addresses_of(family, network);
            network = network.wrapping_add(1);
            if ![pair.0, pair.1].iter().any(|address| owners.contains_key(address)) {
                break pair;
            }
        };
        link.addresses = Setting::derived(pair, "assigned", places[name]).into();
    }
}

/// Notes whose an address is, which must be one of a host, and nobody else's.
fn own(
    owners: &mut BTreeMap<IpAddr, String>,
    address: IpAddr,
    owner: String,
    place: Place,
    faults: &mut Faults,
) {
    if let IpAddr::V6(mapped) = address
        && let Some(plain) = mapped.to_ipv4_mapped()
    {
        let message = format!("`{address}` is an IPv4 address in the form of IPv6, and no address of a host");
        faults.report(place, Fault::new(message).help(format!("write `{plain}`")));
    }
    if address.is_unspecified() || address.is_multicast() || is_broadcast(address) {
        let message = format!("`{address}` is no address of a host");
        faults.report(place, Fault::new(message).help("give a unicast address"));
    }
    if let Some(other) = owners.insert(address, owner) {
        let message = format!("address `{address}` is given twice: to {other} also");
        let help = "give each end of each link an address of its own";
        faults.report(place, Fault::new(message).help(help));
    }
}

fn is_broadcast(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(address) if address.is_broadcast())
}

fn addresses_of(family: Family, network: u16) -> Pair<IpAddr> {
    let [high, low] = network.to_be_bytes();
    match family {
        Family::Ipv4 => Pair(Ipv4Addr::new(10, high, low, 1).into(), Ipv4Addr::new(10, high, low, 2).into()),
        Family::Ipv6 => {
            let host = |host| Ipv6Addr::new(0xfd00, 0, network, 0, 0, 0, 0, host).into();
            Pair(host(1), host(2))
        }
    }
}
