//! Address camping (RFC 5062, section 2): an association that lists an address which is not its peer's must not keep
//! the owner of that address out.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::Abort;
use slantpath_sctp::{AssociationId, Chunk, ConnectOptions, Event, PathState, SctpConfig};

use crate::delivery::restart;
use crate::net::{Net, header, parse, v4};

const VICTIM: usize = 0;
const EVIL: usize = 1;
const SERVER: usize = 2;
/// The attacker has guessed it.
const PORT: u16 = 5_000;

fn evil_address() -> IpAddr {
    v4(1, 66)
}

fn victims() -> [IpAddr; 2] {
    [v4(3, 1), v4(2, 1)]
}

/// A server, a victim with two addresses, and an attacker who lists them as its own. What goes to them reaches the
/// victim.
fn net(victim: &[IpAddr], listed: &[IpAddr]) -> Net {
    let mut net = Net::calm();
    net.add(victim, PORT, SctpConfig::default());
    net.add(&[&[evil_address()], listed].concat(), PORT, SctpConfig::default());
    net.add(&[v4(1, 2)], 2_905, SctpConfig::default());
    net.listen(SERVER);
    net
}

/// The attacker's association is set up. The victim knows nothing of it, else its ABORT would end it: a firewall
/// answers no probes.
fn camp(net: &mut Net) -> AssociationId {
    for address in victims() {
        net.cut(v4(1, 2), address);
    }
    let id = net.connect(EVIL, SERVER);
    net.run_for(Duration::from_millis(100));
    assert_eq!(net.hosts[SERVER].endpoint.association_count(), 1);
    net.mend();
    id
}

/// The server's associations, by the first address of their peers, in the order in which they came.
fn accepted(net: &Net) -> Vec<(IpAddr, AssociationId)> {
    let ids = net.hosts[SERVER].events.iter().filter_map(|(id, event)| match event {
        Event::Established { .. } => Some(*id),
        _ => None,
    });
    ids.filter_map(|id| Some((net.hosts[SERVER].endpoint.peer(id)?.addresses[0], id))).collect()
}

fn state(net: &Net, id: AssociationId, address: IpAddr) -> PathState {
    let association = net.hosts[SERVER].endpoint.association(id).expect("it is established");
    let path = association.path_snapshots(net.now).find(|path| path.destination == address);
    path.expect("the address is the association's").state
}

fn assert_alive(net: &mut Net, host: usize, here: AssociationId, there: AssociationId) {
    let texts = [format!("from {host}"), format!("to {host}")];
    net.send(host, here, 0, texts[0].clone());
    net.send(SERVER, there, 0, texts[1].clone());
    net.run_for(Duration::from_secs(5));
    let at_server: Vec<_> = net.received(SERVER).into_iter().map(|message| message.payload).collect();
    let at_host: Vec<_> = net.received(host).into_iter().map(|message| message.payload).collect();
    assert_eq!((at_server, at_host), (vec![texts[0].clone().into()], vec![texts[1].clone().into()]));
}

#[test]
fn the_owner_of_a_listed_address_gets_its_association_at_once() {
    for listed in [&victims()[..1], &victims()[1..], &victims()] {
        let mut net = net(&victims(), listed);
        camp(&mut net);
        let here = net.connect(VICTIM, SERVER);
        net.run_for(Duration::from_millis(40));
        let [(_, evil), (first, there)] = accepted(&net)[..] else { panic!("{}", net.trace(0)) };
        assert_eq!(first, victims()[0]);
        assert_alive(&mut net, VICTIM, here, there);
        // Both addresses are the victim's, and none the attacker's, whatever comes.
        net.run_for(Duration::from_secs(600));
        for address in victims() {
            assert_eq!(state(&net, there, address), PathState::Active, "{listed:?}");
        }
        if net.hosts[SERVER].endpoint.association(evil).is_some() {
            for address in listed {
                assert_eq!(state(&net, evil, *address), PathState::Unconfirmed);
            }
        }
        assert!(net.hosts[SERVER].endpoint.set_primary(net.now, there, victims()[1]));
        assert_alive(&mut net, VICTIM, here, there);
    }
}

#[test]
fn an_attacker_that_comes_second_does_not_disturb_either() {
    let mut net = net(&victims(), &victims()[1..]);
    let here = net.connect(VICTIM, SERVER);
    // The victim's second address has not been found yet.
    net.run_until(Instant::from_millis(30));
    let [(_, there)] = accepted(&net)[..] else { panic!("{}", net.trace(0)) };
    assert_eq!(state(&net, there, victims()[1]), PathState::Unconfirmed);
    net.connect(EVIL, SERVER);
    net.run_for(Duration::from_secs(30));
    assert_eq!(state(&net, there, victims()[1]), PathState::Active);
    assert_alive(&mut net, VICTIM, here, there);
}

#[test]
fn the_end_of_the_attackers_association_takes_nothing_with_it() {
    let mut net = net(&victims(), &victims());
    let evil = camp(&mut net);
    let here = net.connect(VICTIM, SERVER);
    net.run_for(Duration::from_secs(10));
    let (_, there) = accepted(&net)[1];
    net.abort(EVIL, evil, "enough");
    net.run_for(Duration::from_secs(1));
    net.events(SERVER);
    assert_alive(&mut net, VICTIM, here, there);
}

/// From whichever of its addresses, with the attacker still there or gone.
#[test]
fn the_owner_of_a_listed_address_can_restart() {
    for source in victims() {
        for is_gone in [false, true] {
            let mut net = net(&victims(), &victims());
            let evil = camp(&mut net);
            net.connect(VICTIM, SERVER);
            net.run_for(Duration::from_secs(10));
            let (_, there) = accepted(&net)[1];
            if is_gone {
                net.abort(EVIL, evil, "enough");
                net.run_for(Duration::from_millis(15));
            }
            net.hosts[SERVER].events.clear();
            restart(&mut net, (source, v4(1, 2)), PORT);
            let told: Vec<_> = net.hosts[SERVER].events.drain(..).collect();
            assert_eq!(told, [(there, Event::Restarted)], "from {source}, attacker gone: {is_gone}");
        }
    }
}

#[test]
fn the_server_itself_can_connect_to_an_address_that_is_camped_upon() {
    let mut net = net(&victims()[..1], &victims()[..1]);
    net.listen(VICTIM);
    camp(&mut net);
    let options = ConnectOptions {
        local_port: net.hosts[SERVER].port,
        peer_addresses: vec![victims()[0]],
        peer_port: PORT,
        ..ConnectOptions::default()
    };
    let there = net.hosts[SERVER].endpoint.connect(net.now, &options).expect("nobody has been found there");
    net.drain(SERVER);
    net.run_for(Duration::from_millis(50));
    let here = net.established(VICTIM).expect("the association is established");
    net.events(SERVER);
    net.events(VICTIM);
    assert_alive(&mut net, VICTIM, here, there);
}

/// The server has begun it, and waits for the COOKIE ACK of one who has listed what is not its own.
#[test]
fn the_owner_of_an_address_that_an_init_ack_has_listed_gets_its_association() {
    let mut net = net(&victims(), &victims());
    net.listen(EVIL);
    let options = ConnectOptions {
        local_port: net.hosts[SERVER].port,
        peer_addresses: vec![evil_address()],
        peer_port: PORT,
        ..ConnectOptions::default()
    };
    let evil = net.hosts[SERVER].endpoint.connect(net.now, &options).unwrap();
    net.drain(SERVER);
    net.run_for(Duration::from_millis(10));
    net.cut(v4(1, 2), evil_address());
    net.run_for(Duration::from_millis(15));
    let here = net.connect(VICTIM, SERVER);
    net.run_for(Duration::from_millis(40));
    let [(first, there)] = accepted(&net)[..] else { panic!("{}", net.trace(0)) };
    assert_eq!((first, there == evil), (victims()[0], false), "the setup with the attacker is another");
    assert_eq!(net.hosts[SERVER].endpoint.association_count(), 2);
    assert_alive(&mut net, VICTIM, here, there);
}

/// The attacker has listed it first, and the victim has not been found there either: it is known by its tag.
#[test]
fn data_from_an_address_that_two_have_listed_belongs_to_whose_tag_it_has() {
    let mut net = net(&victims(), &victims()[1..]);
    camp(&mut net);
    net.cut(v4(1, 2), victims()[1]);
    let here = net.connect(VICTIM, SERVER);
    net.run_for(Duration::from_millis(40));
    let (_, there) = accepted(&net)[1];
    assert_eq!(state(&net, there, victims()[1]), PathState::Unconfirmed);
    net.events(SERVER);
    net.send(VICTIM, here, 0, "from its other address");
    net.drop_under_way();
    let packet = net.sent.last().unwrap().packet.clone();
    net.inject((victims()[1], v4(1, 2)), packet);
    assert_eq!(net.received(SERVER).len(), 1);
}

/// The tags of an association of the server: its own, and its peer's.
fn tags(net: &Net, id: AssociationId) -> (u32, u32) {
    let association = net.hosts[SERVER].endpoint.association(id).expect("it is established");
    (association.local_tag().0, association.peer_tag().0)
}

#[test]
fn an_address_that_nobody_has_been_found_at_stays_with_the_first_that_has_listed_it() {
    let mut net = net(&victims(), &victims());
    camp(&mut net);
    let second = net.add(&[&[v4(1, 67)], &victims()[..]].concat(), PORT, SctpConfig::default());
    for address in victims() {
        net.cut(v4(1, 2), address);
    }
    net.connect(second, SERVER);
    net.run_for(Duration::from_millis(100));
    let [(_, first), (_, second)] = accepted(&net)[..] else { panic!("{}", net.trace(0)) };
    net.hosts[SERVER].events.clear();
    // An ABORT with the peer's tag belongs to whom its address is laid to.
    for id in [second, first] {
        let abort = Chunk::Abort(Abort { is_tag_reflected: true, causes: Vec::new() });
        let header = header(PORT, 2_905, tags(&net, id).1);
        net.inject_chunks((victims()[0], v4(1, 2)), header, &[abort]);
    }
    let told: Vec<_> = net.hosts[SERVER].events.iter().map(|(id, _)| *id).collect();
    assert_eq!(told, [first]);
}

/// The attacker sees what goes to the victim, and so answers the probe of its own association.
#[test]
fn who_has_been_found_at_an_address_keeps_it_against_another_that_seems_to_be_there() {
    let mut net = net(&victims(), &victims()[1..]);
    let other = victims()[1];
    net.cut(v4(1, 2), other);
    for host in [VICTIM, EVIL] {
        net.connect(host, SERVER);
        net.run_for(Duration::from_millis(100));
    }
    let [(_, there), (_, evil)] = accepted(&net)[..] else { panic!("{}", net.trace(0)) };
    for (id, sources) in [(there, &[other][..]), (evil, &[evil_address(), other])] {
        let (own_tag, peer_tag) = tags(&net, id);
        let probe = net.sent.iter().filter(|sent| sent.route.1 == other).rev().find_map(|sent| {
            let (header, chunks) = parse(&sent.packet);
            match &chunks[..] {
                [Chunk::Heartbeat(probe)] if header.verification_tag.0 == peer_tag => Some(probe.clone()),
                _ => None,
            }
        });
        let answer = Chunk::HeartbeatAck(probe.expect("the address is probed").into_ack());
        for source in sources {
            let header = header(PORT, 2_905, own_tag);
            net.inject_chunks((*source, v4(1, 2)), header, std::slice::from_ref(&answer));
        }
        assert_eq!(state(&net, id, other), PathState::Active);
    }
    net.hosts[SERVER].events.clear();
    restart(&mut net, (other, v4(1, 2)), PORT);
    let told: Vec<_> = net.hosts[SERVER].events.drain(..).collect();
    assert_eq!(told, [(there, Event::Restarted)]);
}
