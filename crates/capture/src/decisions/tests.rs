use slantpath_sctp::chunk::{
    self, Abort, CookieAck, CookieEcho, DataFlags, GapAckBlock, HeartbeatAck, Init, InitAck, InitFields,
    Sack, Shutdown, ShutdownAck, ShutdownComplete,
};
use slantpath_sctp::{Ppid, StreamId, StreamSequence, Tsn, VerificationTag};
use slantpath_testkit::shared;
use slantpath_trace::{Evidence, TimerChange};
use slantpath_wire::ip::protocol;

use super::*;
use crate::file::CaptureReader;
use crate::frame::LinkType;
use crate::packets;

const HERE: [u8; 4] = [10, 0, 0, 1];
const THERE: [u8; 4] = [10, 0, 0, 2];
const OTHER: [u8; 4] = [10, 0, 1, 2];
/// Tags of the packets from here, and of those to here.
const TAG: u32 = 5;
const TAG_BACK: u32 = 6;

/// Layers below SCTP.
#[derive(Clone, Copy, Debug)]
enum Below {
    Ipv4,
    Ipv6,
    UdpOverIpv4,
    UdpOverIpv6,
}

impl Below {
    fn address(self, [a, b, c, d]: [u8; 4]) -> IpAddr {
        match self {
            Self::Ipv4 | Self::UdpOverIpv4 => [a, b, c, d].into(),
            Self::Ipv6 | Self::UdpOverIpv6 => {
                [0xfd00_u16, 0, 0, 0, a.into(), b.into(), c.into(), d.into()].into()
            }
        }
    }

    /// A packet at a millisecond: from port 7 of here to port 9, or back.
    fn frame(
        self,
        millis: u64,
        source: [u8; 4],
        destination: [u8; 4],
        tag: u32,
        chunks: &[Chunk],
    ) -> CapturedFrame {
        let ports = if source == HERE { [7_u16, 9] } else { [9, 7] };
        let mut payload = ports.map(u16::to_be_bytes).concat();
        payload.extend(tag.to_be_bytes());
        payload.extend([0; 4]);
        for chunk in chunks {
            chunk.write(&mut payload);
        }
        let ends = [source, destination].map(|address| self.address(address));
        let bytes = match self {
            Self::Ipv4 | Self::Ipv6 => packets::ip(ends, protocol::SCTP, &payload),
            Self::UdpOverIpv4 | Self::UdpOverIpv6 => {
                packets::ip(ends, protocol::UDP, &packets::udp([9_899; 2], &payload))
            }
        };
        let original_len = u32::try_from(bytes.len()).unwrap();
        let time = Some(Instant::from_millis(1_000_000 + millis));
        CapturedFrame {
            number: 1,
            interface: 0,
            link: LinkType(101),
            time,
            bytes: bytes.into(),
            original_len,
        }
    }
}

fn frame(millis: u64, source: [u8; 4], destination: [u8; 4], tag: u32, chunks: &[Chunk]) -> CapturedFrame {
    Below::Ipv4.frame(millis, source, destination, tag, chunks)
}

fn there(millis: u64, chunks: &[Chunk]) -> CapturedFrame {
    frame(millis, HERE, THERE, TAG, chunks)
}

fn back(millis: u64, chunks: &[Chunk]) -> CapturedFrame {
    frame(millis, THERE, HERE, TAG_BACK, chunks)
}

fn data(tsn: u32) -> Chunk {
    Chunk::Data(chunk::Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(tsn),
        stream: StreamId(0),
        sequence: StreamSequence(0),
        ppid: Ppid(0),
        payload: Bytes::from_static(&[1; 100]),
    })
}

fn sack(cumulative: u32, gaps: &[(u16, u16)]) -> Chunk {
    Chunk::Sack(Sack {
        cumulative_tsn_ack: Tsn(cumulative),
        a_rwnd: 5_000,
        gap_ack_blocks: gaps.iter().map(|&(start, end)| GapAckBlock { start, end }).collect(),
        duplicates: [].into_iter().collect(),
    })
}

fn fields(tag: u32, streams: u16) -> InitFields {
    InitFields {
        initiate_tag: VerificationTag(tag),
        a_rwnd: 5_000,
        outbound_streams: streams,
        inbound_streams: 9,
        initial_tsn: Tsn(1),
    }
}

/// A handshake that begins here, with these tags.
fn handshake(millis: u64, tag: u32, tag_back: u32) -> [CapturedFrame; 4] {
    let init = Chunk::Init(Init { fields: fields(tag_back, 3), parameters: Vec::new() });
    let ack = Chunk::InitAck(InitAck { fields: fields(tag, 4), parameters: Vec::new() });
    [
        frame(millis, HERE, THERE, 0, &[init]),
        frame(millis + 1, THERE, HERE, tag_back, &[ack]),
        frame(
            millis + 2,
            HERE,
            THERE,
            tag,
            &[Chunk::CookieEcho(CookieEcho { cookie: Bytes::from_static(b"abcd") })],
        ),
        frame(millis + 3, THERE, HERE, tag_back, &[Chunk::CookieAck(CookieAck)]),
    ]
}

/// Records without their instants, and directions.
fn told(frames: &[CapturedFrame]) -> (Vec<(u32, What)>, Vec<CapturedDirection>) {
    let mut associations = CapturedAssociations::new(Duration::from_secs(1), PointCodeFormat::Itu);
    let mut records = Vec::new();
    let mut keep = |record: Record| records.push((record.association, record.what));
    for frame in frames {
        associations.frame(frame, &mut keep);
    }
    let CapturedEnds { directions, left_out, .. } = associations.finish(&mut keep);
    assert_eq!(left_out, 0);
    (records, directions)
}

fn sent(tsn: u32, path: [u8; 4], transmission: u32) -> (u32, What) {
    (1, What::Sent { message: Some(u64::from(tsn) - 1), tsn, path: path.into(), transmission })
}

fn lost(tsn: u32, path: [u8; 4], evidence: Evidence, reports: Option<u16>) -> (u32, What) {
    let (message, path) = (Some(u64::from(tsn) - 1), path.into());
    let (age_ns, reordering_window_ns, mtu_bytes) = (None, None, None);
    (1, What::Lost { message, tsn, path, evidence, reports, age_ns, reordering_window_ns, mtu_bytes })
}

fn acknowledged(message: u64) -> (u32, What) {
    (1, What::Acknowledged { message: Some(message) })
}

#[test]
fn a_life_in_order_is_told_from_both_ends() {
    let mut frames = handshake(0, TAG, TAG_BACK).to_vec();
    let info = || Bytes::from_static(b"info");
    frames.extend([
        there(10, &[data(1)]),
        back(20, &[sack(1, &[])]),
        there(30, &[Chunk::Heartbeat(chunk::Heartbeat { info: info(), others: Bytes::new() })]),
        back(45, &[Chunk::HeartbeatAck(HeartbeatAck { info: info(), others: Bytes::new() })]),
        there(50, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(0) })]),
        back(60, &[Chunk::ShutdownAck(ShutdownAck)]),
        there(70, &[Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: false })]),
    ]);
    let (records, directions) = told(&frames);
    let path = THERE.into();
    let closed =
        || What::Closed { orderly: true, reason: "the association was shut down in order".to_owned() };
    let expected = [
        (1, What::Up { outbound_streams: 3, inbound_streams: 4 }),
        (2, What::Up { outbound_streams: 4, inbound_streams: 3 }),
        sent(1, THERE, 1),
        acknowledged(0),
        (1, What::HeartbeatSent { path }),
        (1, What::HeartbeatAnswered { path, round_trip_ns: Duration::from_millis(15) }),
        (1, What::State { state: AssociationState::ShutdownSent }),
        (2, What::Notice(Notice::ShutdownReceived {})),
        (2, What::State { state: AssociationState::ShutdownAckSent }),
        (1, closed()),
        (2, closed()),
        (0, What::End {}),
    ];
    assert_eq!(records, expected);
    assert!(directions.iter().all(|direction| direction.is_seen && direction.is_from_the_start));
    assert_eq!((directions[0].source_port, &directions[0].destinations[..]), (7, &[THERE.into()][..]));
}

#[test]
fn a_retransmission_is_told_by_what_led_to_it() {
    let frames = [
        there(0, &[data(1), data(2), data(3), data(4), data(5)]),
        back(10, &[sack(1, &[(2, 2)])]),
        back(11, &[sack(1, &[(2, 3)])]),
        back(12, &[sack(1, &[(2, 4)])]),
        // Three reports, then none that anybody saw, and a time-out of what left together.
        there(13, &[data(2)]),
        there(15, &[data(6), data(7)]),
        there(20, &[data(6)]),
        back(30, &[sack(6, &[])]),
        frame(1_030, HERE, OTHER, TAG, &[data(7)]),
        frame(1_040, HERE, OTHER, TAG, &[data(8)]),
    ];
    let (records, _) = told(&frames);
    let expired = What::T3Rtx {
        path: THERE.into(),
        change: TimerChange::Expired,
        rto_ns: Some(Duration::from_secs(1)),
        outstanding_bytes: Some(100),
    };
    // Of the chunks that were sent once, the last that was answered left at 0.
    let failover = Notice::FailedOver {
        path: OTHER.into(),
        former: THERE.into(),
        message: Some(7),
        unanswered_ns: Some(Duration::from_millis(1_040)),
        first_timeout_ns: Some(Duration::from_millis(10)),
        decided_ns: None,
    };
    let first = (1..=5).map(|tsn| sent(tsn, THERE, 1));
    let expected: Vec<_> = first
        .chain([acknowledged(0), lost(2, THERE, Evidence::MissIndications, Some(3)), sent(2, THERE, 2)])
        .chain([sent(6, THERE, 1), sent(7, THERE, 1)])
        .chain([lost(6, THERE, Evidence::Unknown, None), sent(6, THERE, 2)])
        .chain((1..=5).map(acknowledged))
        .chain([(1, expired), lost(7, THERE, Evidence::TimedOut, None), sent(7, OTHER, 2)])
        .chain([(1, What::Notice(failover)), sent(8, OTHER, 1)])
        .chain([(0, What::End {})])
        .collect();
    assert_eq!(records, expected);
}

fn heartbeat(info: &'static str) -> Chunk {
    let info = Bytes::from_static(info.as_bytes());
    Chunk::Heartbeat(chunk::Heartbeat { info, others: Bytes::new() })
}

fn heartbeat_ack(info: &'static str) -> Chunk {
    let info = Bytes::from_static(info.as_bytes());
    Chunk::HeartbeatAck(HeartbeatAck { info, others: Bytes::new() })
}

fn failovers(records: &[(u32, What)]) -> Vec<&Notice> {
    let notices = records.iter().filter_map(|(_, what)| match what {
        What::Notice(notice @ Notice::FailedOver { .. }) => Some(notice),
        _ => None,
    });
    notices.collect()
}

#[test]
fn a_failover_counts_from_the_newest_packet_that_the_former_path_has_answered() {
    for below in [Below::Ipv4, Below::Ipv6, Below::UdpOverIpv4, Below::UdpOverIpv6] {
        let to = |path, millis, chunk| below.frame(millis, HERE, path, TAG, &[chunk]);
        let from = |path, millis, chunk| below.frame(millis, path, HERE, TAG_BACK, &[chunk]);
        let frames = [
            to(THERE, 0, data(1)),
            from(THERE, 10, sack(1, &[])),
            to(THERE, 20, data(2)),
            to(THERE, 20, data(3)),
            // The answer to them may be one to the first transmissions: nobody knows what was answered. It ends the
            // errors of the path all the same.
            to(THERE, 1_020, data(2)),
            to(THERE, 1_020, data(3)),
            from(THERE, 1_030, sack(1, &[(2, 2)])),
            from(THERE, 1_031, sack(3, &[])),
            to(OTHER, 1_035, data(4)),
            from(OTHER, 1_036, sack(4, &[])),
            to(THERE, 1_040, data(5)),
            to(OTHER, 2_040, data(5)),
            to(OTHER, 2_050, data(6)),
            from(OTHER, 2_060, sack(6, &[])),
            to(THERE, 3_000, heartbeat("a")),
            from(THERE, 3_090, heartbeat_ack("a")),
            // Back on the first path, which has answered.
            to(THERE, 3_100, data(7)),
            to(OTHER, 4_100, data(7)),
            to(OTHER, 4_110, data(8)),
        ];
        let (records, directions) = told(&frames);
        let failover = |message: u64, unanswered: u64| Notice::FailedOver {
            path: below.address(OTHER),
            former: below.address(THERE),
            message: Some(message),
            unanswered_ns: Some(Duration::from_millis(unanswered)),
            first_timeout_ns: Some(Duration::from_millis(10)),
            decided_ns: None,
        };
        assert_eq!(failovers(&records), [&failover(5, 2_050), &failover(7, 1_110)], "{below:?}");
        assert_eq!(directions[0].destinations, [THERE, OTHER].map(|path| below.address(path)));
    }
}

#[test]
fn a_restart_ends_the_errors_of_all_paths() {
    let frames = |first: [CapturedFrame; 4]| {
        let mut frames = handshake(0, TAG, TAG_BACK).to_vec();
        frames.extend([there(10, &[data(1)]), there(1_010, &[data(1)])]);
        frames.extend(first);
        frames.push(frame(2_010, HERE, OTHER, 50, &[data(2)]));
        failovers(&told(&frames).0).len()
    };
    assert_eq!(frames(handshake(2_000, 50, 60)), 0);
    let no_restart = [2_000, 2_001, 2_002, 2_003].map(|millis| frame(millis, HERE, OTHER, TAG, &[]));
    let mut frames = handshake(0, TAG, TAG_BACK).to_vec();
    frames.extend([there(10, &[data(1)]), there(1_010, &[data(1)])]);
    frames.extend(no_restart);
    frames.push(frame(2_010, HERE, OTHER, TAG, &[data(2)]));
    assert_eq!(failovers(&told(&frames).0).len(), 1);
}

#[test]
fn the_answers_of_two_paths_come_in_one_sack() {
    let other = |millis, tsn| frame(millis, HERE, OTHER, TAG, &[data(tsn)]);
    let frames = [
        there(0, &[data(1)]),
        other(0, 2),
        there(1_000, &[data(1)]),
        other(1_001, 2),
        back(1_010, &[sack(2, &[])]),
        other(1_020, 3),
        there(1_030, &[data(4)]),
    ];
    let (records, _) = told(&frames);
    let stopped = |what: &What| matches!(what, What::T3Rtx { change: TimerChange::Stopped, .. });
    assert_eq!(records.iter().filter(|(_, what)| stopped(what)).count(), 2);
    assert!(failovers(&records).is_empty());
}

#[test]
fn a_copy_at_another_interface_is_no_packet_but_one_to_another_path_is() {
    let at = |interface: u32, frame: CapturedFrame| CapturedFrame { interface, ..frame };
    let frames = [
        there(0, &[data(1)]),
        at(1, there(20, &[data(1)])),
        there(100, &[heartbeat("a")]),
        at(1, there(120, &[heartbeat("a")])),
        at(1, back(120, &[heartbeat_ack("a")])),
        back(140, &[heartbeat_ack("a")]),
        // The paths of one host leave by its interfaces.
        at(1, frame(1_000, HERE, OTHER, TAG, &[data(1)])),
        there(2_000, &[heartbeat("b")]),
        back(2_030, &[heartbeat_ack("b")]),
    ];
    let (records, _) = told(&frames);
    let [there, other] = [THERE, OTHER].map(IpAddr::from);
    let sent_twice: Vec<_> = records
        .iter()
        .filter_map(|(_, what)| match what {
            What::Sent { path, transmission, .. } => Some((*path, *transmission)),
            _ => None,
        })
        .collect();
    assert_eq!(sent_twice, [(there, 1), (other, 2)]);
    let answered: Vec<_> = records
        .iter()
        .filter_map(|(_, what)| match what {
            What::HeartbeatAnswered { round_trip_ns, .. } => Some(*round_trip_ns),
            _ => None,
        })
        .collect();
    assert_eq!(answered, [40, 30].map(Duration::from_millis));
    let heartbeats = records.iter().filter(|(_, what)| matches!(what, What::HeartbeatSent { .. })).count();
    assert_eq!(heartbeats, 2);
}

#[test]
fn memory_and_work_are_bounded_whatever_is_outstanding() {
    let mut associations = CapturedAssociations::new(Duration::from_secs(1), PointCodeFormat::Itu);
    let mut most = 0;
    // Two chunks that are as far from each other as can be, in each of many associations.
    for tag in 1..=40 {
        for tsn in [1, 65_536] {
            associations.frame(&frame(0, HERE, THERE, tag, &[data(tsn)]), &mut |_| {});
        }
        let held: usize = associations.followed.iter().map(Association::places).sum();
        assert_eq!(held, associations.held);
        most = most.max(held);
    }
    // One that has to begin anew has one place.
    assert!((HELD_MAX - 65_536..=HELD_MAX + 40).contains(&most), "{most}");
    // What was acknowledged is given back.
    let held = associations.held;
    associations.frame(&frame(1, THERE, HERE, 99, &[sack(65_536, &[])]), &mut |_| {});
    assert!(associations.held <= held);
    // Tags that an association has had are limited.
    for frame in handshake(0, TAG, TAG_BACK) {
        associations.frame(&frame, &mut |_| {});
    }
    for tag in 0..2 * u32::try_from(KEYS_MAX).unwrap() {
        let [init, ..] = handshake(10, 0, 1_000 + tag);
        associations.frame(&init, &mut |_| {});
    }
    assert!(associations.by_key.len() <= KEYS_MAX);
}

#[test]
fn what_timed_out_together_is_one_expiry_and_a_shorter_gap_is_none() {
    let both = |millis: u64| [there(millis, &[data(1)]), there(millis + 1, &[data(2)])];
    let of = |frames: &[CapturedFrame]| {
        let (records, _) = told(frames);
        let expiries = records.iter().filter(|(_, what)| matches!(what, What::T3Rtx { .. })).count();
        let timed = |what: &What| matches!(what, What::Lost { evidence: Evidence::TimedOut, .. });
        (expiries, records.iter().filter(|(_, what)| timed(what)).count())
    };
    assert_eq!(of(&[both(0), both(1_000)].concat()), (1, 2));
    assert_eq!(of(&[both(0), both(999)].concat()), (0, 0));
    assert_eq!(of(&[both(0), both(1_000), both(3_000)].concat()), (2, 4));
}

#[test]
fn a_restart_an_abort_and_silence_are_told() {
    let mut frames = handshake(0, TAG, TAG_BACK).to_vec();
    frames.push(there(10, &[data(1)]));
    frames.extend(handshake(100, 50, 60));
    frames.push(frame(110, HERE, THERE, 50, &[data(1)]));
    frames.push(frame(
        120,
        THERE,
        HERE,
        60,
        &[Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() })],
    ));
    // Another one, of which nothing follows.
    let [init, ..] = handshake(60_121, 70, 80);
    let mut other = frame(130, THERE, OTHER, 9, &[data(1)]);
    other.interface = 1;
    frames.extend([other, init]);
    let (records, directions) = told(&frames);
    let ups = records.iter().filter(|(_, what)| matches!(what, What::Up { .. })).count();
    let restarts: Vec<u32> = records
        .iter()
        .filter(|(_, what)| *what == What::Notice(Notice::Restarted {}))
        .map(|(of, _)| *of)
        .collect();
    assert_eq!((ups, restarts), (2, vec![2]));
    let closed: Vec<(u32, &str)> = records
        .iter()
        .filter_map(|(of, what)| match what {
            What::Closed { reason, .. } => Some((*of, reason.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        closed[..2],
        [
            (1, "the peer has aborted the association, and does not say why"),
            (2, "the association was aborted here"),
        ]
    );
    assert_eq!(closed.len(), 2, "59.991 s are no silence yet: {closed:?}");
    assert_eq!(directions.len(), 6);
    let first_data =
        records.iter().filter(|(_, what)| matches!(what, What::Sent { transmission: 1, .. })).count();
    assert_eq!(first_data, 3);
    let mut later = frames;
    later.push(frame(60_130, HERE, THERE, 0, &[]));
    later.push(handshake(60_130, 70, 80)[0].clone());
    let (records, _) = told(&later);
    let silent = records.iter().filter(|(of, what)| *of == 3 && matches!(what, What::Closed { .. })).count();
    assert_eq!(silent, 1);
}

#[test]
fn real_captures_are_followed_whatever_is_broken_in_them() {
    for name in ["forces2.pcap", "sctp-keywords.pcap", "sctp-test.cap", "sctp-max-chunks.pcap"] {
        let Some(octets) = shared::octets(&format!("pcap/{name}")) else { return };
        for broken in (0..octets.len()).step_by(97) {
            let mut octets = octets.clone();
            octets[broken] ^= 0x41;
            let Ok(mut reader) = CaptureReader::open(&octets[..]) else { continue };
            let mut associations = CapturedAssociations::new(Duration::from_secs(1), PointCodeFormat::Itu);
            while let Ok(Some(frame)) = reader.next_frame() {
                associations.frame(&frame, &mut |_| {});
            }
            associations.finish(&mut |_| {});
        }
    }
}

/// Ports of two associations of one sender, by which the packets of these tests are told apart.
const SECOND_TAG: u32 = 15;

/// A message of M2PA with a routing label of ITU-T: from point 1 to point 2, with a signalling link selection.
fn m2pa(tsn: u32, selection: u8) -> Chunk {
    let label = 2_u32 | 1 << 14 | u32::from(selection) << 28;
    let mut msu = vec![0x85];
    msu.extend(label.to_le_bytes());
    msu.extend([7; 20]);
    user_data(tsn, 5, &signal(1, &[&[0, 0, 0, 1, 0, 0, 0, 1, 0][..], &msu].concat()))
}

/// A message of M2PA or M3UA: class 11 is M2PA's.
fn signal(kind: u8, rest: &[u8]) -> Vec<u8> {
    let len = u32::try_from(8 + rest.len()).unwrap();
    [&[1, 0, 11, kind][..], &len.to_be_bytes(), rest].concat()
}

/// Status "out of service" of M2PA.
fn out_of_service(tsn: u32) -> Chunk {
    user_data(tsn, 5, &signal(2, &[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9]))
}

fn user_data(tsn: u32, ppid: u32, payload: &[u8]) -> Chunk {
    Chunk::Data(chunk::Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(tsn),
        stream: StreamId(1),
        sequence: StreamSequence(0),
        ppid: Ppid(ppid),
        payload: Bytes::copy_from_slice(payload),
    })
}

fn second(millis: u64, chunks: &[Chunk]) -> CapturedFrame {
    frame(millis, HERE, OTHER, SECOND_TAG, chunks)
}

fn diversions(frames: &[CapturedFrame]) -> Vec<(u32, u32, u8, Option<u64>)> {
    let mut associations = CapturedAssociations::new(Duration::from_secs(1), PointCodeFormat::Itu);
    for frame in frames {
        associations.frame(frame, &mut |_| {});
    }
    let found = associations.finish(&mut |_| {}).diversions.into_iter();
    let millis = |time: Duration| time.as_nanos() / 1_000_000;
    found.map(|of| (of.from, of.to, of.selection, of.unanswered.map(millis))).collect()
}

#[test]
fn signalling_that_leaves_an_association_without_an_answer_is_a_failover_since_its_last_answer() {
    let timed_out = [
        there(0, &[m2pa(1, 3)]),
        back(50, &[sack(1, &[])]),
        there(200, &[m2pa(2, 3)]),
        there(1_200, &[m2pa(2, 3)]),
        second(1_500, &[m2pa(1, 4)]),
        second(1_600, &[m2pa(2, 3)]),
        second(1_700, &[m2pa(3, 3)]),
    ];
    assert_eq!(diversions(&timed_out), [(1, 3, 3, Some(1_600))]);
    // By the status of its link: nothing has timed out yet.
    let given_up = [
        there(0, &[m2pa(1, 3)]),
        there(10, &[m2pa(2, 4)]),
        back(50, &[sack(2, &[])]),
        there(900, &[out_of_service(3)]),
        second(1_000, &[m2pa(1, 4)]),
        second(1_010, &[m2pa(2, 3)]),
    ];
    // All that it carried leaves it at once: one failover.
    assert_eq!(diversions(&given_up), [(1, 3, 4, Some(990))]);
}

#[test]
fn signalling_that_moves_while_all_is_answered_and_that_of_another_sender_are_no_failover() {
    let moved = [there(0, &[m2pa(1, 3)]), back(50, &[sack(1, &[])]), second(1_500, &[m2pa(1, 3)])];
    assert_eq!(diversions(&moved), []);
    // A transfer point sends on what it has received.
    let passed_on = [
        there(0, &[m2pa(1, 3)]),
        there(1_500, &[m2pa(1, 3)]),
        frame(1_600, [10, 0, 3, 1], OTHER, SECOND_TAG, &[m2pa(1, 3)]),
    ];
    assert_eq!(diversions(&passed_on), []);
    // Management of MTP3 is no traffic.
    let mut management = m2pa(1, 3);
    if let Chunk::Data(data) = &mut management {
        let mut octets = data.payload.to_vec();
        octets[17] = 0x80;
        data.payload = octets.into();
    }
    let ordered = [there(0, &[m2pa(1, 3)]), there(1_500, &[m2pa(1, 3)]), second(1_600, &[management])];
    assert_eq!(diversions(&ordered), []);
}
