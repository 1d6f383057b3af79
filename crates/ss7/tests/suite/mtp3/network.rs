//! Nodes and a model of the links between them: numbers, acknowledgements that lag, retrieval.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::node::{
    Config, DestinationConfig, Function, LinkConfig, LinkSetConfig, Mtp3LinkId, Output, Procedure,
    RouteConfig, SequenceNumbers,
};
use slantpath_ss7::mtp3::{
    Fsn, ManagementLayout, ManagementMessage, Msu, Node, RoutingLabel, ServiceIndicator, ServiceInformation,
    Slc, Sls,
};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

/// Messages that one end of a link has sent and not heard of, and count of those that it has accepted.
#[derive(Clone, Debug, Default)]
struct End {
    /// Sent or waiting, oldest first, with their numbers; the first `sent` have left.
    queue: VecDeque<(u32, Bytes)>,
    sent: usize,
    next: u32,
    accepted: u32,
    is_started: bool,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) ends: [(usize, Mtp3LinkId); 2],
    sides: [End; 2],
    modulus: u32,
    is_up: bool,
    /// Broken wires do not come into service.
    pub(crate) is_broken: bool,
}

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Instant,
    pub(crate) nodes: Vec<Node>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) delivered: Vec<(usize, Transfer)>,
    pub(crate) indications: Vec<(usize, TransferIndication)>,
}

pub(crate) fn link_set(adjacent: u32, links: u8, sequence: SequenceNumbers) -> LinkSetConfig {
    let links =
        (0..links).map(|slc| LinkConfig { name: format!("link-{slc}"), slc: Slc(slc), sequence }).collect();
    LinkSetConfig { name: format!("to-{adjacent}"), adjacent: PointCode(adjacent), links }
}

pub(crate) fn node(code: u32, function: Function, link_sets: Vec<LinkSetConfig>) -> Config {
    let mut config = Config::new(&format!("node-{code}"), PointCode(code));
    config.function = function;
    config.restart = Procedure::Omitted;
    config.link_sets = link_sets;
    config
}

pub(crate) fn route(destination: u32, over: &[(u32, u8)]) -> DestinationConfig {
    let routes = over
        .iter()
        .map(|(adjacent, priority)| RouteConfig { link_set: format!("to-{adjacent}"), priority: *priority })
        .collect();
    DestinationConfig { point_code: PointCode(destination), routes }
}

/// Indication of level 2 that a message of a user part has come to a node.
pub(crate) fn received(
    node: &Node,
    indicator: ServiceIndicator,
    label: RoutingLabel,
    user_part: &[u8],
) -> LinkIndication {
    let (format, network) = (node.config().format, node.config().network);
    let service = ServiceInformation { indicator, network, priority: 0 };
    let mut octets = Vec::new();
    Msu { service, label, user_part }.emit(format, &mut octets);
    LinkIndication::Received(octets.into())
}

/// Indication of level 2 that an adjacent point has said something to a node about the link with that code.
pub(crate) fn heard(node: &Node, from: PointCode, slc: Slc, message: ManagementMessage) -> LinkIndication {
    let mut user_part = Vec::new();
    message.emit(ManagementLayout::Itu, slc, &mut user_part);
    let label = RoutingLabel { dpc: node.config().point_code, opc: from, sls: Sls(slc.0) };
    received(node, ServiceIndicator::MANAGEMENT, label, &user_part)
}

impl Wire {
    fn new(ends: [(usize, Mtp3LinkId); 2], sequence: SequenceNumbers) -> Self {
        let modulus = match sequence {
            SequenceNumbers::Bits7 => 1 << 7,
            SequenceNumbers::Bits24 => 1 << 24,
        };
        Self { ends, sides: Default::default(), modulus, is_up: false, is_broken: false }
    }
}

/// Codes of a node's links, each with the far end's code, in the order of their numbers.
fn codes(config: &Config) -> Vec<(PointCode, Slc)> {
    let of = |set: &LinkSetConfig| set.links.iter().map(|link| (set.adjacent, link.slc)).collect::<Vec<_>>();
    config.link_sets.iter().flat_map(of).collect()
}

impl Network {
    /// Gives the first node another configuration: what goes is taken out of traffic first. The far ends have all
    /// links.
    pub(crate) fn reload(&mut self, config: Config) {
        let (before, own) = (codes(self.nodes[0].config()), codes(&config));
        let id = |at: usize| Mtp3LinkId(u16::try_from(at).unwrap());
        let kept = |code| own.iter().position(|own| *own == code).map(id);
        for (at, _) in before.iter().enumerate().filter(|(_, code)| kept(**code).is_none()) {
            self.nodes[0].deactivate(self.now, id(at));
            self.drain();
        }
        self.run(Duration::from_secs(3));
        let pairs: Vec<_> =
            before.iter().enumerate().filter_map(|(at, code)| Some((id(at), kept(*code)?))).collect();
        self.wires.retain_mut(|wire| {
            let end = wire.ends.iter_mut().find(|(node, _)| *node == 0);
            let Some((_, link)) = end else { return true };
            let own = pairs.iter().find(|(before, _)| before == link).map(|(_, own)| *own);
            *link = own.unwrap_or(*link);
            own.is_some()
        });
        let mut node = Node::new(config).unwrap();
        std::mem::swap(&mut node, &mut self.nodes[0]);
        let mut added = Vec::new();
        for (at, code) in own.iter().enumerate().filter(|(_, code)| !before.contains(code)) {
            let (adjacent, slc) = *code;
            let far = self.nodes.iter().position(|far| far.config().point_code == adjacent).unwrap();
            let own_code = self.nodes[0].config().point_code;
            let back = far_link(self.nodes[far].config(), own_code, slc);
            self.wires.push(Wire::new([(0, id(at)), (far, back)], SequenceNumbers::Bits24));
            added.push((far, back));
        }
        let now = self.now;
        self.nodes[0].take_over(now, node, &pairs);
        for (far, link) in added {
            self.nodes[far].deactivate(now, link);
            self.nodes[far].activate(now, link);
        }
        self.drain();
    }

    pub(crate) fn new(configs: Vec<Config>) -> Self {
        let mut wires = Vec::new();
        for (at, config) in configs.iter().enumerate() {
            let mut id = 0;
            for link_set in &config.link_sets {
                let far = configs.iter().position(|far| far.point_code == link_set.adjacent).unwrap();
                for link in &link_set.links {
                    let here = (at, Mtp3LinkId(id));
                    id += 1;
                    if at < far {
                        let back = far_link(&configs[far], config.point_code, link.slc);
                        wires.push(Wire::new([here, (far, back)], link.sequence));
                    }
                }
            }
        }
        let nodes = configs.into_iter().map(|config| Node::new(config).unwrap()).collect();
        Self { now: Instant::from_secs(1), nodes, wires, delivered: Vec::new(), indications: Vec::new() }
    }

    pub(crate) fn activate_all(&mut self) {
        for at in 0..self.wires.len() {
            for (node, link) in self.wires[at].ends {
                self.nodes[node].activate(self.now, link);
                self.drain();
            }
        }
        self.run(Duration::from_secs(5));
    }

    /// Sends a message whose text is its number.
    pub(crate) fn send(&mut self, from: usize, to: u32, sls: u8, number: u32) -> bool {
        let opc = self.nodes[from].config().point_code;
        let transfer = Transfer {
            service: ServiceInformation::from_octet(ServiceIndicator::SCCP.value()),
            label: RoutingLabel { dpc: PointCode(to), opc, sls: Sls(sls) },
            user_data: Bytes::copy_from_slice(&number.to_be_bytes()),
        };
        let is_accepted = self.nodes[from].transfer(self.now, &transfer).is_ok();
        self.drain();
        is_accepted
    }

    /// Counts the other wires that cannot carry traffic, at one end at least.
    pub(crate) fn unavailable_wires_beside(&self, at: usize) -> usize {
        let others = self.wires.iter().enumerate().filter(|(other, _)| *other != at);
        others
            .filter(|(_, wire)| {
                wire.ends.iter().any(|(node, link)| !self.nodes[*node].is_link_available(*link))
            })
            .count()
    }

    /// Breaks a wire; the given side hears of it first.
    pub(crate) fn break_wire(&mut self, at: usize, first: usize) {
        self.wires[at].is_broken = true;
        self.take_down(at, first, OutOfServiceReason::BearerFailed, true);
    }

    fn take_down(&mut self, at: usize, first: usize, reason: OutOfServiceReason, both: bool) {
        if !core::mem::take(&mut self.wires[at].is_up) {
            return;
        }
        for side in if both { vec![first, 1 - first] } else { vec![first] } {
            self.wires[at].sides[side].is_started = false;
            let (node, link) = self.wires[at].ends[side];
            self.nodes[node].handle_link(self.now, link, LinkIndication::OutOfService(reason));
            self.drain();
        }
    }

    pub(crate) fn mend_wire(&mut self, at: usize) {
        self.wires[at].is_broken = false;
        self.try_align(at);
    }

    /// The other side takes the oldest message that has not left a side yet.
    pub(crate) fn deliver(&mut self, at: usize, side: usize) -> bool {
        let wire = &mut self.wires[at];
        if !wire.is_up {
            return false;
        }
        let sent = wire.sides[side].sent;
        let Some((number, octets)) = wire.sides[side].queue.get(sent).cloned() else { return false };
        wire.sides[side].sent += 1;
        wire.sides[1 - side].accepted = number;
        let (node, link) = wire.ends[1 - side];
        self.nodes[node].handle_link(self.now, link, LinkIndication::Received(octets));
        self.drain();
        true
    }

    /// A side hears that all that left it has arrived.
    pub(crate) fn acknowledge(&mut self, at: usize, side: usize) {
        if self.wires[at].is_up {
            let end = &mut self.wires[at].sides[side];
            end.queue.drain(..end.sent);
            end.sent = 0;
        }
    }

    /// Delivers everything, and lets time pass up to each deadline.
    pub(crate) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.drain();
            let mut is_idle = true;
            for at in 0..self.wires.len() {
                for side in [0, 1] {
                    is_idle &= !self.deliver(at, side);
                    self.acknowledge(at, side);
                }
            }
            if !is_idle {
                continue;
            }
            let deadlines = self.nodes.iter_mut().filter_map(|node| match node.poll_output(self.now) {
                Output::Wait(deadline) => deadline,
                other => panic!("{other:?} was not drained"),
            });
            match deadlines.min() {
                Some(deadline) if deadline <= end => self.now = deadline,
                _ => break,
            }
        }
        self.now = end;
        self.drain();
    }

    /// Does what the nodes want.
    pub(crate) fn drain(&mut self) {
        let mut is_idle = false;
        while !is_idle {
            is_idle = true;
            for node in 0..self.nodes.len() {
                loop {
                    match self.nodes[node].poll_output(self.now) {
                        Output::Wait(_) => break,
                        Output::Link(link, request) => self.request(node, link, request),
                        Output::Indication(_, TransferIndication::Transfer(transfer)) => {
                            self.delivered.push((node, transfer));
                        }
                        Output::Indication(user, other) if user == ServiceIndicator::SCCP => {
                            self.indications.push((node, other));
                        }
                        Output::Indication(..) | Output::Management(_) => {}
                    }
                    is_idle = false;
                }
            }
        }
    }

    fn request(&mut self, node: usize, link: Mtp3LinkId, request: LinkRequest) {
        let at = self.wires.iter().position(|wire| wire.ends.contains(&(node, link)));
        // Nothing is at the far end of a link that only one of them has.
        let Some(at) = at else { return };
        let side = usize::from(self.wires[at].ends[1] == (node, link));
        let modulus = self.wires[at].modulus;
        let end = &mut self.wires[at].sides[side];
        let mut answers = Vec::new();
        match request {
            LinkRequest::Start => {
                *end = End { is_started: true, ..End::default() };
                self.try_align(at);
            }
            LinkRequest::Stop => {
                end.is_started = false;
                self.take_down(at, 1 - side, OutOfServiceReason::PeerOutOfService, false);
            }
            LinkRequest::Transmit(octets) => {
                end.next = (end.next + 1) % modulus;
                end.queue.push_back((end.next, octets));
            }
            LinkRequest::RetrieveBsnt => answers.push(LinkIndication::Bsnt(Fsn(end.accepted))),
            LinkRequest::RetrieveMessagesAfter(Fsn(number)) => {
                let last = end.queue.iter().position(|(own, _)| *own == number);
                end.queue.drain(..last.map_or(0, |last| last + 1));
                answers.extend(end.queue.drain(..).map(|(_, octets)| LinkIndication::Retrieved(octets)));
                answers.push(LinkIndication::RetrievalComplete);
            }
            LinkRequest::RetrieveUnsent => {
                end.queue.drain(..end.sent);
                answers.extend(end.queue.drain(..).map(|(_, octets)| LinkIndication::Retrieved(octets)));
                answers.push(LinkIndication::RetrievalComplete);
            }
            LinkRequest::FlushBuffers => end.queue.clear(),
            LinkRequest::Continue
            | LinkRequest::Emergency
            | LinkRequest::EmergencyCeases
            | LinkRequest::LocalProcessorOutage
            | LinkRequest::LocalProcessorRecovered => {}
        }
        for answer in answers {
            self.nodes[node].handle_link(self.now, link, answer);
        }
    }

    fn try_align(&mut self, at: usize) {
        let wire = &mut self.wires[at];
        let is_started = wire.sides.iter().all(|side| side.is_started);
        if wire.is_up || wire.is_broken || !is_started {
            return;
        }
        wire.is_up = true;
        for (node, link) in wire.ends {
            self.nodes[node].handle_link(self.now, link, LinkIndication::InService);
        }
    }
}

fn far_link(far: &Config, adjacent: PointCode, slc: Slc) -> Mtp3LinkId {
    let mut id = 0;
    for link_set in &far.link_sets {
        for link in &link_set.links {
            if link_set.adjacent == adjacent && link.slc == slc {
                return Mtp3LinkId(id);
            }
            id += 1;
        }
    }
    panic!("{} has no link {slc:?} to {adjacent:?}", far.name)
}
