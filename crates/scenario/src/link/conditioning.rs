//! Rules of conditioning in a whole file: hosts and flows that they name, and what `net` takes of them.

use std::net::IpAddr;

use slantpath_base::DataSize;
use slantpath_net::{
    Classifier, Colour, ConditioningAction, ConditioningRule, FlowPorts, MeterScope, TrafficProfile,
};
use slantpath_reader::{Fault, Faults, Place, Setting, Tables, Written};

use super::conditioner::{Conditioner, Meter, Treatment};
use crate::flow::ports::ports_of;
use crate::schema::{File, Flow, Node, NodeKind, Transport};
use slantpath_reader::resolve;

/// Reports what makes no sense in the rules of a direction of a link that carries packets up to `mtu`.
pub(crate) fn check(
    nodes: &Tables<Node>,
    flows: &Tables<Flow<Written>>,
    rules: &Tables<Conditioner>,
    mtu: DataSize,
    faults: &mut Faults,
) {
    for (name, rule) in rules.iter() {
        rule.names(nodes, flows, faults);
        rule.check(name, rule.place(), mtu, faults);
    }
}

impl Conditioner {
    /// Reports names of what is no host, and no flow.
    fn names(&self, nodes: &Tables<Node>, flows: &Tables<Flow<Written>>, faults: &mut Faults) {
        for hosts in self.from.iter().chain(&self.to) {
            for host in hosts.iter() {
                let node = resolve(nodes, host, "node", hosts.place(), faults);
                if node.is_some_and(|node| *node.kind == NodeKind::Router) {
                    let fault =
                        Fault::new(format!("`{host}` is a router: packets come from hosts and go to hosts"));
                    faults.report(hosts.place(), fault.help("name hosts"));
                }
            }
        }
        if let Some(named) = &self.flows {
            for flow in named.iter() {
                resolve(flows, flow, "flow", named.place(), faults);
            }
        }
    }

    fn check(&self, name: &str, place: Place, mtu: DataSize, faults: &mut Faults) {
        if [&self.green, &self.yellow, &self.red].iter().all(|action| action.is_none()) {
            let fault = Fault::new(format!("rule `{name}` does nothing with any packet"));
            faults.report(
                place,
                fault.help("write what is done with a colour: `green = \"AF11\"`, or `red = \"drop\"`"),
            );
        }
        let known = match self.meter.as_ref().map(|meter| &meter.0) {
            None => &[Colour::Green][..],
            Some(Meter::Tsw2cm(_)) => &[Colour::Green, Colour::Red],
            Some(Meter::SrTcm(meter)) if meter.excess_burst.as_bytes() == 0 => &[Colour::Green, Colour::Red],
            Some(Meter::SrTcm(_) | Meter::TrTcm(_) | Meter::TswTcm(_)) => &Colour::ALL,
        };
        for (action, colour, key) in
            [(&self.yellow, Colour::Yellow, "yellow"), (&self.red, Colour::Red, "red")]
        {
            if let Some(action) = action.as_ref().filter(|_| !known.contains(&colour)) {
                let help = "leave it out, or choose a `meter` that knows the colour: `tr-tcm` has all three";
                faults.report(
                    action.place(),
                    Fault::new(format!("no packet under this rule is {key}")).help(help),
                );
            }
        }
        match (&self.meter, &self.per) {
            (Some(meter), _) => meter.0.check(mtu, faults),
            (None, Some(per)) => {
                let fault =
                    Fault::new("`per` has no meaning without `meter`").help("leave it out, or write `meter`");
                faults.report(per.place(), fault);
            }
            (None, None) => {}
        }
    }

    /// Configuration of it in `net`, in a file that has been checked.
    fn config(&self, name: &str, file: &File) -> ConditioningRule {
        let addresses = |hosts: &Option<Setting<Vec<String>>>| {
            hosts.iter().flat_map(|hosts| hosts.iter()).flat_map(|host| addresses_of(file, host)).collect()
        };
        let flows = self.flows.iter().flat_map(|flows| flows.iter());
        let flows = flows.filter_map(|name| file.flows.find(name)).flat_map(|flow| {
            let protocol = match *flow.transport {
                // It has no ports: all echoes between the same hosts are alike.
                Transport::Icmp => slantpath_wire::ip::protocol::ICMP,
                Transport::Sctp => slantpath_wire::ip::protocol::SCTP,
                Transport::Tcp => slantpath_wire::ip::protocol::TCP,
                Transport::Udp => slantpath_wire::ip::protocol::UDP,
            };
            let ports_known = *flow.transport != Transport::Icmp;
            ports_of(flow)
                .map(move |ports| FlowPorts { protocol, ports: if ports_known { ports } else { [0; 2] } })
        });
        let action = |action: &Option<Setting<Treatment>>| match action.map(|action| *action) {
            None => ConditioningAction::Pass,
            Some(Treatment::Drop) => ConditioningAction::Drop,
            Some(Treatment::Mark(dscp)) => ConditioningAction::Mark(dscp.wire()),
        };
        ConditioningRule {
            name: name.to_owned(),
            classifier: Classifier {
                sources: addresses(&self.from),
                destinations: addresses(&self.to),
                flows: flows.collect(),
                dscps: self.dscp.iter().flat_map(|dscps| dscps.iter()).map(|dscp| dscp.wire()).collect(),
            },
            profile: self.meter.as_ref().map(|meter| TrafficProfile {
                meter: meter.0.config(),
                scope: self.per.map_or(MeterScope::Aggregate, |per| per.policy()),
            }),
            actions: [action(&self.green), action(&self.yellow), action(&self.red)],
        }
    }
}

/// Configuration in `net` of the rules of a direction.
pub(crate) fn rules(file: &File, rules: &Tables<Conditioner>) -> Vec<ConditioningRule> {
    rules.iter().map(|(name, rule)| rule.config(name, file)).collect()
}

/// All addresses of a host, on links and antennas.
fn addresses_of<'a>(file: &'a File, host: &'a str) -> impl Iterator<Item = IpAddr> + 'a {
    let of_links = file.links.iter().flat_map(move |(_, link)| {
        let ends = [(&link.ends.0, link.addresses.0), (&link.ends.1, link.addresses.1)];
        ends.into_iter().filter(move |(end, _)| *end == host).map(|(_, address)| address)
    });
    let node = file.nodes.find(host).and_then(|node| node.addresses.as_ref());
    of_links.chain(node.into_iter().flat_map(|addresses| addresses.iter().copied()))
}
