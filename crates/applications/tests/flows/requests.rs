//! Sessions that ask: a request, its answer, a time to think, and the next.

use slantpath_applications::record::{Request, SentSession, SessionRecords};
use slantpath_applications::{
    RequestCount, RequestsConfig, SessionArrivals, SessionLoad, SessionSizes, ThinkTime,
};
use slantpath_base::{DataSize, Duration, Instant};
use slantpath_host::Protocol;
use slantpath_tcp::TcpConfig;

use crate::fixture::direction;
use crate::sessions::{Server, World, world_asking, world_of};
use crate::{sctp, tcp};

const fn bytes(bytes: u64) -> DataSize {
    DataSize::from_bytes(bytes)
}

fn micros(micros: u64) -> Instant {
    Instant::START + Duration::from_micros(micros)
}

/// One session, whose answers have these sizes.
fn one(protocol: &Protocol, loss: &str, requests: RequestsConfig, sizes: SessionSizes) -> World {
    let mut link = direction("1 Mbit/s", "100 ms");
    link.loss = loss.parse().unwrap();
    let arrivals = SessionArrivals::Constant { interval: Duration::from_secs(1_000) };
    world_asking(protocol, &link, SessionLoad::Drawn { arrivals, sizes }, 20_000..=20_001, requests)
}

pub(crate) fn requests(count: u32, think: ThinkTime) -> RequestsConfig {
    RequestsConfig { count: RequestCount::Fixed { count }, size: bytes(100), think }
}

pub(crate) fn second() -> ThinkTime {
    ThinkTime::Fixed { time: Duration::from_secs(1) }
}

fn only(records: &SessionRecords) -> (&SentSession, &[Request]) {
    let [sent] = &records.sent[..] else { panic!("{records:?}") };
    (sent, &sent.answers.as_ref().unwrap().requests)
}

#[test]
fn a_request_is_answered_after_a_round_trip_and_the_next_follows_when_it_has_been_thought_about() {
    let mut world = one(&tcp(), "0 %", requests(2, second()), SessionSizes::Fixed { size: bytes(1_460) });
    let [over, others] = world.records(Instant::from_secs(10));
    assert_eq!(others, SessionRecords::default());
    let (sent, asked) = only(&over);
    assert_eq!((sent.size, sent.bytes_sent, &sent.failure), (bytes(2_920), 200, &None));
    // SYN and SYN-ACK, of 52 bytes each, take 0.416 ms, and 100 ms each way.
    let connected = micros(200_832);
    assert_eq!(sent.connected, Some(connected));
    // The ACK, of 40 bytes, goes before the request of 140; the answer is a segment of 1,500.
    let answered = connected + Duration::from_micros(320 + 1_120 + 100_000 + 12_000 + 100_000);
    let first = Request {
        size: bytes(1_460),
        asked: connected,
        first_delivery: Some(answered),
        answered: Some(answered),
    };
    let again = answered + Duration::from_secs(1);
    let answered = again + Duration::from_micros(1_120 + 100_000 + 12_000 + 100_000);
    let second = Request { asked: again, first_delivery: Some(answered), answered: Some(answered), ..first };
    assert_eq!(asked, [first, second]);
    let answers = sent.answers.as_ref().unwrap();
    assert_eq!((answers.bytes_delivered, answers.last_delivery), (2_920, Some(answered)));
    let [received] = &over.received[..] else { panic!("{over:?}") };
    assert_eq!((received.bytes_delivered, received.retransmissions), (200, Some(0)));
    // After the last answer nobody thinks.
    assert!(sent.ended.unwrap() - answered < Duration::from_millis(500), "{sent:?}");
}

#[test]
fn every_answer_is_whole_over_either_transport_and_what_goes_out_again_is_counted_at_its_sender() {
    for protocol in [tcp(), sctp()] {
        let asks = requests(40, ThinkTime::Exponential { mean: Duration::from_millis(200) });
        let mut world = one(&protocol, "3 %", asks, SessionSizes::Exponential { mean: bytes(20_000) });
        let [over, others] = world.records(Instant::from_secs(900));
        assert_eq!(others, SessionRecords::default());
        let (sent, asked) = only(&over);
        let answers = sent.answers.as_ref().unwrap();
        let sizes: u64 = asked.iter().map(|request| request.size.as_bytes()).sum();
        assert_eq!((asked.len(), sizes, answers.bytes_delivered), (40, sent.size.as_bytes(), sizes));
        for pair in asked.windows(2) {
            let (first, answered) = (pair[0].first_delivery.unwrap(), pair[0].answered.unwrap());
            assert!(pair[0].asked + Duration::from_millis(200) < first && first <= answered);
            assert!(answered <= pair[1].asked, "{pair:?}");
        }
        let [received] = &over.received[..] else { panic!("{over:?}") };
        assert_eq!(received.bytes_delivered, 4_000);
        // Some 600 segments, and 40 requests.
        let again = received.retransmissions.unwrap();
        assert!((8..80).contains(&again) && sent.retransmissions.unwrap() < 10, "{again} {sent:?}");
    }
}

#[test]
fn what_has_not_been_answered_at_the_end_is_told_with_what_has_come() {
    // Ten seconds for an answer.
    let mut world = one(&tcp(), "0 %", requests(2, second()), SessionSizes::Fixed { size: bytes(1_250_000) });
    let [over, others] = world.records(Instant::from_secs(4));
    assert_eq!((over.sent.len(), over.received.len()), (0, 0));
    let (sent, asked) = only(&others);
    let [request] = asked else { panic!("{asked:?}") };
    assert_eq!((request.answered, sent.ended, &sent.failure), (None, None, &None));
    assert!(request.first_delivery.is_some_and(|first| first < Instant::from_secs(1)), "{request:?}");
    let delivered = sent.answers.as_ref().unwrap().bytes_delivered;
    assert!((100_000..500_000).contains(&delivered), "{delivered}");
}

#[test]
fn a_session_that_breaks_is_told_with_the_reason_and_the_request_that_has_no_answer() {
    // A third of all packets is lost, and TCP gives up after one time-out.
    let config = TcpConfig { data_retransmission_limit: 1, ..TcpConfig::default() };
    let protocol = Protocol::Tcp(Box::new(config));
    let mut world =
        one(&protocol, "30 %", requests(900, second()), SessionSizes::Fixed { size: bytes(1_000) });
    let [over, _] = world.records(Instant::from_secs(10_000));
    let (sent, asked) = only(&over);
    assert!(sent.failure.is_some(), "{sent:?}");
    assert!(asked.last().is_some_and(|last| last.answered.is_none()) && asked.len() > 2, "{asked:?}");
}

#[test]
fn a_server_that_does_not_understand_what_comes_breaks_the_session_off() {
    for protocol in [tcp(), sctp()] {
        let link = direction("1 Mbit/s", "100 ms");
        let trace = vec![(Duration::from_secs(1), bytes(100_000))];
        let ports = 20_000..=20_001;
        let mut world =
            world_of(&protocol, &link, SessionLoad::Trace(trace.into()), ports, None, Server::Answers);
        let [over, others] = world.records(Instant::from_secs(60));
        assert_eq!(others, SessionRecords::default());
        let ([sent], [received]) = (&over.sent[..], &over.received[..]) else { panic!("{over:?}") };
        assert!(sent.failure.is_some() && sent.answers.is_none(), "{sent:?}");
        // It has seen the first of it only, three or five ways of the link after the beginning, and says so at once.
        assert!(received.bytes_delivered <= 8_000, "{received:?}");
        assert!(sent.ended.unwrap() < Instant::from_millis(1_900), "{sent:?}");
    }
}
