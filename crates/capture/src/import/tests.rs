use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::IpAddr;

use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_sctp::chunk::{self, DataFlags, Init, InitAck, InitFields};
use slantpath_sctp::{Ppid, StreamId, StreamSequence, Tsn, VerificationTag};
use slantpath_sigtran::m3ua;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Sls;
use slantpath_testkit::shared;

use super::flows::FlowReport;
use super::*;
use crate::file::CaptureReader;
use crate::frame::LinkType;
use crate::packets;

/// Files that were made, by their names, and the report.
type Imported = (BTreeMap<String, String>, ImportReport);

/// Imports packets, each with the millisecond of its capture.
fn import_with(filter: Filter, link: u32, frames: &[(u64, Vec<u8>)]) -> Imported {
    let mut importer = Importer::new(filter, PointCodeFormat::Itu);
    let files = RefCell::new(BTreeMap::<String, String>::new());
    let mut append = |name: &str, text: &str| -> Result<(), Infallible> {
        files.borrow_mut().entry(name.to_owned()).or_default().push_str(text);
        Ok(())
    };
    for (number, (millis, bytes)) in (1..).zip(frames) {
        let original_len = u32::try_from(bytes.len()).unwrap();
        let time = Some(Instant::from_millis(*millis));
        let (link, bytes) = (LinkType(link), bytes.clone().into());
        let frame = CapturedFrame { number, interface: 0, link, time, bytes, original_len };
        importer.frame(&frame, &mut append).unwrap();
    }
    let report = importer.finish("a\ncapture", &mut append).unwrap();
    (files.into_inner(), report)
}

fn import(frames: &[(u64, Vec<u8>)]) -> Imported {
    import_with(Filter::default(), 101, frames)
}

fn file<'a>((files, _): &'a Imported, name: &str) -> &'a str {
    files.get(name).map_or("", String::as_str)
}

/// A packet from one host to the other.
fn packet(is_there: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut ends = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
    if !is_there {
        ends.reverse();
    }
    packets::ip(ends, protocol, payload)
}

/// Ports 2905 and 7; tag 5 there, 6 back.
fn sctp_bytes(is_there: bool, chunks: &[Chunk]) -> Vec<u8> {
    let start: [u8; 8] = if is_there { [11, 89, 0, 7, 0, 0, 0, 5] } else { [0, 7, 11, 89, 0, 0, 0, 6] };
    let mut bytes = [start, [0, 0, 0, 0, 0, 0, 0, 0]].concat();
    bytes.truncate(12);
    for chunk in chunks {
        chunk.write(&mut bytes);
    }
    bytes
}

fn sctp(is_there: bool, chunks: &[Chunk]) -> Vec<u8> {
    packet(is_there, protocol::SCTP, &sctp_bytes(is_there, chunks))
}

fn data(tsn: u32, flags: DataFlags, ppid: u32, payload: &[u8]) -> Chunk {
    Chunk::Data(chunk::Data {
        flags,
        tsn: Tsn(tsn),
        stream: StreamId(2),
        sequence: StreamSequence(0),
        ppid: Ppid(ppid),
        payload: Bytes::copy_from_slice(payload),
    })
}

fn whole(tsn: u32, len: usize) -> Chunk {
    data(tsn, DataFlags::WHOLE, 0, &vec![1; len])
}

fn fields(tag: u32) -> InitFields {
    InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd: 5_000,
        outbound_streams: 3,
        inbound_streams: 3,
        initial_tsn: Tsn(1),
    }
}

fn handshake() -> [(u64, Vec<u8>); 2] {
    let init = Chunk::Init(Init { fields: fields(6), parameters: Vec::new() });
    let ack = Chunk::InitAck(InitAck { fields: fields(5), parameters: Vec::new() });
    [(0, sctp(true, &[init])), (1, sctp(false, &[ack]))]
}

fn told(report: &ImportReport) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.message.as_str()).collect()
}

#[test]
fn messages_of_sctp_have_the_instants_of_their_first_transmission() {
    let mut frames = handshake().to_vec();
    let [first, last] =
        [data(3, DataFlags::BEGINNING, 0, &[1; 900]), data(4, DataFlags::ENDING, 0, &[2; 50])];
    frames.extend([
        (100, sctp(true, &[whole(1, 40), whole(2, 41)])),
        (110, sctp(true, &[first])),
        (111, sctp(true, &[whole(5, 60)])),
        (150, sctp(true, &[whole(2, 41)])),
        (160, sctp(true, &[last])),
        (170, sctp(false, &[whole(1, 20)])),
    ]);
    let imported = import(&frames);
    assert_eq!(file(&imported, "sctp-1.csv"), "0 s,40 B\n0 s,41 B\n10 ms,950 B\n11 ms,60 B\n");
    assert_eq!(file(&imported, "sctp-2.csv"), "70 ms,20 B\n");
    let [there, back] = &imported.1.flows[..] else { panic!("two directions") };
    assert_eq!((there.repeated, there.streams, there.unordered, there.longest), (1, 3, 0, 950));
    assert!(there.is_from_the_start && there.is_answered && back.is_from_the_start);
    assert!(back.is_answered && told(&imported.1).is_empty());
    let scenario = file(&imported, "flows.toml");
    assert!(scenario.starts_with("# The messages of `a?capture`: "), "{scenario}");
    assert!(scenario.contains("duration = \"14 s\"") && scenario.contains("streams = 3"), "{scenario}");
}

#[test]
fn an_association_begins_with_the_tsns_of_its_handshake() {
    let mut frames = handshake().to_vec();
    frames.extend([
        (100, sctp(true, &[whole(2, 41)])),
        (101, sctp(true, &[whole(1, 40)])),
        (102, sctp(false, &[whole(3, 20)])),
    ]);
    let imported = import(&frames);
    assert_eq!(file(&imported, "sctp-1.csv"), "0 s,41 B\n1 ms,40 B\n");
    let counts: Vec<_> = imported.1.flows.iter().map(|flow| (flow.repeated, flow.missing)).collect();
    assert_eq!(counts, [(0, 0), (0, 2)]);
}

#[test]
fn a_chunk_that_was_cut_is_no_broken_one() {
    let whole_packet = sctp(true, &[whole(1, 40), whole(2, 40)]);
    let cut = whole_packet[..whole_packet.len() - 54].to_vec();
    let (_, report) = import(&[(0, cut)]);
    let counts = [Unused::Short, Unused::Malformed].map(|unused| report.unused.get(&unused).copied());
    assert_eq!((report.flows[0].messages, counts), (1, [Some(1), None]));
}

#[test]
fn any_two_times_make_a_scenario() {
    let (files, _) = import(&[(0, udp(53, &[1; 30])), (u64::MAX / 1_000_000, udp(53, &[1; 30]))]);
    assert!(files["flows.toml"].contains("duration = "));
}

#[test]
fn what_a_capture_lacks_is_told() {
    let frames = [
        (0, sctp(true, &[whole(1, 40)])),
        (5_000, sctp(true, &[whole(3, 4), data(5, DataFlags::ENDING, 0, &[1; 9])])),
        (9_000, sctp(true, &[whole(6, 8)])),
    ];
    let (_, report) = import(&frames);
    let expected = [
        "sctp-1: only this direction was captured: what was answered is not known",
        "sctp-1: it was under way when the capture began: what came before is lacking",
        "sctp-1: the capture lacks 2 DATA chunks between others of it",
        "sctp-1: 1 messages lack a fragment, and are left out",
        "sctp-1: 1 messages were below 8 or above 65536 bytes, and are so long now",
    ];
    assert_eq!(told(&report), expected);
}

#[test]
fn what_a_capture_lacks_of_flows_without_messages_is_told_too() {
    let frames = [
        (0, sctp(true, &[data(1, DataFlags::BEGINNING, 3, &[1; 9])])),
        (1, sctp(true, &[data(4, DataFlags::WHOLE, 3, &isup(20))])),
    ];
    let none = Filter { protocols: Vec::new(), m2pa: false, m3ua: true, mtp: false, ports: Vec::new() };
    let (files, report) = import_with(none, 101, &frames);
    assert_eq!(files.into_keys().collect::<Vec<_>>(), ["load-1.csv", "signalling.toml"]);
    let lacking = "sctp-1: the capture lacks 2 DATA chunks between others of it";
    assert_eq!(told(&report), [lacking, "sctp-1: 1 messages lack a fragment, and are left out"]);
    assert_eq!(told(&import(&frames[..1]).1), ["sctp-1: 1 messages lack a fragment, and are left out"]);
}

/// A segment or a datagram from port 9 to port 8, or back.
fn tcp(is_there: bool, sequence: u32, flags: u8, len: usize) -> Vec<u8> {
    let ports: [u8; 4] = if is_there { [0, 9, 0, 8] } else { [0, 8, 0, 9] };
    let mut segment =
        [&ports[..], &sequence.to_be_bytes(), &[0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0]].concat();
    segment.resize(20 + len, 1);
    packet(is_there, protocol::TCP, &segment)
}

fn udp(destination: u16, payload: &[u8]) -> Vec<u8> {
    packet(true, protocol::UDP, &packets::udp([9, destination], payload))
}

const SYN: u8 = 2;
const ACK: u8 = 16;

#[test]
fn segments_of_tcp_are_messages_of_what_is_new_in_them() {
    let frames = [
        (0, tcp(true, 99, SYN, 0)),
        (1, tcp(true, 100, ACK, 50)),
        (2, tcp(true, 100, ACK, 50)),
        (3, tcp(true, 120, ACK, 40)),
        (4, tcp(false, 7, ACK, 0)),
        (5, tcp(true, 200, ACK, 10)),
        // Another connection between the same ports.
        (6, tcp(true, 5_000, SYN, 0)),
        (7, tcp(true, 5_001, ACK, 33)),
        (8, tcp(false, 7, ACK, 0)),
        // And one more, which nobody answers: its first bytes come late, and the next ones not at all.
        (9, tcp(true, 9_000, SYN, 0)),
        (10, tcp(true, 9_021, ACK, 20)),
        (11, tcp(true, 9_001, ACK, 12)),
    ];
    let imported = import(&frames);
    assert_eq!(file(&imported, "tcp-1.csv"), "0 s,50 B\n2 ms,10 B\n4 ms,10 B\n");
    assert_eq!(file(&imported, "tcp-2.csv"), "6 ms,33 B\n");
    assert_eq!(file(&imported, "tcp-3.csv"), "9 ms,20 B\n10 ms,12 B\n");
    let answered = |flow: &FlowReport| (flow.is_from_the_start, flow.is_answered, flow.missing);
    let answered: Vec<_> = imported.1.flows.iter().map(answered).collect();
    assert_eq!(answered, [(true, true, 40), (true, true, 0), (true, false, 8)]);
    let first = &imported.1.flows[0];
    assert_eq!(first.repeated, 1);
    assert!(file(&imported, "flows.toml").contains("[tcp.imported]\nmss = \"1460 B\""));
}

#[test]
fn datagrams_are_messages_and_encapsulated_sctp_is_sctp() {
    let frames =
        [(0, udp(53, &[1; 30])), (3, udp(53, &[1; 31])), (5, udp(9_899, &sctp_bytes(true, &[whole(1, 40)])))];
    let imported = import(&frames);
    assert_eq!(file(&imported, "udp-1.csv"), "0 s,30 B\n3 ms,31 B\n");
    assert_eq!(file(&imported, "sctp-1.csv"), "5 ms,40 B\n");
    let scenario = file(&imported, "flows.toml");
    let own = scenario.split("[flows.udp-1]").nth(1).unwrap();
    let own = own.split("application").next().unwrap();
    assert_eq!(own.trim(), "transport = \"udp\"\nfrom = \"host-1\"\nto = \"host-2\"\nstart = \"1 s\"");
    assert!(scenario.contains("[sctp.imported]"), "of the encapsulated one");
}

/// A message of M3UA in whole, for a user part of so many octets.
fn isup(user_octets: usize) -> Vec<u8> {
    let protocol_data = m3ua::ProtocolData {
        opc: PointCode(1),
        dpc: PointCode(10),
        service_indicator: 5,
        network_indicator: 2,
        priority: 0,
        sls: Sls(7),
        user_data: vec![0; user_octets].into(),
    };
    let mut octets = Vec::new();
    let (network_appearance, routing_context, correlation_id) = (None, None, None);
    m3ua::Data { network_appearance, routing_context, protocol_data, correlation_id }.write(&mut octets);
    octets
}

#[test]
fn messages_of_m3ua_are_a_load() {
    let long = isup(100);
    let frames = [
        (0, sctp(true, &[data(1, DataFlags::WHOLE, 3, &isup(20))])),
        (2, sctp(true, &[data(2, DataFlags::BEGINNING, 3, &long[..50])])),
        (4, sctp(true, &[data(3, DataFlags::ENDING, 3, &long[50..])])),
        (6, sctp(true, &[data(4, DataFlags::WHOLE, 3, &isup(400))])),
        // An ASP Up, and what is none.
        (8, sctp(true, &[data(5, DataFlags::WHOLE, 3, &[1, 0, 3, 1, 0, 0, 0, 8])])),
        (9, sctp(true, &[data(6, DataFlags::WHOLE, 3, &[1, 0, 1, 1, 0, 0, 0, 8])])),
    ];
    let imported = import(&frames);
    assert_eq!(file(&imported, "load-1.csv"), "0 s,31 B,7\n2 ms,111 B,7\n6 ms,279 B,7\n");
    let load = &imported.1.loads[0];
    assert_eq!((load.messages, load.octets, load.resized, load.services[5]), (3, 421, 1, 3));
    assert_eq!(imported.1.unused.get(&Unused::MalformedSignalling), Some(&1));
    let scenario = file(&imported, "signalling.toml");
    assert!(
        scenario.contains("point_code = \"0-1-2\"") && scenario.contains("network = \"national\""),
        "{scenario}"
    );
    assert_eq!(file(&imported, "sctp-1.csv").lines().count(), 5);
}

#[test]
fn a_filter_leaves_out_flows_of_other_protocols_and_ports() {
    let frames = [
        (0, sctp(true, &[data(1, DataFlags::WHOLE, 3, &isup(20))])),
        (1, tcp(true, 100, ACK, 50)),
        (2, udp(53, &[1; 30])),
    ];
    let files = |filter: Filter| import_with(filter, 101, &frames).0.into_keys().collect::<Vec<_>>();
    let none = Filter { protocols: Vec::new(), m2pa: false, m3ua: false, mtp: false, ports: Vec::new() };
    assert_eq!(files(Filter { m3ua: true, ..none.clone() }), ["load-1.csv", "signalling.toml"]);
    assert_eq!(files(Filter { protocols: vec![CapturedProtocol::Tcp], ..none }), ["flows.toml", "tcp-1.csv"]);
    assert_eq!(files(Filter { ports: vec![53], ..Filter::default() }), ["flows.toml", "udp-1.csv"]);
}

#[test]
fn flows_are_limited() {
    let frames: Vec<_> = (0..1_100).map(|port| (0, udp(10_000 + port, &[1; 30]))).collect();
    let (_, report) = import(&frames);
    assert_eq!(
        (report.flows.len(), report.unused.get(&Unused::TooManyFlows)),
        (flows::FLOWS_MAX, Some(&100))
    );
    assert_eq!(told(&report), ["there are more than 1000 flows: 100 packets of others are left out"]);
}

/// Real captures, as they lie beside the checkout.
fn real() -> impl Iterator<Item = Vec<u8>> {
    ["forces2.pcap", "isup.pcap", "sctp-keywords.pcap", "sctp-test.cap", "sctp-max-chunks.pcap"]
        .into_iter()
        .filter_map(|name| shared::octets(&format!("pcap/{name}")))
}

fn import_file(octets: &[u8]) -> Option<ImportReport> {
    let mut reader = CaptureReader::open(octets).ok()?;
    let mut importer = Importer::new(Filter::default(), PointCodeFormat::Itu);
    let mut ignore = |_: &str, _: &str| -> Result<(), Infallible> { Ok(()) };
    while let Ok(Some(frame)) = reader.next_frame() {
        importer.frame(&frame, &mut ignore).unwrap();
    }
    importer.finish("x", &mut ignore).ok()
}

#[test]
fn a_real_line_of_mtp2_gives_all_of_its_messages() {
    let Some(octets) = shared::octets("pcap/isup_load_generator.pcap") else { return };
    let report = import_file(&octets).unwrap();
    let loads: Vec<_> = report.loads.iter().map(|load| (load.messages, load.octets)).collect();
    assert_eq!(loads, [(2_631, 56_100), (2_634, 56_026)]);
    assert!(report.unused.is_empty() && report.duration() > Duration::from_secs(874));
}

proptest! {
    #[test]
    fn any_frames_are_counted(
        link in prop::sample::select(vec![0_u32, 1, 101, 113, 139, 140, 141, 147, 228, 276]),
        frames in proptest::collection::vec((0_u64..10_000, any::<Vec<u8>>()), 0..20),
    ) {
        let (_, report) = import_with(Filter::default(), link, &frames);
        prop_assert_eq!(report.frames, frames.len() as u64);
    }

    #[test]
    fn mutated_real_captures_are_imported(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut: prop::sample::Index,
    ) {
        for mut octets in real() {
            for (place, value) in &changes {
                let place = place.index(octets.len());
                octets[place] = *value;
            }
            let _ = import_file(&octets);
            let _ = import_file(&octets[..cut.index(octets.len())]);
        }
    }
}
