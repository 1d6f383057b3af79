//! Nodes and the wires between them.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Probability, Seed, Stream};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Sharing, TitleChange,
};
use slantpath_ss7::sccp::{
    Capability, ConnectionRequest, Digits, GlobalTitle, Indication, Message, Node, NodeConfig, Output,
    PartyAddress, Remote, Ssn, Subsystem, UnitdataRequest,
};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

pub(crate) const HLR: Ssn = Ssn(6);
pub(crate) const VLR: Ssn = Ssn(7);
pub(crate) const A: PointCode = PointCode(1);
pub(crate) const B: PointCode = PointCode(2);
pub(crate) const C: PointCode = PointCode(3);

/// Nodes, what is under way between them, and what their users have heard.
pub(crate) struct Net {
    pub(crate) now: Instant,
    pub(crate) nodes: BTreeMap<PointCode, Node>,
    wire: VecDeque<Transfer>,
    pub(crate) indications: Vec<(PointCode, Ssn, Indication)>,
    /// Every message that was sent, in its order.
    pub(crate) sent: Vec<Transfer>,
    pub(crate) loss: Probability,
    chance: Stream,
    /// True if users accept every connection and answer every reset.
    pub(crate) users_agree: bool,
}

/// A node that knows the others and has both subsystems.
pub(crate) fn config(own: PointCode) -> NodeConfig {
    let mut config = NodeConfig::new(own, NetworkIndicator::National);
    for code in [A, B, C].into_iter().filter(|code| *code != own) {
        let remote = Remote { capability: Capability::default(), subsystems: [HLR, VLR].into() };
        config.remotes.insert(code, remote);
    }
    for ssn in [HLR, VLR] {
        config.subsystems.insert(ssn, Subsystem::default());
    }
    config
}

impl Net {
    pub(crate) fn new(configs: impl IntoIterator<Item = NodeConfig>) -> Self {
        let nodes = configs.into_iter().map(|config| {
            let code = config.point_code;
            let mut node = Node::new(config).unwrap();
            for ssn in [HLR, VLR] {
                node.set_subsystem(Instant::START, ssn, true).unwrap();
            }
            (code, node)
        });
        let mut net = Self {
            now: Instant::START,
            nodes: nodes.collect(),
            wire: VecDeque::new(),
            indications: Vec::new(),
            sent: Vec::new(),
            loss: Probability::NEVER,
            chance: Seed::new(1, 0).stream("net"),
            users_agree: true,
        };
        net.settle();
        net.indications.clear();
        net
    }

    /// Three nodes that know each other.
    pub(crate) fn three() -> Self {
        Self::new([A, B, C].map(config))
    }

    pub(crate) fn with_seed(mut self, seed: u64) -> Self {
        self.chance = Seed::new(seed, 0).stream("net");
        self
    }

    pub(crate) fn node(&mut self, code: PointCode) -> &mut Node {
        self.nodes.get_mut(&code).unwrap()
    }

    /// Delivers until nothing is under way. Fails if it never ends.
    pub(crate) fn settle(&mut self) {
        for _ in 0..100_000 {
            let codes: Vec<PointCode> = self.nodes.keys().copied().collect();
            for code in codes {
                while let Some(output) = self.take(code) {
                    self.handle(code, output);
                }
            }
            let Some(transfer) = self.wire.pop_front() else { return };
            if let Some(node) = self.nodes.get_mut(&transfer.label.dpc) {
                node.handle_indication(self.now, TransferIndication::Transfer(transfer));
            }
        }
        panic!("messages go round and round");
    }

    fn take(&mut self, code: PointCode) -> Option<Output> {
        match self.nodes.get_mut(&code)?.poll_output(self.now) {
            Output::Wait(_) => None,
            output => Some(output),
        }
    }

    fn handle(&mut self, code: PointCode, output: Output) {
        match output {
            Output::Transfer(transfer) => {
                self.sent.push(transfer.clone());
                if !self.chance.happens(self.loss) {
                    self.wire.push_back(transfer);
                }
            }
            Output::Indication { ssn, indication } => {
                let now = self.now;
                if self.users_agree {
                    let node = self.nodes.get_mut(&code).unwrap();
                    match &indication {
                        Indication::Connect { connection, .. } => {
                            node.request(now, *connection, ConnectionRequest::Accept(Bytes::new())).unwrap();
                        }
                        // The reset may have ended with the connection.
                        Indication::Reset { connection, .. } => {
                            let _ = node.request(now, *connection, ConnectionRequest::ResetResponse);
                        }
                        _ => {}
                    }
                }
                self.indications.push((code, ssn, indication));
            }
            Output::Wait(_) => {}
        }
    }

    /// Lets time pass, from deadline to deadline.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        self.settle();
        for _ in 0..100_000 {
            let now = self.now;
            let due = self.nodes.values_mut().filter_map(|node| match node.poll_output(now) {
                Output::Wait(due) => due,
                other => panic!("settled, and yet {other:?}"),
            });
            let Some(due) = due.min().filter(|due| *due <= end) else {
                self.now = end;
                return;
            };
            assert!(due > self.now, "a deadline that has passed is dealt with");
            self.now = due;
            self.settle();
        }
        panic!("timers never rest");
    }

    pub(crate) fn indicate(&mut self, code: PointCode, indication: TransferIndication) {
        let now = self.now;
        self.node(code).handle_indication(now, indication);
        self.settle();
    }

    pub(crate) fn unitdata(&mut self, code: PointCode, request: UnitdataRequest) {
        let now = self.now;
        self.node(code).unitdata(now, request).unwrap();
        self.settle();
    }

    /// Takes the indications that users at a node have heard since the last question.
    pub(crate) fn indications(&mut self, code: PointCode) -> Vec<Indication> {
        let (here, elsewhere) = self.indications.drain(..).partition(|(at, ..)| *at == code);
        self.indications = elsewhere;
        let here: Vec<(PointCode, Ssn, Indication)> = here;
        here.into_iter().map(|(.., indication)| indication).collect()
    }

    /// The names of the messages that were sent since the last question.
    pub(crate) fn trace(&mut self) -> Vec<String> {
        let name = |transfer: &Transfer| {
            let message = Message::parse(&transfer.user_data).unwrap();
            let text = format!("{message:?}");
            let name = text.split([' ', '(']).next().unwrap().to_uppercase();
            format!("{}>{} {name}", transfer.label.opc.0, transfer.label.dpc.0)
        };
        self.sent.drain(..).map(|transfer| name(&transfer)).collect()
    }
}

pub(crate) fn at(code: PointCode, ssn: Ssn) -> PartyAddress {
    PartyAddress { routes_on_ssn: true, point_code: Some(code), ssn: Some(ssn), ..PartyAddress::default() }
}

pub(crate) fn own(ssn: Ssn) -> PartyAddress {
    PartyAddress { routes_on_ssn: true, ssn: Some(ssn), ..PartyAddress::default() }
}

pub(crate) fn titled(digits: &str, ssn: Ssn) -> PartyAddress {
    let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse(digits).unwrap());
    PartyAddress { ssn: Some(ssn), global_title: Some(title), ..PartyAddress::default() }
}

pub(crate) fn request(called: PartyAddress, data: impl Into<Bytes>) -> UnitdataRequest {
    UnitdataRequest {
        called,
        calling: own(VLR),
        sequence: None,
        return_on_error: true,
        importance: None,
        data: data.into(),
    }
}

/// A rule that sends all titles that begin so to an entity.
pub(crate) fn rule(digits: &str, code: PointCode, routing: RouteOn) -> (Rule, Group) {
    let name = format!("{digits}-{}", code.0);
    let entity = Entity { point_code: code, ssn: None, routing, weight: 1 };
    let rule = Rule {
        name: name.clone(),
        digits: DigitPattern::parse(digits).unwrap(),
        conditions: Conditions::default(),
        change: TitleChange::default(),
        group: name.clone(),
    };
    (rule, Group { name, sharing: Sharing::Dominant, entities: vec![entity] })
}
