//! ECN is agreed on in INIT and INIT ACK (RFC 4960, appendix A).

use std::collections::BTreeSet;
use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::chunk::{Cwr, Ecne, kind};
use slantpath_sctp::{Chunk, CommonHeader, Input, Parameter, SctpConfig, Tsn, VerificationTag};
use slantpath_wire::ip::{Ecn, IpFields};

use crate::net::{Net, Sent, parse, v4};

fn config(ecn: bool) -> SctpConfig {
    SctpConfig { heartbeat_interval: None, sack_frequency: 1, ecn, ..SctpConfig::default() }
}

/// Tells if the parameters of the first chunk of a packet offer ECN.
fn offers(net: &Net, ordinal: usize) -> bool {
    let (Chunk::Init(init), Chunk::InitAck(init_ack)) =
        (&parse(&net.sent[0].packet).1[0], &parse(&net.sent[1].packet).1[0])
    else {
        panic!("no handshake")
    };
    [&init.parameters, &init_ack.parameters][ordinal].contains(&Parameter::EcnCapable)
}

/// Two hosts that have an association.
fn two(ecn: [bool; 2]) -> (Net, usize, usize) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config(ecn[0]));
    let z = net.add(&[v4(1, 2)], 2_905, config(ecn[1]));
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    (net, a, z)
}

#[test]
fn it_is_used_where_both_ends_offer_it_and_nowhere_else() {
    for (ecn, offered, is_used) in [
        ([true, true], [true, true], true),
        ([true, false], [true, false], false),
        ([false, true], [false, false], false),
        ([false, false], [false, false], false),
    ] {
        let (mut net, a, z) = two(ecn);
        assert_eq!([0, 1].map(|ordinal| offers(&net, ordinal)), offered, "{ecn:?}");
        assert!(
            net.sent.iter().all(|sent| sent.ip.ecn == Ecn::NotCapable),
            "nothing of a handshake may be marked"
        );
        for (from, to) in [(a, z), (z, a)] {
            let id = net.established(from).unwrap();
            let first = net.sent.len();
            net.lose(first);
            net.send(from, id, 0, "data");
            let expected = if is_used { Ecn::Capable0 } else { Ecn::NotCapable };
            assert_eq!(net.sent[first].ip.ecn, expected, "{ecn:?}");
            // It comes with a mark.
            let (source, destination) = net.sent[first].route;
            let packet = net.sent[first].packet.clone();
            let ip = IpFields { ecn: Ecn::CongestionExperienced, ..IpFields::default() };
            let now = net.now;
            net.hosts[to].endpoint.handle_input(now, Input::Packet { source, destination, ip, packet });
            net.drain(to);
            net.run_for(Duration::from_millis(500));
            let tsn = match &parse(&net.sent[first].packet).1[..] {
                [Chunk::Data(data)] => data.tsn,
                other => panic!("{other:?}"),
            };
            let (_, answer) = parse(&net.sent[first + 1].packet);
            let echo = Chunk::Ecne(Ecne { lowest_tsn: tsn });
            assert_eq!(answer.contains(&echo), is_used, "{ecn:?}");
            let reduced = Chunk::Cwr(Cwr { lowest_tsn: tsn });
            let has_answer =
                net.sent[first + 2..].iter().any(|sent| parse(&sent.packet).1.contains(&reduced));
            assert_eq!(has_answer, is_used, "{ecn:?}");
        }
    }
}

/// Packets that an address has sent: the kinds of their chunks, and the ECN fields of the packets.
fn said(net: &Net, from: IpAddr) -> BTreeSet<(Vec<u8>, u8)> {
    let of = |sent: &Sent| (parse(&sent.packet).1.iter().map(Chunk::kind).collect(), sent.ip.ecn as u8);
    net.sent.iter().filter(|sent| sent.route.0 == from).map(of).collect()
}

#[test]
fn nothing_but_new_data_may_be_marked_whatever_field_the_configuration_has() {
    for is_agreed in [true, false] {
        let ip = IpFields { ecn: Ecn::Capable1, ..IpFields::default() };
        let mut net = Net::calm();
        let beats = SctpConfig { heartbeat_interval: Some(Duration::from_secs(3)), ip, ..config(true) };
        let a = net.add(&[v4(1, 1)], 5_000, beats.clone());
        let z = net.add(&[v4(1, 2)], 2_905, SctpConfig { ecn: is_agreed, ..beats });
        net.listen(z);
        let id = net.connect(a, z);
        net.run_for(Duration::from_secs(1));
        net.send(a, id, 0, "data");
        let at_z = net.established(z).expect("an association");
        net.send(z, at_z, 0, "data");
        net.run_for(Duration::from_secs(9));
        net.shutdown(a, id);
        net.run_for(Duration::from_secs(1));
        // What belongs to no association is answered, too.
        let stray =
            CommonHeader { source_port: 9, destination_port: 5_000, verification_tag: VerificationTag(7) };
        net.inject_chunks((v4(1, 2), v4(1, 1)), stray, &[Chunk::Cwr(Cwr { lowest_tsn: Tsn(1) })]);
        let of_data = if is_agreed { Ecn::Capable0 } else { Ecn::NotCapable };
        let expected = [
            (vec![kind::DATA], of_data as u8),
            (vec![kind::INIT], 0),
            (vec![kind::SACK], 0),
            (vec![kind::HEARTBEAT], 0),
            (vec![kind::HEARTBEAT_ACK], 0),
            (vec![kind::ABORT], 0),
            (vec![kind::SHUTDOWN], 0),
            (vec![kind::COOKIE_ECHO], 0),
            (vec![kind::SHUTDOWN_COMPLETE], 0),
        ];
        assert_eq!(said(&net, v4(1, 1)), BTreeSet::from(expected), "{is_agreed}");
        // Without ECN in its configuration an end sends what that says, and all the same.
        let of_z = said(&net, v4(1, 2)).into_iter().map(|(_, ecn)| ecn).collect::<BTreeSet<_>>();
        let expected = if is_agreed { vec![0, Ecn::Capable0 as u8] } else { vec![Ecn::Capable1 as u8] };
        assert_eq!(of_z, expected.into_iter().collect(), "{is_agreed}");
    }
}
