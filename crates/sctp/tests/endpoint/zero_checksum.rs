//! Packets without a checksum between two ends that have agreed on what stands in for it (RFC 9653).

use core::num::NonZeroU32;

use slantpath_base::Duration;
use slantpath_sctp::chunk::{AddressChange, Data, DataFlags, kind};
use slantpath_sctp::{
    Chunk, CommonHeader, ErrorDetectionMethod, Extension, Extensions, Ppid, SctpConfig, StreamId,
    StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::{Checksum, Packet};

use crate::net::{Net, packet_of, parse, v4};

fn config(method: u32) -> SctpConfig {
    let zero_checksum = NonZeroU32::new(method).map(ErrorDetectionMethod);
    SctpConfig { heartbeat_interval: None, sack_frequency: 1, zero_checksum, ..SctpConfig::default() }
}

fn two(methods: [u32; 2]) -> (Net, usize, usize) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config(methods[0]));
    let z = net.add(&[v4(1, 2)], 2_905, config(methods[1]));
    net.listen(z);
    net.connect(a, z);
    net.run_for(Duration::from_secs(1));
    (net, a, z)
}

/// Type of the first chunk of each packet that was sent, and `true` if the packet lacks its checksum.
fn lacking(net: &Net) -> Vec<(u8, bool)> {
    let packets = net.sent.iter().map(|sent| sent.packet.contiguous());
    packets.map(|bytes| (bytes[12], bytes[8..12] == [0; 4])).collect()
}

/// Copy of a packet with zero in place of its checksum.
fn without_checksum(packet: &Packet) -> Packet {
    let mut bytes = packet.contiguous().to_vec();
    bytes[8..12].fill(0);
    Packet::copied(&bytes, Checksum::Complete)
}

#[test]
fn it_is_left_out_where_both_ends_name_the_same_method_but_never_of_what_sets_an_association_up() {
    const DTLS: u32 = 1;
    for (methods, is_omitted) in
        [([DTLS, DTLS], true), ([7, 7], true), ([DTLS, 7], false), ([DTLS, 0], false), ([0, 0], false)]
    {
        let (mut net, a, z) = two(methods);
        let ids = [a, z].map(|host| net.established(host).unwrap());
        for (from, to) in [(a, z), (z, a)] {
            let id = ids[usize::from(from == z)];
            net.send(from, id, 0, "data");
            net.run_for(Duration::from_secs(1));
            assert_eq!(net.received(to).len(), 1, "{methods:?}");
        }
        let lacking = lacking(&net);
        let (set_up, after) = lacking.split_at(3);
        assert_eq!(set_up, [(1, false), (2, false), (10, false)], "{methods:?}");
        assert!(
            after.len() >= 5 && after.iter().all(|(_, lacks)| *lacks == is_omitted),
            "{methods:?}: {after:?}"
        );
        for host in [a, z] {
            let stats = net.hosts[host].endpoint.stats();
            assert_eq!((stats.zero_checksums > 0, stats.bad_checksums), (is_omitted, 0), "{methods:?}");
        }
    }
    assert_eq!(ErrorDetectionMethod::DTLS.0.get(), DTLS);
}

#[test]
fn it_is_missed_unless_its_absence_has_been_announced_and_the_packet_is_the_peers() {
    for (method, is_taken) in [(1, true), (0, false)] {
        let (mut net, a, z) = two([0, method]);
        let header = |tag: u32| CommonHeader {
            source_port: 5_000,
            destination_port: 2_905,
            verification_tag: VerificationTag(tag),
        };
        // The third packet is the COOKIE ECHO, which bears the tag of `z`; the first is the INIT.
        let echo = net.sent[2].packet.contiguous();
        let tag = u32::from_be_bytes(echo[4..8].try_into().unwrap());
        let init = net.sent[0].packet.contiguous();
        let tsn = Tsn(u32::from_be_bytes(init[28..32].try_into().unwrap()));
        let data = Chunk::Data(Data {
            flags: DataFlags::WHOLE,
            tsn,
            stream: StreamId(0),
            sequence: StreamSequence(0),
            ppid: Ppid(0),
            payload: "data".into(),
        });
        let route = (v4(1, 1), v4(1, 2));
        let stats = |net: &Net| {
            let stats = net.hosts[z].endpoint.stats();
            (stats.zero_checksums, stats.bad_checksums)
        };
        net.events(z);
        for not_its_own in [tag ^ 1, 0] {
            net.inject(route, without_checksum(&packet_of(header(not_its_own), std::slice::from_ref(&data))));
        }
        for set_up in [0, 2] {
            let packet = without_checksum(&net.sent[set_up].packet.clone());
            net.inject(route, packet);
        }
        assert_eq!(stats(&net), (0, 4));
        net.inject(route, without_checksum(&packet_of(header(tag), &[data])));
        assert_eq!(stats(&net), if is_taken { (1, 4) } else { (0, 5) });
        assert_eq!(net.received(z).len(), usize::from(is_taken));
        // Any other wrong checksum is wrong.
        let id = net.established(a).unwrap();
        net.drop_under_way();
        let first = net.sent.len();
        net.send(a, id, 0, "more");
        let mut bytes = net.sent[first].packet.contiguous().to_vec();
        bytes[8] ^= 1;
        net.inject(route, Packet::copied(&bytes, Checksum::Complete));
        assert_eq!(stats(&net).1, if is_taken { 5 } else { 6 });
    }
}

#[test]
fn a_host_moves_to_another_address_by_a_packet_with_its_checksum() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..config(1) };
    let (mut net, at_a, at_z) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    net.add_address(0, v4(3, 1));
    net.change_addresses(0, at_a, &[AddressChange::Add(v4(3, 1)), AddressChange::Delete(v4(1, 1))]);
    assert_eq!((net.sent[0].route.0, lacking(&net)[0]), (v4(3, 1), (kind::ASCONF, false)));
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.hosts[1].endpoint.peer(at_z).unwrap().addresses, [v4(3, 1)]);
    net.send(1, at_z, 0, "to the new one");
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.received(0).len(), 1);
    assert_eq!(net.hosts[1].endpoint.stats().bad_checksums, 0);
}

/// The source of an ASCONF need not be known, with its checksum or without.
#[test]
fn an_asconf_without_a_checksum_is_found_by_the_address_in_it() {
    let extensions = Extensions::of(&[Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..config(1) };
    let (mut net, at_a, at_z) = Net::associated(&config, [&[v4(1, 1)], &[v4(1, 2)]]);
    net.add_address(0, v4(3, 1));
    net.cut(v4(3, 1), v4(1, 2));
    net.change_addresses(0, at_a, &[AddressChange::Add(v4(3, 1)), AddressChange::Delete(v4(1, 1))]);
    let asconf = without_checksum(&net.sent[0].packet.clone());
    net.inject((v4(3, 1), v4(1, 2)), asconf);
    assert_eq!(net.hosts[1].endpoint.peer(at_z).unwrap().addresses, [v4(3, 1)]);
}

#[test]
fn a_shutdown_ack_has_its_checksum_and_what_is_out_of_the_blue_is_answered_without() {
    let (mut net, at_a, _) = Net::associated(&config(1), [&[v4(1, 1)], &[v4(1, 2)]]);
    // SHUTDOWN, SHUTDOWN ACK, SHUTDOWN COMPLETE, of which the last is lost.
    net.lose(2);
    net.shutdown(0, at_a);
    net.run_for(Duration::from_millis(500));
    assert_eq!(lacking(&net), [(kind::SHUTDOWN, true), (kind::SHUTDOWN_ACK, false), (14, true)]);
    let again = net.sent[1].packet.clone();
    for (packet, zeros) in [(again.clone(), 0), (without_checksum(&again), 1)] {
        let before = net.sent.len();
        let taken = net.hosts[0].endpoint.stats().zero_checksums;
        net.inject((v4(1, 2), v4(1, 1)), packet);
        assert_eq!(net.hosts[0].endpoint.stats().zero_checksums - taken, zeros);
        let (_, chunks) = parse(&net.sent[before].packet);
        assert!(matches!(chunks[..], [Chunk::ShutdownComplete(_)]), "{chunks:?}");
    }
    net.run_for(Duration::from_secs(5));
    assert_eq!([0, 1].map(|host| net.hosts[host].endpoint.association_count()), [0, 0]);
    // Who has not said that he takes them answers nothing.
    let (mut net, ..) = Net::associated(&config(0), [&[v4(1, 1)], &[v4(1, 2)]]);
    net.inject((v4(2, 2), v4(1, 1)), without_checksum(&again));
    assert_eq!((net.sent.len(), net.hosts[0].endpoint.stats().bad_checksums), (0, 1));
}
