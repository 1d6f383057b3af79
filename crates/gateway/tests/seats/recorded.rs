//! A gateway whose record is kept, as the command keeps it, and its repetition.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use slantpath_base::{Duration, Instant};
use slantpath_gateway::{Seat, SeatConfig, Successor};
use slantpath_interface::{EndSystem, InterfaceId, Journey};
use slantpath_live::Station;
use slantpath_live::record::{Digest, Recorder, Replay, Replayed};
use slantpath_sigtran::asp::TrafficMode;
use slantpath_wire::Packet;

use super::promises::churn;
use super::site::{Far, Plan, Site};

/// Number of a reload in a record, whose words are the name that application servers get.
const RELOAD: u8 = 3;

/// A gateway, and the record of all that it is told if one is kept.
pub(crate) struct Recorded {
    pub(crate) station: Station<Seat>,
    record: Option<Record>,
}

struct Record {
    recorder: Recorder,
    digest: Digest,
    file: Vec<u8>,
}

impl Recorded {
    pub(crate) const fn new(station: Station<Seat>) -> Self {
        Self { station, record: None }
    }

    /// Keeps a record from now on, which is before anything has happened.
    pub(crate) fn record(&mut self) {
        let mut recorder = Recorder::new([0; 32]);
        recorder.start(Instant::START);
        self.record = Some(Record { recorder, digest: Digest::default(), file: Vec::new() });
    }

    /// Writes down what it is told, each time as a part of its own.
    fn note(&mut self, write: impl FnOnce(&mut Recorder)) {
        if let Some(Record { recorder, file, .. }) = &mut self.record {
            write(recorder);
            file.append(&mut recorder.take());
        }
    }

    /// Ends the record and gives it.
    pub(crate) fn end_record(&mut self, now: Instant) -> Vec<u8> {
        let Record { mut recorder, digest, mut file } = self.record.take().unwrap();
        recorder.digest(now, &digest);
        file.append(&mut recorder.take());
        file
    }

    /// Takes a file in which application servers have another name.
    pub(crate) fn reload(&mut self, now: Instant, name: &str, config: SeatConfig) {
        self.note(|recorder| recorder.order(now, RELOAD, name));
        let Station { host, program } = &mut self.station;
        let successor = Successor::prepare(config, &program.running()).unwrap();
        program.reload(now, host, successor).unwrap();
    }

    /// Tells it what a record has. `config` is what it takes for a name of application servers.
    pub(crate) fn repeat(&mut self, record: &[u8], config: impl Fn(&str) -> SeatConfig) -> Replayed {
        let reload = |own: &mut Self, now: Instant, number: u8, words: &[u8]| {
            assert_eq!(number, RELOAD);
            let name = std::str::from_utf8(words).unwrap();
            own.reload(now, name, config(name));
        };
        Replay::new(record).unwrap().run_watched(self, reload, |_, _| {}).unwrap()
    }
}

impl EndSystem for Recorded {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.note(|recorder| recorder.packet(now, interface, &packet.observed()));
        self.station.handle_packet(now, interface, packet);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.station.note_journey(journey);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.note(|recorder| recorder.deadline(now));
        self.station.handle_deadline(now);
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let interface = self.station.poll_transmit(now, packet);
        if let (Some(Record { digest, .. }), Some(interface)) = (&mut self.record, interface) {
            digest.transmitted(now, interface, packet);
        }
        interface
    }

    fn deadline(&self) -> Option<Instant> {
        self.station.deadline()
    }
}

/// Half a minute of it, or as long as SLANTPATH_REPLAY_SECONDS says: what a gateway has sent, and what it says of its
/// state at the end.
#[test]
fn a_gateway_in_a_churn_is_repeated_digest_for_digest() {
    let seconds = std::env::var("SLANTPATH_REPLAY_SECONDS").ok().and_then(|text| text.parse().ok());
    let seconds = seconds.unwrap_or(30_u64);
    for (far, is_ipv6) in [(Far::Exchange, true), (Far::Processes(2, TrafficMode::Loadshare), false)] {
        let lasts = Duration::from_secs(seconds);
        let plan = Plan { far, is_ipv6, gateways: 2, rate: 500, lasts, ..Plan::default() };
        let mut site = Site::new(&plan);
        site.record(1);
        churn(&mut site, seconds);
        let record = site.end_record(1);
        let (replayed, mut again) = site.repeat(1, &record);
        let packets = replayed.digest.packets();
        println!("{far:?}: {} octets of record, {packets} packets sent", record.len());
        assert!(replayed.is_same() && !replayed.is_cut, "{replayed:?}");
        assert!(packets > 100 * seconds, "{replayed:?}");
        let now = site.now();
        let [first, second] = [&mut site.gateway(1), &mut again.station].map(|station| {
            let Station { host, program } = station;
            format!("{:#?}", program.status(now, host))
        });
        assert_eq!(first, second);
    }
}
