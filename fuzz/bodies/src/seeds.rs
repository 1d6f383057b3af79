//! The first inputs of each corpus, written by our own encoders.

mod associations;
mod calls;
mod doors;
mod emulate;
mod records;
mod traces;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::{fs, io};

use bytes::Bytes;
use slantpath_applications::{GtpUHeader, RtpHeader};
use slantpath_base::Instant;
use slantpath_orbit::elements::{omm, tle};
use slantpath_sctp::chunk::{
    self, Abort, AddressChange, Asconf, AsconfRequest, AsconfSerial, Auth, CookieAck, CookieEcho, DataFlags,
    GapAckBlock, Init, InitAck, InitFields, ReConfig, ReconfigurationParameter, RequestSequence, Sack,
    Shutdown,
};
use slantpath_sctp::{self as sctp, Cause, Chunk, Ppid, StreamId, StreamSequence, Tsn, VerificationTag};
use slantpath_sigtran::asp::AspMessage;
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua::{self, ProtocolData};
use slantpath_sigtran_adaptations::interface::InterfaceIdentifier;
use slantpath_sigtran_adaptations::iua::{self, Dlci, IuaParameter, ReleaseReason};
use slantpath_sigtran_adaptations::m2ua::{self, LinkKey, M2uaParameter};
use slantpath_sigtran_adaptations::message::{self, CommonParameter, OwnMessage, Vocabulary};
use slantpath_sigtran_adaptations::sua::{self, Address, SuaParameter};
use slantpath_ss7::mtp3::{
    Fsn, ManagementLayout, ManagementMessage, Msu, RoutingLabel, ServiceInformation, Slc, Sls,
};
use slantpath_ss7::sccp::{self, PartyAddress, ProtocolClass, Ssn};
use slantpath_ss7::{PointCode, PointCodeFormat};
use slantpath_tcp::{self as tcp, Flags, Options, SackBlock, SackBlocks, Segment, Timestamps};
use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::pcapng::{Direction, Writer};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, tlv};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// The first inputs by our own encoders, by their place below `fuzz/corpus`: `m3ua/seed-data`. What a fuzzer finds
/// beyond them is kept beside them.
pub fn seeds() -> BTreeMap<String, Vec<u8>> {
    let mut seeds = Seeds::default();
    wire(&mut seeds);
    sctp(&mut seeds);
    associations::keep(&mut seeds);
    tcp(&mut seeds);
    signalling(&mut seeds);
    link(&mut seeds);
    user_adaptation(&mut seeds);
    orbit(&mut seeds);
    calls::keep(&mut seeds);
    doors::keep(&mut seeds);
    emulate::keep(&mut seeds);
    records::keep(&mut seeds);
    traces::keep(&mut seeds);
    stream(&mut seeds);
    framed(&mut seeds);
    quantities(&mut seeds);
    seeds.0
}

/// The files of `scenarios/` that are first inputs of a target, each with its text. They are kept nowhere else, so that
/// a scenario may change alone.
///
/// # Errors
/// If a scenario cannot be read.
pub fn scenarios(target: &str) -> io::Result<Vec<(PathBuf, String)>> {
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        if target == if text.contains("\n[topology]\n") { "topology" } else { "scenario" } {
            scenarios.push((path, text));
        }
    }
    Ok(scenarios)
}

#[derive(Default)]
struct Seeds(BTreeMap<String, Vec<u8>>);

impl Seeds {
    fn keep(&mut self, target: &str, name: &str, input: impl AsRef<[u8]>) {
        let former = self.0.insert(format!("{target}/seed-{name}"), input.as_ref().to_owned());
        assert!(former.is_none(), "{target} has two seeds called {name}");
    }

    fn keep_message<V: Vocabulary>(&mut self, target: &str, name: &str, message: OwnMessage<V>) {
        self.keep(target, name, message::Message::Own(message).to_bytes());
    }
}

fn ip_packet(source: IpAddr, destination: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let payload_len = u16::try_from(payload.len()).expect("short");
    let header = IpHeader {
        source,
        destination,
        protocol,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    let mut packet = vec![0; header.header_len()];
    header.emit(&mut packet);
    packet.extend_from_slice(payload);
    packet
}

fn framed(seeds: &mut Seeds) {
    let rtp = RtpHeader { marker: true, payload_type: 0, sequence: 65_535, timestamp: 160, source: 7 };
    seeds.keep("rtp", "voice", [&rtp.emit()[..], &[0xd5; 20]].concat());
    let packet = ip_packet(HERE, THERE, protocol::UDP, b"subscriber");
    let payload_len = u16::try_from(packet.len()).expect("short");
    seeds.keep("gtp_u", "packet", [&GtpUHeader { payload_len, tunnel: 258 }.emit()[..], &packet].concat());
}

fn wire(seeds: &mut Seeds) {
    let udp = UdpHeader { source_port: 9899, destination_port: 9899 };
    let datagram = [&udp.emit(&[b"payload"], HERE, THERE, Checksum::Complete)[..], b"payload"].concat();
    seeds.keep("wire_udp", "datagram", &datagram);
    let v4 = ip_packet(HERE, THERE, protocol::UDP, &datagram);
    let v6 = ip_packet(IpAddr::from([1_u16; 8]), IpAddr::from([2_u16; 8]), protocol::SCTP, &[0; 12]);
    seeds.keep("wire_ip", "v4", &v4);
    seeds.keep("wire_ip", "v6", &v6);
    for (error, name) in [
        (IcmpError::PacketTooBig { mtu_bytes: 1_280 }, "too-big"),
        (IcmpError::TimeExceeded, "time"),
        (IcmpError::Unreachable(Unreachable::Port), "port"),
    ] {
        let v4_report = error.report(THERE, &v4, 64).expect("a report is sent");
        seeds.keep("wire_icmp", &format!("v4-{name}"), [&[0], &v4_report.contiguous()[20..]].concat());
        let v6_report = error.report(IpAddr::from([2_u16; 8]), &v6, 64).expect("a report is sent");
        seeds.keep("wire_icmp", &format!("v6-{name}"), [&[1], &v6_report.contiguous()[40..]].concat());
    }
    for (version, name, ends) in
        [(0, "v4", [HERE, THERE]), (1, "v6", [IpAddr::from([1_u16; 8]), IpAddr::from([2; 8])])]
    {
        let echo = EchoHeader { kind: EchoKind::Request, identifier: 7, sequence: 1 };
        let packet = echo.packet(b"data".to_vec().into(), ends[0], ends[1]);
        seeds.keep("wire_icmp", &format!("{name}-echo"), [&[version], &packet.contiguous()[..]].concat());
    }
    // In two fragments, the second first; an overlap; the last of three after its time.
    let fragments = [[0, 1, 2, 0, 8], [0, 1, 2, 0, 1], [1, 2, 4, 0, 1], [0, 2, 4, 0, 9], [61, 3, 3, 0, 16]];
    seeds.keep("wire_reassembly", "two", fragments.concat());
    let mut fields = Vec::new();
    tlv::write(&mut fields, 7, |out| out.extend_from_slice(b"value"));
    tlv::write(&mut fields, 0x8000, |_| {});
    seeds.keep("wire_tlv", "two", &fields);
    let mut capture = Writer::new();
    let interface = capture.interface("link");
    capture.packet(interface, Instant::from_millis(1), &v4, Direction::Inbound, Some("dropped"));
    let capture = capture.take();
    seeds.keep("capture", "one-packet", &capture);
    seeds.keep("wire_pcapng", "one-packet", capture);
}

fn sctp(seeds: &mut Seeds) {
    let fields = InitFields {
        initiate_tag: VerificationTag(1),
        a_rwnd: 65_536,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(u32::MAX),
    };
    let addresses = vec![sctp::Parameter::Address(HERE), sctp::Parameter::Address(IpAddr::from([1_u16; 8]))];
    let with_cookie = vec![
        sctp::Parameter::StateCookie(Bytes::from_static(&[7; 33])),
        sctp::Parameter::Unknown { kind: 0xc000, value: Bytes::from_static(b"abc") },
    ];
    let data = chunk::Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(5),
        stream: StreamId(1),
        sequence: StreamSequence(9),
        ppid: Ppid(3),
        payload: Bytes::from_static(b"hello"),
    };
    let sack = Sack {
        cumulative_tsn_ack: Tsn(3),
        a_rwnd: 1_000,
        gap_ack_blocks: [GapAckBlock { start: 2, end: 4 }].into_iter().collect(),
        duplicates: [Tsn(2)].into_iter().collect(),
    };
    let causes = vec![
        Cause::InvalidStreamIdentifier(StreamId(9)),
        Cause::StaleCookie { staleness_us: 5 },
        Cause::UserInitiatedAbort(Bytes::from_static(b"bye")),
    ];
    let reset = ReconfigurationParameter::OutgoingSsnReset {
        request: RequestSequence(1),
        response: RequestSequence(2),
        last_assigned_tsn: Tsn(3),
        streams: vec![StreamId(4)],
    };
    let auth = Auth { key: 0, hmac: 3, digest: Bytes::from_static(&[9; 32]) };
    let add = AddressChange::Add(IpAddr::from([192, 0, 2, 9]));
    let asconf = Asconf {
        serial: AsconfSerial(7),
        address: IpAddr::from([192, 0, 2, 1]),
        requests: vec![AsconfRequest { correlation: 1, change: add }],
    };
    let packets = [
        ("init", vec![Chunk::Init(Init { fields, parameters: addresses })]),
        ("init-ack", vec![Chunk::InitAck(InitAck { fields, parameters: with_cookie })]),
        (
            "cookie-echo",
            vec![
                Chunk::CookieEcho(CookieEcho { cookie: Bytes::from_static(&[7; 33]) }),
                Chunk::Data(data.clone()),
            ],
        ),
        ("cookie-ack", vec![Chunk::CookieAck(CookieAck), Chunk::Sack(sack.clone())]),
        ("bundle", vec![Chunk::Sack(sack), Chunk::Data(data.clone()), Chunk::Data(data)]),
        (
            "heartbeat",
            vec![Chunk::Heartbeat(chunk::Heartbeat {
                info: Bytes::from_static(&[1; 12]),
                others: Bytes::new(),
            })],
        ),
        ("abort", vec![Chunk::Abort(Abort { is_tag_reflected: true, causes })]),
        ("shutdown", vec![Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(3) })]),
        ("re-config", vec![Chunk::ReConfig(ReConfig { parameters: vec![reset] })]),
        ("asconf", vec![Chunk::Auth(auth), Chunk::Asconf(asconf)]),
    ];
    for (name, chunks) in packets {
        // The cut, the ports, the tag and a checksum that nobody reads.
        let mut input = vec![28, 0, 1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0];
        for chunk in chunks {
            chunk.write(&mut input);
        }
        seeds.keep("sctp_packet", name, input);
    }
}

fn tcp(seeds: &mut Seeds) {
    let mut sack = SackBlocks::default();
    sack.push(SackBlock { left: tcp::SequenceNumber(3_000), right: tcp::SequenceNumber(4_460) });
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let syn =
        Options { mss_bytes: Some(1_460), window_shift: Some(7), sack_permitted: true, ..Options::default() };
    for (name, flags, options, data) in [
        ("syn", Flags::SYN, syn, Bytes::new()),
        ("data", Flags::ACK, Options { timestamps, ..Options::default() }, Bytes::from_static(b"hello")),
        ("sack", Flags::ACK, Options { sack, timestamps, ..Options::default() }, Bytes::new()),
    ] {
        let segment = Segment {
            source_port: 1,
            destination_port: 2,
            sequence: tcp::SequenceNumber(u32::MAX),
            acknowledgment: tcp::SequenceNumber(1),
            flags,
            window: 1_000,
            options,
        };
        let packet = segment.emit(data, HERE, THERE, tcp::ChecksumPolicy::Omit);
        seeds.keep("tcp_segment", name, [&[20], &packet.contiguous()[..]].concat());
    }
}

fn orbit(seeds: &mut Seeds) {
    let message = r#"[{"OBJECT_NAME":"TEST","OBJECT_ID":"2026-001A","EPOCH":"2026-11-21T00:00:00.000000",
        "MEAN_MOTION":14.34217,"ECCENTRICITY":0.0002,"INCLINATION":86.4,"RA_OF_ASC_NODE":10.5,
        "ARG_OF_PERICENTER":90.0,"MEAN_ANOMALY":270.0,"NORAD_CAT_ID":99001,"BSTAR":1e-5,"MEAN_MOTION_DOT":1e-6}]"#;
    seeds.keep("orbit_omm", "json", message);
    let sets = omm::read_json(message, "seed").expect("the message is whole");
    seeds.keep("orbit_tle", "unnamed", tle::write(&sets[0]).join("\n"));
    let csv = "OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,\
               ARG_OF_PERICENTER,MEAN_ANOMALY,NORAD_CAT_ID,BSTAR,MEAN_MOTION_DOT\n\
               TEST,2026-001A,2026-11-21T00:00:00,14.3,0.0002,86.4,10.5,90,270,99001,0.00001,0\n";
    seeds.keep("orbit_omm", "csv", csv);
    seeds.keep("orbit_outage", "no-node", "10 s, 20 s,\n");
    let node_and_link = "# a node, then a link\n10 s, 20 s, S3\n1 h, 2 h, S3, S4\n";
    seeds.keep("orbit_outage", "node-and-link", node_and_link);
    let out_of_order = "1 h, 51.5 deg, 0 deg, 0\n0 s, 42.3 deg, -71.1 deg, 0\n";
    seeds.keep("orbit_track", "out-of-order", out_of_order);
    let two_waypoints = "time, latitude, longitude, height\n\
                         0 s, 51.5 deg, 0 deg, 10000\n1 h, 42.3 deg, -71.1 deg, 10000\n";
    seeds.keep("orbit_track", "two-waypoints", two_waypoints);
}

/// Seeds of streams that an application reads: stamps of a number and a length, each with the rest of its message.
fn stream(seeds: &mut Seeds) {
    let stamp = |number: u32, len: u32| [number.to_be_bytes(), len.to_be_bytes()].concat();
    let first = [stamp(0, 20), (0..12).collect()].concat();
    seeds.keep("host_stream", "two-messages", [&first[..], &stamp(1, 8)].concat());
    seeds.keep("host_stream", "cut-in-the-stamp", [&first[..], &stamp(1, 8)[..3]].concat());
    seeds.keep("host_stream", "impossible-length", [&stamp(0, 3)[..], b"abc"].concat());
}

fn user_adaptation(seeds: &mut Seeds) {
    let interface = || InterfaceIdentifier::Integer(5).to_parameter();
    let payload = Bytes::from_static(&[0x83, 0x5c, 0x40, 0x0a]);
    let m2ua = |kind| OwnMessage::empty(kind).with_common(interface());
    let data = m2ua(m2ua::kind::DATA).with(M2uaParameter::ProtocolData(payload.clone()));
    seeds.keep_message("m2ua", "data", data.with_common(CommonParameter::CorrelationId(7)));
    let state = M2uaParameter::StateRequest(m2ua::LinkState::FlushBuffers);
    seeds.keep_message("m2ua", "state", m2ua(m2ua::kind::STATE_REQUEST).with(state));
    let key = M2uaParameter::LinkKey(LinkKey { local: 1, terminal: 2, data_link: 3 });
    seeds.keep_message("m2ua", "reg-req", OwnMessage::empty(m2ua::kind::REGISTRATION_REQUEST).with(key));
    let text = InterfaceIdentifier::Text(Bytes::from_static(b"link")).to_parameter();
    let establish = OwnMessage::<M2uaParameter>::empty(m2ua::kind::ESTABLISH_REQUEST);
    seeds.keep_message("m2ua", "text", establish.with_common(text));

    let contexts = || CommonParameter::RoutingContexts(vec![1]);
    let address = Address::of_subsystem(PointCode(5), 8);
    let cldt = OwnMessage::empty(sua::kind::CLDT)
        .with_common(contexts())
        .with(SuaParameter::ProtocolClass(0x81))
        .with(SuaParameter::SourceAddress(address.clone()))
        .with(SuaParameter::DestinationAddress(address.clone()))
        .with(SuaParameter::SequenceControl(3))
        .with(SuaParameter::HopCount(12))
        .with(SuaParameter::Segmentation(sua::Segmentation { first: true, remaining: 1, reference: 9 }))
        .with(SuaParameter::Data(payload.clone()));
    seeds.keep_message("sua", "cldt", cldt);
    let key = sua::RoutingKey { local: 1, destinations: vec![address], ..sua::RoutingKey::default() };
    let request = OwnMessage::empty(sua::kind::REGISTRATION_REQUEST).with(SuaParameter::RoutingKey(key));
    seeds.keep_message("sua", "reg-req", request);
    let affected = CommonParameter::AffectedPointCodes(vec![(0, PointCode(5))]);
    let duna = OwnMessage::empty(sua::kind::DUNA).with_common(contexts()).with_common(affected);
    seeds.keep_message("sua", "duna", duna.with(SuaParameter::Subsystem(8)));

    let iua = |kind| {
        OwnMessage::empty(kind).with_common(interface()).with(IuaParameter::Dlci(Dlci { sapi: 0, tei: 64 }))
    };
    seeds.keep_message("iua", "data", iua(iua::kind::DATA_REQUEST).with(IuaParameter::ProtocolData(payload)));
    let reason = IuaParameter::ReleaseReason(ReleaseReason::Management);
    seeds.keep_message("iua", "release", iua(iua::kind::RELEASE_REQUEST).with(reason));
    seeds.keep_message("iua", "query", iua(iua::kind::TEI_QUERY_REQUEST));
}

fn signalling(seeds: &mut Seeds) {
    let begin = [0x62, 0x0f, 0x48, 1, 7, 0x6c, 0x0a, 0xa1, 8, 2, 1, 1, 2, 1, 45, 0x30, 0];
    seeds.keep("tcap", "begin", begin);
    seeds.keep("tcap", "abort", [0x67, 6, 0x49, 1, 0, 0x4a, 1, 1]);
    seeds.keep("isup", "release", [0x2d, 0, 0x0c, 2, 0, 2, 0x80, 0x93]);
    seeds.keep("isup", "address", [5, 0, 1, 0, 0x20, 1, 0x0a, 0, 2, 0, 4, 3, 0x10, 0x21, 0x43]);
    // Started, proved, told of a message and of its acknowledgement, and busy.
    let session = [
        [0, 0, 0, 0],
        [10, 1, 1, 0],
        [10, 40, 1, 1],
        [10, 95, 0, 0],
        [7, 1, 0, 0],
        [8, 2, 0, 0],
        [6, 127, 0, 0],
    ];
    seeds.keep("mtp2", "session", session.concat());
    seeds.keep("mtp2", "unit", [0x81, 0x02, 0x05, 0x85, 1, 2, 3, 4]);
    let protocol_data = ProtocolData {
        opc: PointCode(1),
        dpc: PointCode(92),
        service_indicator: 3,
        network_indicator: 2,
        priority: 0,
        sls: Sls(12),
        user_data: vec![9, 0, 3].into(),
    };
    let data = m3ua::Message::Data(m3ua::Data {
        network_appearance: Some(1),
        routing_context: Some(2),
        protocol_data,
        correlation_id: None,
    });
    for (name, message) in [
        ("data", data),
        (
            "asp-up",
            m3ua::Message::Asp(AspMessage::AspUp { asp_identifier: Some(7), info: Some(b"hello".to_vec()) }),
        ),
        ("dereg-req", m3ua::Message::DeregReq { routing_contexts: vec![1, 2] }),
    ] {
        let mut out = Vec::new();
        message.emit(&mut out);
        seeds.keep("m3ua", name, out);
    }
    let address = PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(6)), ..PartyAddress::default() };
    let unitdata = sccp::Message::Udt {
        class: ProtocolClass { class: 0, handling: 8 },
        called: address.clone(),
        calling: address,
        data: vec![1, 2, 3],
    };
    let mut out = Vec::new();
    unitdata.emit(&mut out).expect("short");
    seeds.keep("sccp", "udt", &out);
    // An address of ANSI: subsystem, point code, a title with a plan.
    seeds.keep("sccp", "ansi-address", [0x87, 8, 3, 2, 1, 10, 0x12, 0x08, 0x50, 0x55]);
    seeds.keep("sccp_node", "messages", sccp_records(&out));
    let label = RoutingLabel { dpc: PointCode(92), opc: PointCode(1), sls: Sls(3) };
    for (choice, format) in [(0, PointCodeFormat::Ansi), (1, PointCodeFormat::Itu), (2, PointCodeFormat::Ttc)]
    {
        let (mut out, mut order) = (vec![choice], Vec::new());
        let layout = ManagementLayout::of(format).unwrap_or(ManagementLayout::Itu);
        ManagementMessage::Coo(Fsn(5)).emit(layout, Slc(3), &mut order);
        Msu { service: ServiceInformation::from_octet(0x80), label, user_part: &order }
            .emit(format, &mut out);
        seeds.keep("mtp3", &format!("changeover-{choice}"), out);
    }
    // Two links come up and are tested, one fails and changes over, one is inhibited.
    let up = |link: u8| [[0, link, 0, 0], [7, link, 0, 0], [17, link, 0x21, 0x40]];
    let mut steps: Vec<u8> = [up(0), up(1)].concat().concat();
    let over = [
        [5, 0, 255, 255],
        [5, 0, 255, 255],
        [6, 0, 2, 1],
        [8, 1, 0, 0],
        [9, 1, 5, 0],
        [16, 1, 0x21, 4],
        [15, 1, 2, 1],
        [11, 1, 0, 0],
    ];
    steps.extend(over.concat());
    steps.extend([[2, 0, 0, 0], [16, 0, 0x36, 0], [5, 0, 255, 255], [5, 0, 255, 255]].concat());
    for options in [0, 2, 31] {
        seeds.keep("mtp3_node", &format!("options-{options}"), [&[options][..], &steps].concat());
    }
}

fn link(seeds: &mut Seeds) {
    let user_data =
        m2pa::UserData { priority: m2pa::Priority::default(), msu: Bytes::from_static(&[0x83, 1, 2, 3]) };
    for (name, body) in [
        ("acknowledgement", m2pa::Body::Acknowledgement),
        ("proving", m2pa::Body::LinkStatus(m2pa::LinkStatus::ProvingNormal(Bytes::from_static(&[0x55; 24])))),
        ("ready", m2pa::Body::LinkStatus(m2pa::LinkStatus::Ready)),
        ("user-data", m2pa::Body::UserData(user_data)),
    ] {
        let none = m2pa::SequenceNumber::BEFORE_FIRST;
        let message = m2pa::Message { bsn: none, fsn: none, body };
        let mut out = Vec::new();
        message.emit(&mut out);
        seeds.keep("m2pa", name, out);
    }
}

/// Records of the node's body: a user that comes, a message for it, connections that are asked for and made, their
/// data, time that passes.
fn sccp_records(unitdata: &[u8]) -> Vec<u8> {
    let reference = sccp::LocalReference(7);
    let called = PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(6)), ..PartyAddress::default() };
    let request = sccp::Message::Cr {
        source: reference,
        class: ProtocolClass { class: 3, handling: 0 },
        called,
        optional: sccp::OptionalParameters::default(),
    };
    let data = sccp::Message::Dt2 {
        destination: sccp::LocalReference(0),
        sequencing: sccp::SequencingSegmenting { send: 0, receive: 0, more: false },
        data: vec![1, 2],
    };
    let mut records = Vec::new();
    let mut record = |kind: u8, bytes: &[u8]| {
        records.extend_from_slice(&[kind, u8::try_from(bytes.len()).expect("short")]);
        records.extend_from_slice(bytes);
    };
    let octets = |message: &sccp::Message| {
        let mut out = Vec::new();
        message.emit(&mut out).expect("short");
        out
    };
    record(0, &[0]);
    record(11, unitdata);
    record(11, &octets(&request));
    record(1, &[0]);
    record(11, &octets(&data));
    record(2, &[0, 1, 2]);
    record(9, &[0x43, 2, 0, 6]);
    record(5, &[0]);
    record(8, &[0]);
    record(7, &[200]);
    record(3, &[0]);
    record(7, &[200]);
    records
}

fn quantities(seeds: &mut Seeds) {
    for (number, text) in ["250 ms", "1.536 Mbit/s", "64 KiB", "1 %", "-33.5 deg", "1e-3"].iter().enumerate()
    {
        seeds.keep("quantity", &number.to_string(), text);
    }
}
