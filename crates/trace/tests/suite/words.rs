//! Everything that a trace may tell is told in words, and read again as it was written.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::notice::{AddressRequest, PeerAddress, StreamAnswer, StreamRequest, StreamsStep};
use slantpath_sctp::{
    AssociationState, Notice, PathState, ReliabilityPolicy, Unanswered, WaitReason, WindowCause,
};
use slantpath_trace::{
    Evidence, Record, Story, StorySelection, TimerChange, TraceHeader, TraceOrigin, TraceReader,
    TraceSettings, TraceWriter, What, tell,
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
        What::Notice(Notice::PathChanged { path: PATH, state: PathState::Inactive }),
        What::Notice(Notice::PrimaryChanged { path: PATH }),
        What::Notice(Notice::FailedOver {
            path: PATH,
            former: PATH,
            message: Some(7),
            unanswered_ns: Some(second),
            first_timeout_ns: Some(second / 2),
            decided_ns: Some(second / 4),
        }),
        What::Notice(Notice::PathMtuChanged { path: PATH, mtu_bytes: 1_300, before_bytes: 1_500 }),
        What::PathError { path: PATH, unanswered: Unanswered::ReConfig, errors: 2, association_errors: 3 },
        What::HeartbeatSent { path: PATH },
        What::HeartbeatAnswered { path: PATH, round_trip_ns: second },
        What::T3Rtx {
            path: PATH,
            change: TimerChange::Expired,
            rto_ns: Some(second),
            outstanding_bytes: Some(9),
        },
        What::Restored { message: Some(7), tsn: 7 },
        What::Revoked { message: Some(7), tsn: 7 },
        What::Acknowledged { message: Some(7) },
        What::Delivered { message: 7, offered_ns: Instant::START },
        What::Failed { message: Some(7) },
        What::Notice(Notice::Abandoned {
            message: Some(8),
            stream: 3,
            policy: ReliabilityPolicy::Priority,
            sent: false,
        }),
        What::Waiting { reason: WaitReason::Pacing, peer_rwnd_bytes: 9 },
        What::Room { free_bytes: 9 },
        What::Sack { cumulative_tsn: 7, gap_blocks: 1, a_rwnd_bytes: 4_000 },
        What::Sack { cumulative_tsn: 8, gap_blocks: 0, a_rwnd_bytes: 3_000 },
        What::Notice(Notice::PeerReported { causes: "[NoUserData]".to_owned() }),
        What::Notice(Notice::Restarted {}),
        What::Notice(Notice::ShutdownReceived {}),
        What::Notice(Notice::PartialDeliveryAborted { stream: 3, sequence: Some(9) }),
        What::Notice(Notice::StreamsAnswered {
            request: StreamRequest::ResetOutbound,
            streams: Some(vec![1, 3]),
            count: None,
            answer: StreamAnswer::Performed,
        }),
        What::Notice(Notice::StreamsChanged {
            change: StreamsStep::Added,
            streams: None,
            outbound_streams: Some(6),
            inbound_streams: Some(2),
        }),
        What::Notice(Notice::AddressAnswered {
            request: AddressRequest::Add,
            address: Some(PATH),
            accepted: true,
        }),
        What::Notice(Notice::PeerAddress { change: PeerAddress::Removed, path: PATH }),
        What::LocalLink { source: [10, 1, 0, 1].into(), up: false },
        What::Notice(Notice::NotAuthenticated { key: None, known: None }),
        What::Notice(Notice::NotAuthenticated { key: Some(1), known: Some(true) }),
        What::Notice(Notice::NotAuthenticated { key: Some(2), known: Some(false) }),
        What::Notice(Notice::AdaptationLayer { code: 17 }),
        What::Closed { orderly: true, reason: "closed in order".to_owned() },
        What::Dropped { records: 5 },
        What::End {},
    ]
}

fn records(what: impl IntoIterator<Item = What>) -> Vec<Record> {
    let at = |number: u64| Instant::from_millis(1_000 * number);
    (1..).zip(what).map(|(number, what)| Record { at: at(number), association: 0, what }).collect()
}

fn header() -> TraceHeader {
    TraceHeader {
        origin: TraceOrigin::Live { command: vec!["load".to_owned()] },
        settings: TraceSettings::default(),
        profile: None,
    }
}

/// Gives the text that is told of these records.
fn reported(records: &[Record]) -> String {
    let records = records.iter().cloned().map(Ok::<_, ()>);
    let story = Story::of(header(), Duration::from_secs(100), records).expect("no record is wrong");
    let mut text = Vec::new();
    tell(&story, StorySelection { all: true, ..StorySelection::default() }, &mut text)
        .expect("memory takes all");
    String::from_utf8(text).expect("it is text")
}

#[test]
fn everything_that_a_trace_may_tell_changes_what_is_told() {
    let mut missing: Vec<&str> = What::names();
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
        "10.1.0.2: takes packets of 1300 bytes at most, and took 1500 before",
        "10.1.0.2: has become the primary path: the former one had not answered often enough",
        "the peer has thrown away 1 chunk, acknowledged by Gap Ack Blocks before",
        "1 message of stream 3 given up for room in the send buffer (priority): unsent",
        "1 messages were given up for room in the send buffer (priority), 0 of them",
        "The send buffer was full, and had room again, once.",
        "2 SACKs came, 1 of them with gaps; the peer had room for 3000 to 4000 bytes, for 3000 at the end.",
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

#[test]
fn the_subject_of_a_trace_is_a_flow_or_an_association() {
    for (is_signalling, words) in
        [(false, "flow `trunk` from a to b"), (true, "association `trunk` from a to b")]
    {
        let origin = TraceOrigin::Simulated {
            scenario: "x.toml".to_owned(),
            hash: "00ff".to_owned(),
            set: Vec::new(),
            seed: 1,
            run: 0,
            flow: "trunk".to_owned(),
            is_signalling,
            from: "a".to_owned(),
            to: "b".to_owned(),
        };
        let header = TraceHeader { origin, ..header() };
        let mut text = Vec::new();
        let story = Story::new(header, Duration::from_secs(1));
        tell(&story, StorySelection::default(), &mut text).expect("memory takes all");
        let text = String::from_utf8(text).expect("it is text");
        assert!(text.starts_with(&format!("{words} in x.toml: seed 1, run 0\n")), "{text}");
    }
}

/// A trace from before it was told which associations carry signalling.
#[test]
fn a_header_without_the_mark_of_signalling_is_that_of_a_flow() {
    let settings = "\"sctp\":{\"rto_initial_ns\":1,\"rto_min_ns\":1,\"rto_max_ns\":1,\"path_max_retrans\":1,\
                    \"association_max_retrans\":1,\"heartbeat_interval_ns\":null}";
    let origin = "\"origin\":{\"kind\":\"simulated\",\"scenario\":\"x.toml\",\"hash\":\"00ff\",\"set\":[],\"seed\":1,\
                  \"run\":0,\"flow\":\"trunk\",\"from\":\"a\",\"to\":\"b\"}";
    let file = format!("{{\"slantpath_trace\":1,\"program\":\"1.0.0\",{origin},{settings}}}\n");
    let reader = TraceReader::open(file.as_bytes()).unwrap();
    assert_eq!(reader.header().origin.subject().as_deref(), Some("flow `trunk`"));
}

#[test]
fn what_sctps_dictionary_declares_stands_in_a_file_in_these_lines() {
    let lines = [
        "\"path_changed\",\"path\":\"10.1.0.2\",\"state\":\"inactive\"",
        "\"primary_changed\",\"path\":\"10.1.0.2\"",
        "\"failed_over\",\"path\":\"10.1.0.2\",\"former\":\"10.1.0.2\",\"message\":7,\
         \"unanswered_ns\":1000000000,\"first_timeout_ns\":500000000,\"decided_ns\":250000000",
        "\"path_mtu_changed\",\"path\":\"10.1.0.2\",\"mtu_bytes\":1300,\"before_bytes\":1500",
        "\"abandoned\",\"message\":8,\"stream\":3,\"policy\":\"priority\",\"sent\":false",
        "\"peer_reported\",\"causes\":\"[NoUserData]\"",
        "\"restarted\"",
        "\"shutdown_received\"",
        "\"partial_delivery_aborted\",\"stream\":3,\"sequence\":9",
        "\"streams_answered\",\"request\":\"reset-outbound\",\"streams\":[1,3],\"answer\":\"performed\"",
        "\"streams_changed\",\"change\":\"added\",\"outbound_streams\":6,\"inbound_streams\":2",
        "\"address_answered\",\"request\":\"add\",\"address\":\"10.1.0.2\",\"accepted\":true",
        "\"peer_address\",\"change\":\"removed\",\"path\":\"10.1.0.2\"",
        "\"not_authenticated\"",
        "\"not_authenticated\",\"key\":1,\"known\":true",
        "\"not_authenticated\",\"key\":2,\"known\":false",
        "\"adaptation_layer\",\"code\":17",
    ];
    let told: Vec<What> = samples().into_iter().filter(|what| matches!(what, What::Notice(_))).collect();
    assert_eq!(told.len(), lines.len());
    for (what, line) in told.into_iter().zip(lines) {
        let mut file = Vec::new();
        let mut writer = TraceWriter::begin(&mut file, &header()).expect("memory takes all");
        writer.write(&Record { at: Instant::START, association: 0, what }).expect("memory takes all");
        let written = String::from_utf8(file).expect("it is text");
        let expected = format!("{{\"t_ns\":0,\"association\":0,\"event\":{line}}}");
        assert_eq!(written.lines().nth(1), Some(&expected[..]));
    }
}
