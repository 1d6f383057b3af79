//! Traffic conditioning at the edge of a differentiated services domain (RFC 2475, section 2.3): packets are classified
//! as they come to a direction of a link, metered, and marked or dropped, before they queue.
//!
//! The rule that a packet falls under is found once for each flow and codepoint. What is remembered is bounded.

mod flow_key;
mod meter;
mod recent;

use std::net::IpAddr;

use slantpath_base::{Instant, Seed, Stream, StreamFamily};
use slantpath_wire::ip::Dscp;

use crate::address_names::AddressNames;
use crate::link::{DirectionTally, DropReason};
use crate::packets::PacketStore;
use crate::parcel::Parcel;
pub(crate) use flow_key::FlowKey;
use meter::Meter;
pub use meter::{Colour, ColourMode, MeterConfig};
pub(crate) use recent::Recent;

/// A rule of a traffic conditioner.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditioningRule {
    /// By which its random streams are named.
    pub name: String,
    /// Conditions under which a packet falls under the rule.
    pub classifier: Classifier,
    /// Profile that its packets are held to. Without one, all are green.
    pub profile: Option<TrafficProfile>,
    /// Actions on green, yellow and red packets.
    pub actions: [ConditioningAction; 3],
}

/// Conditions under which a packet falls under a rule: all of them have to hold. A list without members holds for every
/// packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classifier {
    /// One of these addresses is the packet's source.
    pub sources: Vec<IpAddr>,
    /// One of these addresses is its destination.
    pub destinations: Vec<IpAddr>,
    /// Flows to one of which the packet belongs, either way.
    pub flows: Vec<FlowPorts>,
    /// Codepoints with one of which the packet comes.
    pub dscps: Vec<Dscp>,
}

/// The protocol and the ports of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPorts {
    /// The number of its protocol.
    pub protocol: u8,
    /// Ports of the flow.
    pub ports: [u16; 2],
}

/// Profile that packets are held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficProfile {
    /// Meter that gives packets their colours.
    pub meter: MeterConfig,
    /// Set of packets that are metered together.
    pub scope: MeterScope,
}

/// Set of packets under a rule that are metered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterScope {
    /// All of them.
    Aggregate,
    /// Packets of one flow: of the same addresses, protocol and ports.
    Flow,
    /// Packets of one source and one destination address.
    Pair,
}

/// Action on a packet of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditioningAction {
    /// The packet is dropped: the rule polices.
    Drop,
    /// The packet is given this codepoint.
    Mark(Dscp),
    /// The packet goes on as it is.
    Pass,
}

/// The conditioner of a direction.
#[derive(Clone, Debug)]
pub(crate) struct Conditioner {
    rules: Vec<(ConditioningRule, StreamFamily)>,
    /// By flow and codepoint: the number of the rule that its packets fall under.
    found: Recent<(FlowKey, u8), Option<usize>>,
    /// By rule, and what is metered together.
    meters: Recent<(usize, FlowKey), (Meter, Stream)>,
    names: AddressNames,
}

impl Conditioner {
    /// With rules of which a packet falls under the first that holds for it; its random streams are named after `path`.
    pub(crate) fn new(rules: &[ConditioningRule], seed: Seed, path: &str) -> Self {
        let family = |rule: &ConditioningRule| {
            StreamFamily::new(&mut seed.stream(&format!("{path}/conditioner/{}", rule.name)))
        };
        Self {
            rules: rules.iter().map(|rule| (rule.clone(), family(rule))).collect(),
            found: Recent::default(),
            meters: Recent::default(),
            names: AddressNames::default(),
        }
    }

    /// Has the random streams of flows named by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        self.names = names.clone();
    }

    /// The packet as it goes on, or why it does not. The drop is counted.
    pub(crate) fn condition(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
        counters: &mut DirectionTally,
    ) -> Result<Parcel, DropReason> {
        let Some(flow) = FlowKey::of_parcel(parcel, packets.packet(parcel.packet())) else {
            return Ok(parcel);
        };
        let Self { rules, found, meters, names } = self;
        let codepoint = parcel.traffic_class() >> 2;
        let find = || rules.iter().position(|(rule, _)| rule.classifier.holds_for(&flow, codepoint));
        let Some(number) = *found.entry((flow, codepoint), find) else { return Ok(parcel) };
        let (rule, streams) = &rules[number];
        let colour = rule.profile.map_or(Colour::Green, |TrafficProfile { meter, scope }| {
            let together = scope.of(flow);
            let new = || (Meter::new(&meter, now), streams.member(&names.named(together).name()));
            let (state, stream) = meters.entry((number, together), new);
            let colour = state.colour(&meter, now, parcel.length(), colour_of(codepoint), stream);
            counters.colour(colour, parcel.length());
            colour
        });
        match rule.actions[colour as usize] {
            ConditioningAction::Drop => {
                counters.offered.add(parcel.length());
                counters.drop(now, DropReason::Policed, parcel, packets);
                Err(DropReason::Policed)
            }
            ConditioningAction::Mark(dscp) => Ok(parcel.with_dscp(dscp)),
            ConditioningAction::Pass => Ok(parcel),
        }
    }
}

impl Classifier {
    fn holds_for(&self, flow: &FlowKey, codepoint: u8) -> bool {
        let has = |addresses: &[IpAddr], own| addresses.is_empty() || addresses.contains(&own);
        has(&self.sources, flow.source.address())
            && has(&self.destinations, flow.destination.address())
            && (self.flows.is_empty() || self.flows.iter().any(|ports| ports.are_of(flow)))
            && (self.dscps.is_empty() || self.dscps.iter().any(|dscp| dscp.number() == codepoint))
    }
}

impl FlowPorts {
    fn are_of(self, flow: &FlowKey) -> bool {
        let [first, second] = self.ports;
        self.protocol == flow.protocol && (flow.ports == [first, second] || flow.ports == [second, first])
    }
}

impl MeterScope {
    /// Key that all flows metered together with this one have in common.
    fn of(self, flow: FlowKey) -> FlowKey {
        match self {
            Self::Aggregate => FlowKey::default(),
            Self::Flow => flow,
            Self::Pair => FlowKey { protocol: 0, ports: [0, 0], ..flow },
        }
    }
}

//= https://www.rfc-editor.org/rfc/rfc2597#section-6
//# The RECOMMENDED values of the AF codepoints are as follows: AF11 = '
//# 001010', AF12 = '001100', AF13 = '001110', AF21 = '010010', AF22 = '
//# 010100', AF23 = '010110', AF31 = '011010', AF32 = '011100', AF33 = '
//# 011110', AF41 = '100010', AF42 = '100100', and AF43 = '100110'.
/// The colour that a packet comes with: its drop precedence.
fn colour_of(codepoint: u8) -> Colour {
    let is_assured = (1..=4).contains(&(codepoint >> 3));
    match codepoint & 7 {
        4 if is_assured => Colour::Yellow,
        6 if is_assured => Colour::Red,
        _ => Colour::Green,
    }
}
