//! SCCP of one node.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{NetworkIndicator, RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::sccp::gtt::{
    Conditions, DigitPattern, Entity, Group, RouteOn, Rule, Sharing, TitleChange, Translator,
};
use slantpath_ss7::sccp::{
    self, ConnectionLimits, ConnectionRequest, NodeConfig, PartyAddress, ReassemblyLimits, Remote, Ssn,
    Subsystem,
};
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication, UserPartUnavailability};

/// Largest number of connections of a node in this body, with the references that are frozen.
const REFERENCES: usize = 16;
const REASSEMBLY: ReassemblyLimits = ReassemblyLimits { messages: 4, octets: 4_000 };

fn config() -> NodeConfig {
    let (own, other) = (PointCode(1), PointCode(2));
    let mut config = NodeConfig::new(own, NetworkIndicator::National);
    config.remotes.insert(other, Remote { subsystems: [Ssn(6)].into(), ..Remote::default() });
    config.subsystems.insert(Ssn(6), Subsystem { concerned: [other].into(), backup: Some(other) });
    let entity = |point_code, routing| Entity { point_code, ssn: None, routing, weight: 1 };
    let entities = vec![entity(own, RouteOn::Ssn), entity(other, RouteOn::GlobalTitle)];
    let groups = vec![Group { name: "both".into(), sharing: Sharing::Turns, entities }];
    let rules = vec![Rule {
        name: "all".into(),
        digits: DigitPattern::parse("*").expect("a pattern"),
        conditions: Conditions::default(),
        change: TitleChange::default(),
        group: "both".into(),
    }];
    config.translator = Translator::new(rules, groups).expect("the table is whole");
    config.connections = ConnectionLimits { references: REFERENCES, ..ConnectionLimits::default() };
    config.reassembly = REASSEMBLY;
    config
}

/// Messages, requests and time in the order that the bytes say, each record a kind, a length and its bytes: whatever
/// comes, what the node sends can be read, and what it holds stays within its bounds.
pub fn node(data: &[u8]) {
    let mut node = sccp::Node::new(config()).expect("the configuration is whole");
    let mut now = Instant::START;
    let mut rest = data;
    let label = RoutingLabel { dpc: PointCode(1), opc: PointCode(2), sls: Sls(0) };
    while let [kind, len, after @ ..] = rest {
        let (bytes, next) = after.split_at(usize::from(*len).min(after.len()));
        rest = next;
        let first = bytes.first().copied().unwrap_or(0);
        let id = sccp::ConnectionId(u64::from(first % 32));
        let value = Bytes::copy_from_slice(bytes);
        // What is not possible now is refused: the answer itself is of no interest here.
        match kind % 12 {
            0 => {
                let _ = node.set_subsystem(now, Ssn(6), first & 1 == 0);
            }
            1 => {
                let _ = node.request(now, id, ConnectionRequest::Accept(value));
            }
            2 => {
                let _ = node.request(now, id, ConnectionRequest::Data(value));
            }
            3 => {
                let _ = node.request(now, id, ConnectionRequest::Disconnect(value));
            }
            4 => {
                let _ = node.request(now, id, ConnectionRequest::ExpeditedData(value));
            }
            5 => {
                let _ = node.request(now, id, ConnectionRequest::Reset);
            }
            6 => {
                let _ = node.request(now, id, ConnectionRequest::ResetResponse);
            }
            7 => now = now.saturating_add(Duration::from_secs(u64::from(first))),
            8 => {
                let affected = PointCode(2);
                let cause = StatusCause::Congestion(1);
                let unavailable = StatusCause::UserPartUnavailable {
                    user: ServiceIndicator::SCCP,
                    reason: UserPartUnavailability::Unknown,
                };
                node.handle_indication(
                    now,
                    match first % 4 {
                        0 => TransferIndication::Pause(affected),
                        1 => TransferIndication::Resume(affected),
                        2 => TransferIndication::Status { affected, cause },
                        _ => TransferIndication::Status { affected, cause: unavailable },
                    },
                );
            }
            9 => {
                let called = PartyAddress::parse(bytes).unwrap_or_default();
                let calling = PartyAddress { ssn: Some(Ssn(6)), ..PartyAddress::default() };
                let (with_flow_control, importance) = (first & 1 == 0, None);
                let data = Bytes::new();
                let request = sccp::ConnectRequest { called, calling, with_flow_control, importance, data };
                let _ = node.connect(now, request);
            }
            10 => {
                let _ = node.coord_request(now, Ssn(6));
            }
            _ => {
                let service = ServiceInformation::from_octet(0x83);
                let transfer = Transfer { service, label, user_data: value };
                node.handle_indication(now, TransferIndication::Transfer(transfer));
            }
        }
        drain(&mut node, now);
        assert!(node.connections() <= REFERENCES);
        assert!(node.reassembly_octets() <= REASSEMBLY.octets);
    }
}

fn drain(node: &mut sccp::Node, now: Instant) {
    // A record has at most 255 octets, and each can lead to some messages only.
    for _ in 0..4_096 {
        match node.poll_output(now) {
            sccp::Output::Transfer(transfer) => {
                let message = sccp::Message::parse(&transfer.user_data).expect("what is sent can be read");
                let mut written = Vec::new();
                message.emit(&mut written).expect("what was read can be written");
                assert_eq!(written, transfer.user_data);
            }
            sccp::Output::Indication { .. } => {}
            sccp::Output::Wait(deadline) => {
                assert!(deadline.is_none_or(|deadline| deadline > now));
                return;
            }
        }
    }
    panic!("the outputs of one record never end");
}
