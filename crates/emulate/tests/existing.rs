//! Ports of a machine and namespaces that exist, with a network between that keeps every frame for 10 ms. Needs root.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Time;

use slantpath_base::{Duration, Instant};
use slantpath_emulate::frames::is_counted_as_dropped;
use slantpath_emulate::{
    DoorCounters, Doors, ExistingPlace, Incoming, InterfaceConfig, Lab, PlaceConfig, PlaceError, build_places,
};
use slantpath_system::clock::monotonic;
use slantpath_system::netlink::{KernelRoute, Netlink, Veth};
use slantpath_system::network::{NetNamespace, interface_drops, write_setting};
use slantpath_system::packet::PacketSocket;
use slantpath_wire::{Packet, checksum};

const DELAY: Duration = Duration::from_millis(10);
/// Longer than anything takes here that does not hang.
const LIMIT: Time = Time::from_secs(30);
const LATE: Duration = Duration::from_secs(60);
/// Least time of a handshake: there and back.
const HANDSHAKE: Time = Time::from_millis(20);
/// Least time of one behind a question for the neighbour, which passes as well.
const BEHIND_A_QUESTION: Time = Time::from_millis(40);
const HERE: [u8; 6] = [2, 0, 0, 1, 0, 1];
const THERE: [u8; 6] = [2, 0, 0, 1, 0, 2];

/// A new namespace, or none where the machine refuses it.
fn namespace() -> Option<Arc<NetNamespace>> {
    let made = NetNamespace::new().and_then(|made| {
        made.run(|| Netlink::open().and_then(|mut link| link.set_up("lo").map_err(std::io::Error::other)))?
            .expect("its loopback");
        Ok(made)
    });
    match made {
        Ok(made) => Some(Arc::new(made)),
        Err(error) => {
            eprintln!("SKIPPED: ports and namespaces that exist: {error}");
            None
        }
    }
}

/// Joins the interface `own` of one namespace to `far` of another.
fn join(network: &NetNamespace, own: &str, mac: [u8; 6], equipment: &NetNamespace) {
    let wired = network.run(|| {
        write_setting("ipv6/conf/default/disable_ipv6", "1").expect("a setting");
        let mut link = Netlink::open().expect("a socket");
        let veth = Veth {
            name: own,
            address: [2, 0, 0, 1, 0, 9],
            peer: "far",
            peer_address: mac,
            peer_namespace: equipment.as_fd(),
            mtu: 1_500,
            gso_max_size: 65_536,
        };
        link.add_veth(&veth).and_then(|()| link.set_up(own)).expect("a wire");
    });
    wired.expect("a namespace");
    let up = equipment.run(|| {
        write_setting("ipv6/conf/far/disable_ipv6", "1").expect("a setting");
        let mut link = Netlink::open().expect("a socket");
        let last = mac[5];
        link.add_address("far", [10, 9, 0, last].into(), 24).expect("an address");
        link.set_up("far").expect("it is up");
        assert!(link.wait_until_running("far", LIMIT).expect("its news"));
    });
    up.expect("a namespace");
}

fn node(name: &str, addresses: [[u8; 4]; 2], existing: Option<ExistingPlace>) -> PlaceConfig {
    let [own, other] = addresses.map(IpAddr::from);
    let interface = InterfaceConfig {
        link: "wire".to_owned(),
        addresses: vec![own],
        mtu_bytes: 1_500,
        other_end: vec![other],
        carries_frames: true,
    };
    let name = name.to_owned();
    PlaceConfig { name, existing, interfaces: vec![interface], reaches: Vec::new(), tcp_buffers: [None; 2] }
}

fn port(name: &str, interface: &str, network: &Arc<NetNamespace>) -> PlaceConfig {
    let by_link = BTreeMap::from([("wire".to_owned(), interface.to_owned())]);
    let network = Arc::clone(network);
    node(name, [[192, 0, 2, 1], [192, 0, 2, 2]], Some(ExistingPlace::Ports { by_link, network }))
}

/// Lets what comes pass between two doors until `use_it` is over. Gives the counts of each.
fn relayed(
    inside: &NetNamespace,
    nodes: &[PlaceConfig],
    use_it: impl FnOnce(&Lab) + Send,
) -> [DoorCounters; 2] {
    let relayed = inside.run(|| {
        let mut lab = build_places(nodes).expect("places");
        let mut doors = Doors::open(std::mem::take(&mut lab.doors), LATE).expect("doors");
        let is_over = AtomicBool::new(false);
        doors.start();
        thread::scope(|scope| {
            let user = scope.spawn(|| {
                use_it(&lab);
                is_over.store(true, Ordering::Relaxed);
            });
            let mut waiting: VecDeque<(Instant, usize, Packet)> = VecDeque::new();
            let mut now = Instant::START;
            while !is_over.load(Ordering::Relaxed) && !user.is_finished() {
                let next = waiting.front().map(|(at, ..)| *at);
                let mut take = |Incoming { door, at, packet }: Incoming| {
                    waiting.push_back((at + DELAY, 1 - door, packet));
                };
                now = doors.turn(now, next, Duration::ZERO, &mut take).expect("a turn");
                while let Some((at, door, frame)) = waiting.pop_front_if(|(at, ..)| *at <= now) {
                    doors.depart(door, at, frame).expect("it leaves");
                }
            }
            user.join().expect("what was to be seen");
        });
        let reports = doors.reports().expect("reports");
        [reports[0].counters, reports[1].counters]
    });
    relayed.expect("a namespace")
}

/// The next connection; a test whose way does not work ends all the same.
fn accepted(listener: &TcpListener) -> TcpStream {
    let end = monotonic() + LIMIT;
    listener.set_nonblocking(true).expect("a setting");
    while monotonic() < end {
        if let Ok((peer, _)) = listener.accept() {
            peer.set_nonblocking(false).expect("a setting");
            peer.set_read_timeout(Some(LIMIT)).expect("a limit");
            return peer;
        }
        thread::yield_now();
    }
    panic!("nobody has called");
}

/// Sends a million bytes from one network to another over TCP.
fn transfer(from: &NetNamespace, to: &NetNamespace, address: impl Into<IpAddr>, least: Time) {
    const BYTES: usize = 1_000_000;
    let address = SocketAddr::new(address.into(), 7_000);
    let listener = to.run(|| TcpListener::bind(address).expect("a port")).expect("a namespace");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = accepted(&listener);
            let mut received = vec![0; BYTES];
            peer.read_exact(&mut received).expect("all of it");
            peer.write_all(&[7]).expect("an answer");
        });
        let begin = monotonic();
        let mut stream =
            from.run(|| TcpStream::connect_timeout(&address, LIMIT).expect("a way")).expect("a namespace");
        assert!(monotonic() >= begin + least);
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        stream.write_all(&vec![1; BYTES]).expect("room");
        stream.read_exact(&mut [0]).expect("an answer");
    });
}

/// Equipment at subnet `number`, whose gateway is the other end of its link: what is behind a port of IP.
fn equipment(
    machine: &Arc<NetNamespace>,
    number: u8,
    mac: [u8; 6],
) -> Option<(Arc<NetNamespace>, PlaceConfig)> {
    let equipment = namespace()?;
    let interface = format!("eth{number}");
    join(machine, &interface, mac, &equipment);
    let at = |last: u8| {
        [
            IpAddr::from([10, number, 0, last]),
            IpAddr::from([0xfd00 | u16::from(number), 0, 0, 0, 0, 0, 0, last.into()]),
        ]
    };
    equipment
        .run(|| {
            write_setting("ipv6/conf/far/disable_ipv6", "0").expect("a setting");
            let mut link = Netlink::open().expect("a socket");
            for ((address, gateway), len) in at(2).into_iter().zip(at(1)).zip([24, 64]) {
                link.add_address("far", address, len).expect("an address");
                let any = if address.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
                let (interface, gateway) = ("far", Some(gateway));
                let route =
                    KernelRoute { destination: (any, 0), gateway, interface, source: None, metric: None };
                link.add_route(&route).expect("a route");
            }
        })
        .expect("a namespace");
    let mut config = port(&interface, &interface, machine);
    let interface = &mut config.interfaces[0];
    (interface.addresses, interface.other_end) = (at(2).to_vec(), at(1).to_vec());
    interface.carries_frames = false;
    Some((equipment, config))
}

#[test]
fn equipment_behind_ports_of_ip_is_reached_over_both_versions() {
    let (Some(machine), Some(inside)) = (namespace(), namespace()) else { return };
    let (left, first) = equipment(&machine, 1, HERE).expect("a namespace");
    let (right, second) = equipment(&machine, 2, THERE).expect("a namespace");
    let counts = relayed(&inside, &[first, second], |_| {
        transfer(&left, &right, [10, 2, 0, 2], HANDSHAKE);
        transfer(&right, &left, [0xfd01, 0, 0, 0, 0, 0, 0, 2], HANDSHAKE);
    });
    assert!(counts.iter().all(|count| count.packets_in > 100 && count.packets_out > 100), "{counts:?}");
}

#[test]
fn a_station_that_does_not_answer_is_asked_for_again_and_what_it_is_sent_is_counted() {
    let (Some(machine), Some(inside)) = (namespace(), namespace()) else { return };
    let (left, first) = equipment(&machine, 1, HERE).expect("a namespace");
    let (right, mut second) = equipment(&machine, 2, THERE).expect("a namespace");
    // Nobody has this address there.
    let missing = IpAddr::from([10, 2, 0, 9]);
    second.interfaces[0].addresses = vec![missing];
    let counts = relayed(&inside, &[first, second], |_| {
        let mut receiver = right
            .run(|| PacketSocket::open("far", 1 << 20, 1_600, true).expect("a socket"))
            .expect("a namespace");
        let sender = left.run(|| UdpSocket::bind(("0.0.0.0", 0)).expect("a port")).expect("a namespace");
        sender.send_to(b"anybody?", (missing, 9)).expect("it is sent");
        // The second question comes a second later: what was sent has long arrived then.
        for _ in 0..2 {
            let (_, question) = next_frame(&mut receiver, [0x08, 0x06]);
            let asked = [&[0, 1][..], &question[22..28], &[10, 2, 0, 1], &[0; 6], &[10, 2, 0, 9]].concat();
            assert_eq!(question[20..42], asked);
        }
    });
    assert_eq!(counts.map(|count| (count.packets_in, count.unresolved)), [(1, 0), (0, 1)], "{counts:?}");
}

/// The next frame of this type, with its tag.
fn next_frame(socket: &mut PacketSocket, kind: [u8; 2]) -> (Option<(u16, u16)>, Vec<u8>) {
    let end = monotonic() + LIMIT;
    while monotonic() < end {
        if let Some(frame) = socket.receive()
            && frame.bytes().get(12..14) == Some(&kind[..])
        {
            return (frame.vlan(), frame.bytes().to_vec());
        }
        thread::yield_now();
    }
    panic!("no frame of {kind:x?} has come");
}

#[test]
fn a_box_between_two_ports_passes_whatever_comes_and_changes_nothing_of_them() {
    let (Some(machine), Some(left), Some(right), Some(inside)) =
        (namespace(), namespace(), namespace(), namespace())
    else {
        return;
    };
    join(&machine, "eth1", HERE, &left);
    join(&machine, "eth2", THERE, &right);
    let nodes = [port("left", "eth1", &machine), port("right", "eth2", &machine)];
    let before = machine.run(|| Netlink::open().unwrap().link_state("eth1").unwrap()).unwrap();
    let counts = relayed(&inside, &nodes, |lab| {
        assert!(lab.places.is_empty() && lab.notes.is_empty(), "{:?}", lab.notes);
        let open = || PacketSocket::open("far", 1 << 20, 1_600, true).expect("a socket");
        let sender = left.run(open).expect("a namespace");
        let mut receiver = right.run(open).expect("a namespace");
        let group = [0x01, 0x80, 0xc2, 0, 0, 0x0e];
        let frame = |tags: &[u8], kind: [u8; 2]| [&group[..], &HERE, tags, &kind, &[5; 46]].concat();
        for (tags, kind, vlan) in [
            (&[][..], [0x88, 0xcc], None),
            (&[0x81, 0x00, 0xa0, 0x64], [0x88, 0xb5], Some((0x8100, 0xa064))),
            (&[0x88, 0xa8, 0x20, 0x07], [0x88, 0xb6], Some((0x88a8, 0x2007))),
        ] {
            assert!(sender.send(&[0; 10], &frame(tags, kind)).expect("it is sent"));
            assert_eq!(next_frame(&mut receiver, kind), (vlan, frame(&[], kind)));
        }
        transfer(&left, &right, [10, 9, 0, 2], BEHIND_A_QUESTION);
        // Nobody else may have a port meanwhile.
        let other = NetNamespace::new().expect("another").run(|| build_places(&nodes).err());
        let told = other.expect("a namespace").as_ref().map(PlaceError::to_string);
        let expected = "port `eth1` of `left`: another emulation has it: end that, or name another port";
        assert_eq!(told.as_deref(), Some(expected));
    });
    assert!(counts.iter().all(|count| count.packets_in > 100), "{counts:?}");
    let after = machine.run(|| Netlink::open().unwrap().link_state("eth1").unwrap()).unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_namespace_that_exists_gets_an_interface_which_ends_with_the_emulation() {
    let (Some(container), Some(inside)) = (namespace(), namespace()) else { return };
    let existing = Some(ExistingPlace::Namespace(Arc::clone(&container)));
    let nodes = [
        node("container", [[10, 8, 0, 1], [10, 8, 0, 2]], existing),
        node("place", [[10, 8, 0, 2], [10, 8, 0, 1]], None),
    ];
    relayed(&inside, &nodes, |lab| {
        transfer(&container, &lab.places[1].network, [10, 8, 0, 2], BEHIND_A_QUESTION);
    });
    let state = || container.run(|| Netlink::open().unwrap().link_state("wire")).unwrap();
    assert!(state().is_ok_and(|state| state.is_up && state.addresses == [IpAddr::from([10, 8, 0, 1])]));
    // As when its process ends, however that does.
    drop(inside);
    let end = monotonic() + LIMIT;
    while state().is_ok() {
        assert!(monotonic() < end, "the interface is still there");
        thread::yield_now();
    }
}

#[test]
fn a_namespace_is_attached_again_at_once_when_an_emulation_has_ended() {
    let Some(container) = namespace() else { return };
    let nodes = || {
        let existing = Some(ExistingPlace::Namespace(Arc::clone(&container)));
        [
            node("container", [[10, 8, 0, 1], [10, 8, 0, 2]], existing),
            node("place", [[10, 8, 0, 2], [10, 8, 0, 1]], None),
        ]
    };
    // The kernel has not taken the last one's interface away when the next one makes its own.
    for _ in 0..10 {
        let Some(inside) = namespace() else { return };
        let lab = inside.run(|| build_places(&nodes())).expect("a namespace").expect("its places");
        assert_eq!(lab.doors.len(), 2);
        // Programs may send at once: neither end is still to come to its carrier.
        for place in &lab.places {
            let running = || Netlink::open().unwrap().wait_until_running("wire", Time::ZERO).unwrap();
            assert!(place.network.run(running).unwrap(), "{}", place.name);
        }
    }
}

#[test]
fn a_port_that_is_not_fit_is_refused_with_its_cure() {
    let (Some(machine), Some(equipment), Some(inside)) = (namespace(), namespace(), namespace()) else {
        return;
    };
    join(&machine, "eth1", HERE, &equipment);
    let refusal = |interface: &str, mtu_bytes: u32| {
        let mut own = port("left", interface, &machine);
        own.interfaces[0].mtu_bytes = mtu_bytes;
        let built = inside.run(|| build_places(&[own]).err()).expect("a namespace");
        built.map_or_else(String::new, |error| error.to_string())
    };
    for (interface, mtu_bytes, told) in [
        ("eth1", 1_500, ""),
        (
            "eth1",
            1_600,
            "its MTU is 1500 bytes, and its link has one of 1600: `ip link set eth1 mtu 1600`, or",
        ),
        (
            "lo",
            1_500,
            "the machine has the address 127.0.0.1 there, and would answer beside whoever is behind",
        ),
        ("eth7", 1_500, "port `eth7` of `left`: look at the link eth7: interface `eth7`: No such device"),
    ] {
        let refused = refusal(interface, mtu_bytes);
        assert!(refused.contains(told) && refused.is_empty() == told.is_empty(), "{refused}");
    }
    let address = |mut link: Netlink| link.add_address("eth1", [10, 9, 0, 7].into(), 24);
    machine.run(|| Netlink::open().map(address).unwrap().unwrap()).unwrap();
    assert!(refusal("eth1", 1_500).contains("`ip address flush dev eth1`, or name another port"));
}

/// An IPv4 packet of UDP without a checksum.
fn datagram() -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 30, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    let sum = checksum::internet([&packet[..]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend([0, 1, 0, 2, 0, 10, 0, 0, 7, 8]);
    packet
}

#[test]
fn a_port_whose_link_carries_ip_reads_nothing_of_a_virtual_lan() {
    let (Some(machine), Some(equipment), Some(inside)) = (namespace(), namespace(), namespace()) else {
        return;
    };
    join(&machine, "eth1", HERE, &equipment);
    let mut own = port("left", "eth1", &machine);
    own.interfaces[0].carries_frames = false;
    let (came, unreadable, learned) = inside
        .run(|| {
            let mut lab = build_places(&[own]).expect("a port");
            let door = lab.doors[0].own.0;
            let mut doors = Doors::open(std::mem::take(&mut lab.doors), LATE).expect("doors");
            doors.start();
            let open = || PacketSocket::open("far", 1 << 20, 1_600, true).expect("a socket");
            let sender = equipment.run(open).expect("a namespace");
            let frame = |source: [u8; 6], tags: &[u8]| {
                [&door[..], &source, tags, &[0x08, 0x00], &datagram()].concat()
            };
            let other = [2, 0, 0, 1, 0, 7];
            assert!(sender.send(&[0; 10], &frame(HERE, &[])).expect("it is sent"));
            for _ in 0..3 {
                assert!(sender.send(&[0; 10], &frame(other, &[0x81, 0x00, 0, 9])).expect("it is sent"));
            }
            let (mut came, mut now) = (Vec::new(), Instant::START);
            let end = monotonic() + LIMIT;
            let counters = loop {
                let mut take = |Incoming { packet, .. }: Incoming| came.push(packet.observed());
                now = doors.turn(now, None, Duration::ZERO, &mut take).expect("a turn");
                let counters = doors.reports().expect("reports")[0].counters;
                if counters.packets_in + counters.unreadable >= 4 {
                    break counters;
                }
                assert!(monotonic() < end, "{counters:?}");
            };
            // A packet to the station goes to the address that was learned.
            let mut receiver = equipment.run(open).expect("a namespace");
            doors.depart(0, now, datagram().into()).expect("it leaves");
            doors.turn(now, None, Duration::ZERO, &mut |_| {}).expect("a turn");
            let (_, learned) = next_frame(&mut receiver, [0x08, 0x00]);
            (came, counters.unreadable, learned[..6].to_vec())
        })
        .expect("a namespace");
    assert_eq!((came, unreadable), (vec![datagram()], 3));
    assert_eq!(learned, HERE);
}

#[test]
fn drops_that_the_kernel_counts_beside_a_socket_are_those_that_are_told_of_its_frames() {
    let (Some(machine), Some(equipment)) = (namespace(), namespace()) else { return };
    join(&machine, "eth1", HERE, &equipment);
    let open = |interface: &'static str| move || PacketSocket::open(interface, 1 << 20, 1_600, true);
    let sender = equipment.run(open("far")).expect("a namespace").expect("a socket");
    let mut receiver = machine.run(open("eth1")).expect("a namespace").expect("a socket");
    let drops = || machine.run(interface_drops).expect("a namespace").expect("a table")["eth1"].received;
    let before = drops();
    let mut expected = 0;
    // Those that count come last: with them all are counted.
    for tags in [&[][..], &[0x81, 0x00, 0, 9], &[0x88, 0xa8, 0, 7]] {
        for destination in [[0x01, 0x80, 0xc2, 0, 0, 0x0e], [2, 0, 0, 1, 0, 9]] {
            // Of LLC some kernels have a protocol.
            for kind in [[0x08, 0x00], [0x86, 0xdd], [0x08, 0x06], [0x88, 0xcc]] {
                let frame = [&destination[..], &HERE, tags, &kind, &[0; 46]].concat();
                assert!(sender.send(&[0; 10], &frame).expect("it is sent"));
                let (vlan, bytes) = next_frame(&mut receiver, kind);
                expected += u64::from(is_counted_as_dropped(&bytes, vlan.is_some()));
            }
        }
    }
    assert_eq!(expected, 4);
    let end = monotonic() + LIMIT;
    while drops() - before < expected {
        assert!(monotonic() < end, "{} of {expected}", drops() - before);
        thread::yield_now();
    }
    assert_eq!(drops() - before, expected);
}
