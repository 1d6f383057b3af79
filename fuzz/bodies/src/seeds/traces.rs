//! Traces of associations.

use std::net::{IpAddr, Ipv4Addr};

use slantpath_base::{Duration, Instant};
use slantpath_sctp::notice::{AddressRequest, StreamAnswer, StreamRequest, StreamsStep};
use slantpath_sctp::{AssociationState, Notice, PathState, ReliabilityPolicy, WaitReason, WindowCause};
use slantpath_trace::{
    Evidence, Record, TimerChange, TraceHeader, TraceOrigin, TraceSettings, TraceWriter, What,
};

use super::Seeds;

const PATH: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2));

pub(super) fn keep(seeds: &mut Seeds) {
    let live = TraceOrigin::Live { command: vec!["load".to_owned(), "10.1.0.2".to_owned()] };
    seeds.keep("trace", "loss", trace(live.clone(), loss()));
    seeds.keep("trace", "extensions", trace(live, extensions()));
    let simulated = TraceOrigin::Simulated {
        scenario: "first.toml".to_owned(),
        hash: "00ff".to_owned(),
        set: vec!["sctp.default.rto_min=\"200 ms\"".to_owned()],
        seed: 1,
        run: 0,
        flow: "data".to_owned(),
        is_signalling: false,
        from: "a".to_owned(),
        to: "b".to_owned(),
    };
    seeds.keep("trace", "empty", trace(simulated, []));
}

fn trace(origin: TraceOrigin, steps: impl IntoIterator<Item = What>) -> Vec<u8> {
    let mut file = Vec::new();
    let header = TraceHeader { origin, settings: TraceSettings::default(), profile: None };
    let mut writer = TraceWriter::begin(&mut file, &header).expect("memory takes all");
    for (number, what) in (1..).zip(steps) {
        let record = Record { at: Instant::from_millis(700 * number), association: 0, what };
        writer.write(&record).expect("memory takes all");
    }
    file
}

fn loss() -> Vec<What> {
    let second = Duration::from_secs(1);
    vec![
        What::Up { outbound_streams: 2, inbound_streams: 2 },
        What::Path {
            path: PATH,
            source: IpAddr::V4(Ipv4Addr::new(10, 1, 0, 1)),
            state: PathState::Active,
            primary: true,
            cause: WindowCause::Unchanged,
            cwnd_bytes: 4_404,
            ssthresh_bytes: u64::MAX,
            flight_bytes: 0,
            srtt_ns: None,
            rto_ns: second,
            errors: 0,
            mtu_bytes: 1_500,
        },
        What::Sent { message: Some(0), tsn: 1, path: PATH, transmission: 1 },
        What::Waiting { reason: WaitReason::CongestionWindow, peer_rwnd_bytes: 9_000 },
        What::T3Rtx {
            path: PATH,
            change: TimerChange::Expired,
            rto_ns: Some(second),
            outstanding_bytes: Some(116),
        },
        What::Lost {
            message: Some(0),
            tsn: 1,
            path: PATH,
            evidence: Evidence::TimedOut,
            reports: None,
            age_ns: None,
            reordering_window_ns: None,
            mtu_bytes: None,
        },
        What::Sent { message: Some(0), tsn: 1, path: PATH, transmission: 2 },
        What::Delivered { message: 0, offered_ns: Instant::from_millis(900) },
        What::Acknowledged { message: Some(0) },
        What::State { state: AssociationState::ShutdownSent },
        What::Closed { orderly: true, reason: "closed in order".to_owned() },
        What::End {},
    ]
}

fn extensions() -> Vec<What> {
    vec![
        What::Notice(Notice::Abandoned {
            message: Some(3),
            stream: 1,
            policy: ReliabilityPolicy::Lifetime,
            sent: true,
        }),
        What::Notice(Notice::StreamsAnswered {
            request: StreamRequest::ResetOutbound,
            streams: Some(vec![0, 1]),
            count: None,
            answer: StreamAnswer::Performed,
        }),
        What::Notice(Notice::StreamsChanged {
            change: StreamsStep::Added,
            streams: None,
            outbound_streams: Some(4),
            inbound_streams: Some(2),
        }),
        What::Notice(Notice::AddressAnswered {
            request: AddressRequest::Add,
            address: Some(PATH),
            accepted: true,
        }),
        What::Notice(Notice::AdaptationLayer { code: 7 }),
        What::Notice(Notice::PartialDeliveryAborted { stream: 1, sequence: None }),
        What::Dropped { records: 2 },
    ]
}
