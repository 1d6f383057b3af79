//! Counts of packets that an endpoint drops in silence, each packet under its reason.

use bytes::Bytes;
use slantpath_sctp::chunk::{Data, DataFlags, Init, InitFields, ShutdownAck};
use slantpath_sctp::{
    Chunk, EndpointStats, Parameter, Ppid, SctpConfig, StreamId, StreamSequence, Tsn, VerificationTag,
};

use crate::net::{Net, header, parse, v4};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

fn data() -> Chunk {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(1),
        stream: StreamId(0),
        sequence: StreamSequence(0),
        ppid: Ppid(0),
        payload: Bytes::from_static(b"x"),
    })
}

fn init(tag: u32, parameters: Vec<Parameter>) -> Chunk {
    let fields = InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd: 100_000,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
    };
    Chunk::Init(Init { fields, parameters })
}

/// Growth of the counts of host 1 when the chunks come in with that tag.
fn counted(net: &mut Net, tag: u32, chunks: &[Chunk]) -> EndpointStats {
    let before = *net.hosts[1].endpoint.stats();
    net.inject_chunks((v4(1, 1), v4(1, 2)), header(5_000, 2_905, tag), chunks);
    let after = *net.hosts[1].endpoint.stats();
    let mut change = after;
    change.packets_received -= before.packets_received;
    change.bad_checksums -= before.bad_checksums;
    change.zero_checksums -= before.zero_checksums;
    change.malformed_packets -= before.malformed_packets;
    change.misdirected_packets -= before.misdirected_packets;
    change.wrong_tags -= before.wrong_tags;
    change.out_of_the_blue -= before.out_of_the_blue;
    change.init_acks_sent -= before.init_acks_sent;
    change.forged_cookies -= before.forged_cookies;
    change.unauthenticated_cookies -= before.unauthenticated_cookies;
    change.stale_cookies -= before.stale_cookies;
    change.unexpected_chunks -= before.unexpected_chunks;
    change
}

/// One packet, and what `further` counts of it.
fn one(further: impl FnOnce(&mut EndpointStats)) -> EndpointStats {
    let mut counts = EndpointStats::default();
    counts.packets_received = 1;
    further(&mut counts);
    counts
}

/// Host 0, which does not answer, and host 1, which listens.
fn listening() -> Net {
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, config());
    net.add(&[v4(1, 2)], 2_905, config());
    net.listen(1);
    net
}

#[test]
fn what_comes_to_a_listener_is_counted_by_what_is_wrong_with_it() {
    let mut net = listening();
    assert_eq!(counted(&mut net, 0, &[data()]), one(|counts| counts.wrong_tags = 1));
    let not_alone = [init(9, Vec::new()), data()];
    assert_eq!(counted(&mut net, 0, &not_alone), one(|counts| counts.malformed_packets = 1));
    let untagged = one(|counts| {
        counts.malformed_packets = 1;
        counts.out_of_the_blue = 1;
    });
    assert_eq!(counted(&mut net, 0, &[init(0, Vec::new())]), untagged);
    let good = one(|counts| {
        counts.out_of_the_blue = 1;
        counts.init_acks_sent = 1;
    });
    assert_eq!(counted(&mut net, 0, &[init(9, Vec::new())]), good);
}

#[test]
fn what_comes_to_an_association_is_counted_by_what_is_wrong_with_it() {
    let (mut net, _, at_z) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    let tag = net.hosts[1].endpoint.association(at_z).unwrap().local_tag().0;
    let Chunk::Init(Init { fields, parameters }) = init(9, Vec::new()) else { unreachable!() };
    let init_ack = Chunk::InitAck(slantpath_sctp::chunk::InitAck { fields, parameters });
    assert_eq!(counted(&mut net, tag, &[init_ack]), one(|counts| counts.unexpected_chunks = 1));
    // A SHUTDOWN ACK with another tag is no sign of an association before.
    let wrong = one(|counts| counts.wrong_tags = 1);
    assert_eq!(counted(&mut net, tag ^ 1, &[Chunk::ShutdownAck(ShutdownAck)]), wrong);
    assert_eq!(net.sent.len(), 0, "{}", net.trace(0));
}

#[test]
fn what_comes_during_a_setup_is_counted_by_what_is_wrong_with_it() {
    let mut net = listening();
    net.connect(1, 0);
    let (_, chunks) = parse(&net.sent[0].packet);
    let [Chunk::Init(own)] = &chunks[..] else { panic!("{chunks:?}") };
    let tag = own.fields.initiate_tag.0;
    let first = net.sent.len();
    assert_eq!(counted(&mut net, tag, &[data()]), one(|counts| counts.unexpected_chunks = 1));
    assert_eq!(counted(&mut net, tag ^ 1, &[data()]), one(|counts| counts.wrong_tags = 1));
    assert_eq!(net.sent.len(), first, "{}", net.trace(0));
}

/// An INIT ACK in COOKIE-WAIT may go to a named address only, and the one that is listed is one too many to be read.
#[test]
fn an_init_that_cannot_be_answered_where_it_was_invited_is_dropped() {
    let mut net = Net::calm();
    net.add(&[v4(1, 1)], 5_000, config());
    net.add(&[v4(1, 2)], 2_905, SctpConfig { max_peer_addresses: 1, ..config() });
    net.connect(1, 0);
    let (first, before) = (net.sent.len(), net.hosts[1].endpoint.stats().unexpected_chunks);
    let init = init(9, vec![Parameter::Address(v4(1, 1))]);
    net.inject_chunks((v4(1, 9), v4(1, 2)), header(5_000, 2_905, 0), &[init]);
    assert_eq!((net.sent.len(), net.hosts[1].endpoint.stats().unexpected_chunks), (first, before + 1));
}
