//! Everything that a trace may tell is told in words, and read again as it was written.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationState, PathState, ReliabilityPolicy, Unanswered, WaitReason, WindowCause};
use slantpath_trace::{
    AddressRequest, Evidence, Header, Origin, PeerAddress, Record, Selection, Settings, Story, StreamAnswer,
    StreamRequest, StreamsStep, Timer, TraceReader, TraceWriter, What, tell,
};

const PATH: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 1, 0, 2));

fn governed(state: PathState, cwnd_bytes: u64) -> What {
    What::Path {
        path: PATH,
        source: [10, 1, 0, 1].into(),
        state,
        primary: false,
        cause: WindowCause::Unchanged,
        cwnd_bytes,
        ssthresh_bytes: 10_000,
        flight_bytes: 0,
        srtt_ns: Some(Duration::from_secs(1)),
        rto_ns: Duration::from_secs(1),
        errors: 0,
        mtu_bytes: 1_500,
    }
}

fn lost(tsn: u32) -> What {
    What::Lost {
        message: Some(u64::from(tsn)),
        tsn,
        path: PATH,
        evidence: Evidence::TimedOut,
        reports: None,
        age_ns: None,
        reordering_window_ns: None,
        mtu_bytes: None,
    }
}

/// Events before: a path is known, and a message that was sent there counts as lost.
fn before() -> Vec<What> {
    vec![
        governed(PathState::Active, 4_404),
        What::Sent { message: Some(7), tsn: 7, path: PATH, transmission: 1 },
        lost(7),
    ]
}

/// One of each kind, but for what has happened before.
fn samples() -> Vec<What> {
    let second = Duration::from_secs(1);
    vec![
        What::Up { outbound_streams: 4, inbound_streams: 2 },
        What::State { state: AssociationState::ShutdownPending },
        governed(PathState::PotentiallyFailed, 1_500),
        What::PathChanged { path: PATH, state: PathState::Inactive },
        What::PrimaryChanged { path: PATH },
        What::PathError { path: PATH, unanswered: Unanswered::ReConfig, errors: 2, association_errors: 3 },
        What::HeartbeatSent { path: PATH },
        What::HeartbeatAnswered { path: PATH, round_trip_ns: second },
        What::T3Rtx { path: PATH, change: Timer::Expired, rto_ns: Some(second), outstanding_bytes: Some(9) },
        What::Restored { message: Some(7), tsn: 7 },
        What::Revoked { message: Some(7), tsn: 7 },
        What::Acknowledged { message: Some(7) },
        What::Delivered { message: 7, offered_ns: Instant::START },
        What::Failed { message: Some(7) },
        What::Abandoned { message: Some(8), stream: 3, policy: ReliabilityPolicy::Priority, sent: false },
        What::Waiting { reason: WaitReason::Pacing, peer_rwnd_bytes: 9 },
        What::Room { free_bytes: 9 },
        What::PeerReported { causes: "[NoUserData]".to_owned() },
        What::Restarted {},
        What::ShutdownReceived {},
        What::PartialDeliveryAborted { stream: 3, sequence: Some(9) },
        What::StreamsAnswered {
            request: StreamRequest::ResetOutbound,
            streams: Some(vec![1, 3]),
            count: None,
            answer: StreamAnswer::Performed,
        },
        What::StreamsChanged {
            change: StreamsStep::Added,
            streams: None,
            outbound_streams: Some(6),
            inbound_streams: Some(2),
        },
        What::AddressAnswered { request: AddressRequest::Add, address: Some(PATH), accepted: true },
        What::PeerAddress { change: PeerAddress::Removed, path: PATH },
        What::LocalLink { source: [10, 1, 0, 1].into(), up: false },
        What::NotAuthenticated { key: None, known: None },
        What::NotAuthenticated { key: Some(1), known: Some(true) },
        What::NotAuthenticated { key: Some(2), known: Some(false) },
        What::AdaptationLayer { code: 17 },
        What::Closed { orderly: true, reason: "closed in order".to_owned() },
        What::Dropped { records: 5 },
        What::End {},
    ]
}

fn records(what: impl IntoIterator<Item = What>) -> Vec<Record> {
    let at = |number: u64| Instant::from_millis(1_000 * number);
    (1..).zip(what).map(|(number, what)| Record { at: at(number), association: 0, what }).collect()
}

fn header() -> Header {
    Header {
        origin: Origin::Live { command: vec!["load".to_owned()] },
        settings: Settings::default(),
        profile: None,
    }
}

/// Gives the text that is told of these records.
fn reported(records: &[Record]) -> String {
    let records = records.iter().cloned().map(Ok::<_, ()>);
    let story = Story::of(header(), Duration::from_secs(100), records).expect("no record is wrong");
    let mut text = Vec::new();
    tell(&story, Selection { all: true, ..Selection::default() }, &mut text).expect("memory takes all");
    String::from_utf8(text).expect("it is text")
}

#[test]
fn everything_that_a_trace_may_tell_changes_what_is_told() {
    let mut missing: Vec<&str> = What::NAMES.to_vec();
    missing.retain(|name| !before().iter().chain(&samples()).any(|what| what.name() == *name));
    assert_eq!(missing, [] as [&str; 0], "without a sample");
    let without = records(before());
    for what in samples() {
        // What lasts is told by how long: something has to come behind.
        let (at, name) = (Instant::from_secs(90), what.name());
        let last = Record { at, association: 0, what: lost(99) };
        let with = records(before().into_iter().chain([what]));
        let [without, with] =
            [&without, &with].map(|all| reported(&[&all[..], std::slice::from_ref(&last)].concat()));
        assert_ne!(without, with, "{name}");
    }
    let [_, sent, loss] = &before()[..] else { unreachable!("three steps") };
    for (name, few) in [("sent", [loss]), ("lost", [sent])] {
        let few = few.into_iter().cloned();
        assert_ne!(reported(&records(few)), reported(&records([sent.clone(), loss.clone()])), "{name}");
    }
}

#[test]
fn what_happens_to_streams_addresses_and_messages_is_told_in_these_words() {
    let expected = [
        (AssociationState::ShutdownPending, "the shutdown waits until all is acknowledged"),
        (AssociationState::ShutdownAckSent, "SHUTDOWN ACK has been sent"),
    ];
    for (state, words) in expected {
        assert!(reported(&records([What::State { state }])).contains(words), "{words}");
    }
    let all = reported(&records(samples()));
    for words in [
        "10.1.0.2: has become the primary path: the former one had not answered often enough",
        "the peer has thrown away 1 chunk, acknowledged by Gap Ack Blocks before",
        "1 message of stream 3 given up for room in the send buffer (priority): unsent",
        "1 messages were given up for room in the send buffer (priority), 0 of them",
        "The send buffer was full, and had room again, once.",
        "the rest of message 9 of stream 3 will never come: its reader had a part",
        "the request to begin streams 1, 3 again is answered: done",
        "streams were added: 6 to send on, 2 for the peer",
        "the peer, asked to add 10.1.0.2, has done so",
        "10.1.0.2: the peer has this address no more",
        "the peer's layer above has the code point 17",
    ] {
        assert!(all.contains(words), "{words}\n{all}");
    }
}

#[test]
fn everything_that_a_trace_may_tell_is_read_as_it_was_written() {
    let records = records(before().into_iter().chain(samples()));
    let mut file = Vec::new();
    let mut writer = TraceWriter::begin(&mut file, &header()).expect("memory takes all");
    for record in &records {
        writer.write(record).expect("memory takes all");
    }
    let read: Vec<Record> = TraceReader::open(&file[..]).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(read, records);
}
