//! Ends of the associations that carry signalling, by the names that they are traced under.

use slantpath_profiles::sctp::SctpProfile;
use slantpath_signalling::network::{AdaptationId, Carried, Side, SignallingLinkId};

use crate::names::{asp_node, gateway_point, node_of};
use crate::schema::{Carrier, Signalling};

/// Streams of an association that carries a link: M2PA's two (RFC 4165, section 4.1.2).
pub const M2PA_STREAMS: u16 = 2;
/// Streams of an association of M3UA: one for management, and one for each value of ITU-T's signalling link selection.
pub const M3UA_STREAMS: u16 = 17;

/// End of an association that carries signalling: of a link of M2PA, or of M3UA between a gateway and an ASP.
#[derive(Clone, Debug)]
pub struct SignallingEnd<'a> {
    /// Name of the link or of the association.
    pub name: &'a str,
    /// Point, gateway or ASP at this end.
    pub at: &'a str,
    /// Link or association.
    pub carried: Carried,
    /// End of it.
    pub side: Side,
    /// Host at this end, and the one at the other.
    pub hosts: [String; 2],
    /// Settings of the association.
    pub profile: &'a SctpProfile,
    /// Streams that it asks for.
    pub streams: u16,
}

impl SignallingEnd<'_> {
    /// Name of the end alone: `trunk@london`.
    pub fn full_name(&self) -> String {
        format!("{}@{}", self.name, self.at)
    }

    /// Tells if it is meant by a name: its own, or that of the link or the association, which means the first end.
    pub fn is_called(&self, name: &str) -> bool {
        (self.side == Side::First && name == self.name)
            || name.split_once('@').is_some_and(|(link, at)| (link, at) == (self.name, self.at))
    }
}

/// Both ends of all associations that carry signalling, in the order of their names.
pub fn signalling_ends(signalling: &Signalling) -> Vec<SignallingEnd<'_>> {
    let mut ends = Vec::new();
    for (number, (name, link)) in signalling.links.iter().enumerate() {
        let Carrier::M2pa(m2pa) = &*link.carrier else { continue };
        let points = [link.between.0.as_str(), link.between.1.as_str()];
        let hosts = points.map(|point| node_of(signalling, point).to_string());
        let carried = Carried::Link(SignallingLinkId(number));
        ends.extend(both(name, points, hosts, carried, &m2pa.settings, M2PA_STREAMS));
    }
    for (number, (name, association)) in signalling.associations.iter().enumerate() {
        let ([gateway, asp], streams) =
            ([association.gateway.as_str(), association.asp.as_str()], M3UA_STREAMS);
        let hosts = [
            node_of(signalling, gateway_point(signalling, gateway)).to_string(),
            asp_node(signalling, asp).to_string(),
        ];
        let carried = Carried::Adaptation(AdaptationId(number));
        ends.extend(both(name, [gateway, asp], hosts, carried, &association.settings, streams));
    }
    ends
}

/// Tells if the end of an association is among those that are to be traced.
pub fn is_traced(signalling: &Signalling, traced: &[String], carried: Carried, side: Side) -> bool {
    !traced.is_empty()
        && signalling_ends(signalling).iter().any(|end| {
            (end.carried, end.side) == (carried, side) && traced.iter().any(|name| end.is_called(name))
        })
}

fn both<'a>(
    name: &'a str,
    at: [&'a str; 2],
    [first, second]: [String; 2],
    carried: Carried,
    profile: &'a SctpProfile,
    streams: u16,
) -> [SignallingEnd<'a>; 2] {
    let hosts = [[first.clone(), second.clone()], [second, first]];
    [0, 1].map(|end| SignallingEnd {
        name,
        at: at[end],
        carried,
        side: Side::BOTH[end],
        hosts: hosts[end].clone(),
        profile,
        streams,
    })
}

/// The name of a link's end in results and random streams.
pub const fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}
