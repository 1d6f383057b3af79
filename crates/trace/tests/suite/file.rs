//! The file of a trace: what is written is read again, and whatever else stands there is an error with its line.

use proptest::prelude::*;
use serde_json::json;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationState, Notice, PathState, Unanswered, WaitReason, WindowCause};
use slantpath_trace::{
    Evidence, ReadError, Record, Story, StorySelection, TimerChange, TraceHeader, TraceOrigin, TraceReader,
    TraceSettings, TraceWriter, What, tell,
};

fn header() -> TraceHeader {
    let origin = TraceOrigin::Simulated {
        scenario: "a \"quoted\" name.toml".to_owned(),
        hash: "00ff".to_owned(),
        set: vec!["sctp.standard.rto_min=200 ms".to_owned()],
        seed: u64::MAX,
        run: 3,
        flow: "calls.2".to_owned(),
        is_signalling: true,
        from: "a".to_owned(),
        to: "b".to_owned(),
    };
    let settings =
        TraceSettings { heartbeat_interval: None, path_max_retrans: 7, ..TraceSettings::default() };
    let profile = json!({ "rto_min": "200 ms", "max_burst": 4, "extensions": ["nr-sack"], "ecn": false });
    TraceHeader { origin, settings, profile: Some(profile) }
}

fn written(header: &TraceHeader, records: &[Record]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = TraceWriter::begin(&mut file, header).expect("memory takes all");
    for record in records {
        writer.write(record).expect("memory takes all");
    }
    file
}

fn read(file: &[u8]) -> Result<Vec<Record>, ReadError> {
    TraceReader::open(file)?.collect()
}

fn what() -> impl Strategy<Value = What> {
    let path = any::<std::net::IpAddr>();
    let time = any::<u64>().prop_map(Duration::from_nanos);
    let message = || any::<Option<u64>>();
    let state = prop_oneof![
        Just(PathState::Active),
        Just(PathState::Inactive),
        Just(PathState::PotentiallyFailed),
        Just(PathState::Unconfirmed)
    ];
    let cause =
        prop_oneof![Just(WindowCause::LossFound), Just(WindowCause::Unchanged), Just(WindowCause::Undone)];
    let evidence =
        prop_oneof![Just(Evidence::MissIndications), Just(Evidence::TooBig), Just(Evidence::TimedOut)];
    let metrics = (path.clone(), path.clone(), state.clone(), any::<bool>(), cause, any::<[u64; 3]>());
    let governed = (metrics, prop::option::of(time.clone()), time.clone(), any::<u32>(), any::<u16>())
        .prop_map(|((path, source, state, primary, cause, bytes), srtt_ns, rto_ns, errors, mtu_bytes)| {
            let [cwnd_bytes, ssthresh_bytes, flight_bytes] = bytes;
            What::Path {
                path,
                source,
                state,
                primary,
                cause,
                cwnd_bytes,
                ssthresh_bytes,
                flight_bytes,
                srtt_ns,
                rto_ns,
                errors,
                mtu_bytes,
            }
        });
    let times = prop::option::of(time.clone());
    let lost = (message(), any::<u32>(), path.clone(), evidence, any::<Option<u16>>(), times.clone(), times)
        .prop_map(|(message, tsn, path, evidence, reports, age_ns, reordering_window_ns)| What::Lost {
            message,
            tsn,
            path,
            evidence,
            reports,
            age_ns,
            reordering_window_ns,
            mtu_bytes: reports,
        });
    prop_oneof![
        governed,
        lost,
        (message(), any::<u32>(), path.clone(), any::<u32>())
            .prop_map(|(message, tsn, path, transmission)| What::Sent { message, tsn, path, transmission }),
        (path.clone(), state).prop_map(|(path, state)| What::Notice(Notice::PathChanged { path, state })),
        (path, time.clone(), any::<Option<u64>>()).prop_map(|(path, rto, outstanding_bytes)| What::T3Rtx {
            path,
            change: TimerChange::Expired,
            rto_ns: Some(rto),
            outstanding_bytes,
        }),
        any::<(u32, u16, u32)>().prop_map(|(cumulative_tsn, gap_blocks, a_rwnd_bytes)| What::Sack {
            cumulative_tsn,
            gap_blocks,
            a_rwnd_bytes,
        }),
        (any::<bool>(), any::<String>()).prop_map(|(orderly, reason)| What::Closed { orderly, reason }),
        any::<u64>()
            .prop_map(|peer_rwnd_bytes| What::Waiting { reason: WaitReason::Pacing, peer_rwnd_bytes }),
        (any::<u64>(), time)
            .prop_map(|(message, offered)| What::Delivered { message, offered_ns: Instant::START + offered }),
        Just(What::State { state: AssociationState::ShutdownPending }),
        Just(What::Notice(Notice::Restarted {})),
        Just(What::End {}),
    ]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let record = (0..u64::MAX / 64, any::<u32>(), what());
    prop::collection::vec(record, 0..40).prop_map(|steps| {
        let mut at = Instant::START;
        let in_order = |(after, association, what)| {
            at = at.saturating_add(Duration::from_nanos(after));
            Record { at, association, what }
        };
        steps.into_iter().map(in_order).collect()
    })
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_again(records in records()) {
        let file = written(&header(), &records);
        let reader = TraceReader::open(&file[..]).unwrap();
        prop_assert_eq!(reader.header(), &header());
        prop_assert_eq!(read(&file).unwrap(), records);
    }

    #[test]
    fn any_bytes_behind_the_header_give_records_or_an_error_and_a_story_of_what_was_read(
        records in records(),
        place in any::<prop::sample::Index>(),
        other in any::<Vec<u8>>(),
    ) {
        let mut file = written(&header(), &records);
        let place = place.index(file.len());
        file.splice(place..(place + other.len()).min(file.len()), other);
        if let Ok(reader) = TraceReader::open(&file[..]) {
            let mut story = Story::new(reader.header().clone(), Duration::from_secs(1));
            for record in reader.map_while(Result::ok) {
                story.follow(&record);
            }
            story.finish();
            tell(&story, StorySelection::default(), &mut Vec::new()).unwrap();
            prop_assert!(story.json(StorySelection::default()).is_object());
        }
    }
}

#[test]
fn a_header_without_a_profile_is_read_and_one_whose_profile_is_no_object_is_not() {
    let plain = TraceHeader { profile: None, ..header() };
    let line = String::from_utf8(written(&plain, &[])).expect("it is text");
    assert!(!line.contains("\"profile\""), "{line}");
    assert_eq!(TraceReader::open(line.as_bytes()).unwrap().header(), &plain);
    let wrong = line.replacen('{', "{\"profile\":7,", 1);
    assert!(matches!(TraceReader::open(wrong.as_bytes()), Err(ReadError::Header)));
}

/// The error of a file whose third line is this one.
fn error_of(line: &str) -> String {
    let path = std::net::IpAddr::from([10, 0, 0, 1]);
    let what = What::PathError { path, unanswered: Unanswered::Data, errors: 1, association_errors: 1 };
    let mut file = written(&header(), &[Record { at: Instant::from_secs(1), association: 0, what }]);
    file.extend_from_slice(line.as_bytes());
    read(&file).expect_err("the line is wrong").to_string()
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_line() {
    let beginning = "line 1: not a trace: a trace begins with {\"slantpath_trace\":1, …}";
    for other in [&b""[..], b"\n", b"{}", b"[1]", b"\xff\xfe", b"{\"slantpath_trace\":\"1\"}"] {
        assert_eq!(TraceReader::open(other).unwrap_err().to_string(), beginning);
    }
    let later = TraceReader::open(&b"{\"slantpath_trace\":2}\n"[..]).unwrap_err();
    assert_eq!(later.to_string(), "line 1: a trace of version 2; this program reads version 1");
    let bare = TraceReader::open(&b"{\"slantpath_trace\":1}\n"[..]).unwrap_err();
    assert!(matches!(bare, ReadError::Header));
    assert!(error_of("no JSON\n").starts_with("line 3: not an object of JSON: "));
    assert!(error_of("\n").starts_with("line 3: not an object of JSON: "));
    assert!(
        error_of("{\"t_ns\":1")
            .starts_with("line 3: it ends in the middle: the trace was not written to its end")
    );
    let record = |t: u64, rest: &str| format!("{{\"t_ns\":{t},\"association\":0,{rest}}}\n");
    let earlier = record(999_999_999, "\"event\":\"restarted\"");
    assert_eq!(error_of(&earlier), "line 3: an instant before that of the line before");
    let unknown = record(1_000_000_000, "\"event\":\"moved\"");
    assert_eq!(error_of(&unknown), "line 3: there is no event `moved`");
    for path in ["\"path\":\"10.0.0\"", "\"path\":7", "\"way\":\"10.0.0.1\""] {
        let nowhere = record(1_000_000_000, &format!("\"event\":\"heartbeat_sent\",{path}"));
        assert_eq!(error_of(&nowhere), "line 3: `path` is missing, or not what stands there in a trace");
    }
    let long =
        record(1_000_000_000, &format!("\"event\":\"peer_reported\",\"causes\":\"{}\"", "x".repeat(70_000)));
    assert_eq!(error_of(&long), "line 3: longer than 65536 bytes");
}
