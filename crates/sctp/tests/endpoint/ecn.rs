//! ECN is agreed on in INIT and INIT ACK (RFC 4960, appendix A).

use slantpath_base::Duration;
use slantpath_sctp::chunk::{Cwr, Ecne};
use slantpath_sctp::{Chunk, Input, Parameter, SctpConfig};
use slantpath_wire::ip::{Ecn, IpFields};

use crate::net::{Net, parse, v4};

fn config(ecn: bool) -> SctpConfig {
    SctpConfig { heartbeat_interval: None, sack_frequency: 1, ecn, ..SctpConfig::default() }
}

/// Whether the parameters of the first chunk of a packet offer ECN.
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
