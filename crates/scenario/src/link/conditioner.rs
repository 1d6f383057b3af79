//! `conditioners` of a link: how packets are classified, metered, and marked or dropped before they queue.

use core::fmt;
use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::{
    Classifier, Colour, ColourMode, ConditioningAction, ConditioningRule, FlowPorts, MeterConfig, MeterScope,
    Profile,
};
use slantpath_profiles::fault;
use slantpath_reader::{
    Fault, Faults, Flat, Json, Node as Written, OneOf, Place, Setting, Tables, Value, json, policy, section,
    tagged,
};

use crate::bounds::{BURST, DELAY, RATE};
use crate::fault::resolve;
use crate::flow::build::ports_of;
use crate::network::node::Dscp;
use crate::schema::{File, NodeKind, Transport};

section! {
    /// A rule of traffic conditioning (RFC 2475): which packets fall under it, how they are metered, and what is done
    /// with them before they queue. Of several rules a packet falls under the first, in alphabetical order, that holds
    /// for it.
    pub struct Conditioner {
        /// Hosts from which its packets come. Any if absent.
        from: Option<Setting<Vec<String>>>;
        /// Hosts to which they go. Any if absent.
        to: Option<Setting<Vec<String>>>;
        /// Flows to which they belong, either way. Any if absent.
        flows: Option<Setting<Vec<String>>>;
        /// Codepoints with which they come. Any if absent.
        dscp: Option<Setting<Vec<Dscp>>>;
        /// Meter of these packets. All are green if absent.
        meter: Option<OneOf<Meter>>;
        /// Packets that are metered together. `aggregate` if absent.
        per: Option<Setting<Scope>>;
        /// Treatment of green packets: a DSCP that they get, or `drop`. Nothing if absent.
        green: Option<Setting<Treatment>>;
        /// Treatment of yellow packets. Nothing if absent.
        yellow: Option<Setting<Treatment>>;
        /// Treatment of red packets. Nothing if absent.
        red: Option<Setting<Treatment>>;
    }
}

tagged! {
    /// Meter of packets. Lengths are those of IP packets.
    pub enum Meter {
        /// Two buckets of tokens that one rate fills, the second with what the first has no room for (RFC 2697).
        SrTcm = "sr-tcm",
        /// Two buckets of tokens, each with a rate of its own (RFC 2698).
        TrTcm = "tr-tcm",
        /// The part of the average rate that is beyond the committed one is red, spread over packets at random (Clark
        /// and Fang, 1998; ns-2's TSW2CM).
        Tsw2cm = "tsw-2cm",
        /// The parts of the average rate that are beyond the committed and the peak rate are yellow and red, spread
        /// over packets at random (RFC 2859; ns-2's TSW3CM).
        TswTcm = "tsw-tcm",
    }
}

section! {
    /// The single rate three colour marker.
    pub struct SrTcm {
        /// CIR: the rate that fills both buckets.
        committed_rate: Setting<DataRate>, at most RATE;
        /// CBS: what the bucket of green tokens holds.
        committed_burst: Setting<DataSize>, at most BURST;
        /// EBS: what the bucket of yellow tokens holds. With nothing, this is a bucket of tokens with two colours.
        excess_burst: Setting<DataSize> = DataSize::from_bytes(0), at most BURST;
        /// Use that is made of the colours that packets come with.
        mode: Setting<Mode> = Mode::of(ColourMode::Blind);
    }
}

section! {
    /// The two rate three colour marker.
    pub struct TrTcm {
        /// CIR: the rate that fills the bucket of green tokens.
        committed_rate: Setting<DataRate>, at most RATE;
        /// CBS: what that bucket holds.
        committed_burst: Setting<DataSize>, at most BURST;
        /// PIR: the rate that fills the bucket of all packets that are not red.
        peak_rate: Setting<DataRate>, at most RATE;
        /// PBS: what that bucket holds.
        peak_burst: Setting<DataSize>, at most BURST;
        /// Use that is made of the colours that packets come with.
        mode: Setting<Mode> = Mode::of(ColourMode::Blind);
    }
}

section! {
    /// The time sliding window marker with two colours.
    pub struct Tsw2cm {
        /// Committed rate and window.
        window: Flat<Window>;
    }
}

section! {
    /// The time sliding window marker with three colours.
    pub struct TswTcm {
        /// Committed rate and window.
        window: Flat<Window>;
        /// PTR: the rate beyond which packets are red.
        peak_rate: Setting<DataRate>, at most RATE;
    }
}

section! {
    /// Of the average rate of a time sliding window.
    pub struct Window {
        /// CTR: the rate up to which packets are green.
        committed_rate: Setting<DataRate>, at most RATE;
        /// AVG_INTERVAL: the time over which the rate is averaged.
        window: Setting<Duration> = Duration::from_secs(1), at most DELAY;
    }
}

policy! {
    /// Packets under a rule that are metered together.
    pub struct Scope of MeterScope {
        /// All of them.
        Aggregate = "aggregate",
        /// Packets of one flow: of the same addresses, protocol and ports.
        Flow = "flow",
        /// Packets from one address to one other.
        Pair = "pair",
    }
}

policy! {
    /// Use that is made of the colours that packets come with.
    pub struct Mode of ColourMode {
        /// A packet gets no better colour than the drop precedence of its AF codepoint says.
        Aware = "colour-aware",
        /// They do not count.
        Blind = "colour-blind",
    }
}

/// Treatment of packets of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They are dropped.
    Drop,
    /// They get this codepoint.
    Mark(Dscp),
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop => f.write_str("drop"),
            Self::Mark(dscp) => dscp.fmt(f),
        }
    }
}

impl Value for Treatment {
    type Most = ();

    fn read(node: &Written) -> Result<Self, Fault> {
        match String::read(node)?.as_str() {
            "drop" => Ok(Self::Drop),
            text => text.parse().map(Self::Mark).map_err(|()| {
                let help =
                    "write \"drop\", or a DSCP: \"EF\", one of \"CS0\" to \"CS7\" or of \"AF11\" to \"AF43\"";
                Fault::new(format!("`{text}` is nothing that can be done with a packet")).help(help)
            }),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^(drop|EF|CS[0-7]|AF[1-4][1-3])$";
        json!({ "type": "string", "pattern": pattern, "examples": ["drop", "AF12"] })
    }
}

/// Reports what makes no sense in the rules of a direction of a link that carries packets up to `mtu`.
pub(crate) fn check(file: &File, rules: &Tables<Conditioner>, mtu: DataSize, faults: &mut Faults) {
    for (name, rule) in rules.iter() {
        rule.check(name, rule.place(), file, mtu, faults);
    }
}

impl Conditioner {
    fn check(&self, name: &str, place: Place, file: &File, mtu: DataSize, faults: &mut Faults) {
        for hosts in self.from.iter().chain(&self.to) {
            for host in hosts.iter() {
                let node = resolve(&file.nodes, host, "node", hosts.place(), faults);
                if node.is_some_and(|node| *node.kind == NodeKind::Router) {
                    let fault =
                        Fault::new(format!("`{host}` is a router: packets come from hosts and go to hosts"));
                    faults.report(hosts.place(), fault.help("name hosts"));
                }
            }
        }
        if let Some(flows) = &self.flows {
            for flow in flows.iter() {
                resolve(&file.flows, flow, "flow", flows.place(), faults);
            }
        }
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
        let flows = self.flows.iter().flat_map(|flows| flows.iter()).flat_map(|name| {
            let protocol = match file.flows.find(name).map(|flow| *flow.transport) {
                Some(Transport::Sctp) => slantpath_wire::ip::protocol::SCTP,
                Some(Transport::Tcp) => slantpath_wire::ip::protocol::TCP,
                None => unreachable!("a check finds every flow"),
            };
            ports_of(file, name).map(move |ports| FlowPorts { protocol, ports })
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
            profile: self.meter.as_ref().map(|meter| Profile {
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
        let addresses = link.addresses.as_ref().expect("a check assigns addresses");
        let ends = [(&link.ends.0, addresses.0), (&link.ends.1, addresses.1)];
        ends.into_iter().filter(move |(end, _)| *end == host).map(|(_, address)| address)
    });
    let node = file.nodes.find(host).expect("a check finds every host");
    of_links.chain(node.addresses.iter().flat_map(|addresses| addresses.iter().copied()))
}

impl Meter {
    fn check(&self, mtu: DataSize, faults: &mut Faults) {
        match self {
            Self::SrTcm(meter) => {
                positive(&meter.committed_rate, "committed_rate", faults);
                burst(&meter.committed_burst, "committed_burst", mtu, faults);
                if meter.excess_burst.as_bytes() > 0 {
                    burst(&meter.excess_burst, "excess_burst", mtu, faults);
                }
            }
            Self::TrTcm(meter) => {
                positive(&meter.committed_rate, "committed_rate", faults);
                burst(&meter.committed_burst, "committed_burst", mtu, faults);
                burst(&meter.peak_burst, "peak_burst", mtu, faults);
                peak(&meter.committed_rate, &meter.peak_rate, faults);
            }
            Self::Tsw2cm(meter) => meter.window.check(faults),
            Self::TswTcm(meter) => {
                meter.window.check(faults);
                peak(&meter.window.committed_rate, &meter.peak_rate, faults);
            }
        }
    }

    fn config(&self) -> MeterConfig {
        match self {
            Self::SrTcm(meter) => MeterConfig::SingleRate {
                committed: *meter.committed_rate,
                committed_burst: *meter.committed_burst,
                excess_burst: *meter.excess_burst,
                mode: meter.mode.policy(),
            },
            Self::TrTcm(meter) => MeterConfig::TwoRate {
                committed: *meter.committed_rate,
                committed_burst: *meter.committed_burst,
                peak: *meter.peak_rate,
                peak_burst: *meter.peak_burst,
                mode: meter.mode.policy(),
            },
            Self::Tsw2cm(meter) => meter.window.config(*meter.window.committed_rate),
            Self::TswTcm(meter) => meter.window.config(*meter.peak_rate),
        }
    }
}

impl Window {
    fn check(&self, faults: &mut Faults) {
        positive(&self.committed_rate, "committed_rate", faults);
        fault::positive(&self.window, "`window`", faults);
    }

    fn config(&self, peak: DataRate) -> MeterConfig {
        MeterConfig::TimeSlidingWindow { committed: *self.committed_rate, peak, window: *self.window }
    }
}

fn positive(rate: &Setting<DataRate>, key: &str, faults: &mut Faults) {
    if rate.as_bits_per_sec() == 0 {
        let help = "write the rate up to which packets are green, or leave `meter` out";
        faults.report(
            rate.place(),
            Fault::new(format!("with a `{key}` of zero no packet is green")).help(help),
        );
    }
}

//= https://www.rfc-editor.org/rfc/rfc2697#section-2
//# It is recommended that when the value of the CBS
//# or the EBS is larger than 0, it is larger than or equal to the size
//# of the largest possible IP packet in the stream.
fn burst(burst: &Setting<DataSize>, key: &str, mtu: DataSize, faults: &mut Faults) {
    let help =
        format!("let it hold a packet of the link's `mtu` at least: `{key} = \"{mtu}\"`, or some of them");
    if burst.as_bytes() == 0 {
        let fault = Fault::new(format!("`{key}` is nothing: it never holds a packet")).help(help);
        faults.report(burst.place(), fault);
    } else if **burst < mtu {
        let message =
            format!("`{key}` is {}: it holds no packet as long as the link's `mtu` of {mtu}", **burst);
        faults.warn(burst.place(), Fault::new(message).help(help));
    }
}

fn peak(committed: &Setting<DataRate>, peak: &Setting<DataRate>, faults: &mut Faults) {
    if **peak < **committed {
        let message = format!("`peak_rate` is {}, less than `committed_rate`, {}", **peak, **committed);
        let help = "let `peak_rate` be the larger one";
        faults.report(peak.place(), Fault::new(message).help(help));
    }
}
