//! The test bench: a terminal between a scripted peer and a scripted level 3, in time that the script moves.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp2::{
    Config, ErrorCorrection, Header, Link, LinkState, LinkStatus, Output, SignalUnit, octets_on_line,
};

/// The least time: so long before a timer expires, it has not expired.
pub(crate) const MOMENT: Duration = Duration::from_nanos(1);
/// Values that the bench sets the timers to.
pub(crate) const T4_NORMAL: Duration = Duration::from_secs(8);
pub(crate) const T4_EMERGENCY: Duration = Duration::from_millis(500);
pub(crate) const T7: Duration = Duration::from_secs(1);

/// Information octets of a message.
const LENGTH: usize = 6;

/// Timers as the courses of OpenSS7 have them.
pub(crate) fn basic() -> Config {
    let ms = Duration::from_millis;
    Config {
        t1: ms(45_000),
        t2: ms(5_000),
        t3: ms(1_000),
        t4_normal: T4_NORMAL,
        t4_emergency: T4_EMERGENCY,
        t5: ms(100),
        t6: ms(4_000),
        t7: T7,
        ..Config::default()
    }
}

/// Variant of [`basic`] with preventive cyclic retransmission.
pub(crate) fn cyclic(messages: usize, octets: usize) -> Config {
    Config { error_correction: ErrorCorrection::PreventiveCyclic { messages, octets }, ..basic() }
}

/// Numbers as the courses write them: backward number with its indicator bit, forward number with its.
const fn header(backward: u8, forward: u8) -> Header {
    Header { bsn: backward & 0x7f, bib: backward >> 7 == 1, fsn: forward & 0x7f, fib: forward >> 7 == 1 }
}

pub(crate) const fn fisu(backward: u8, forward: u8) -> SignalUnit {
    SignalUnit::FillIn(header(backward, forward))
}

/// A message that says its number.
pub(crate) fn msu(backward: u8, forward: u8) -> SignalUnit {
    SignalUnit::Message { header: header(backward, forward), spare: 0, body: body(forward & 0x7f) }
}

pub(crate) fn body(number: u8) -> Bytes {
    vec![number; LENGTH].into()
}

pub(crate) const fn lssu(status: LinkStatus) -> SignalUnit {
    SignalUnit::Status(header(0xff, 0xff), status)
}

pub(crate) struct Bench {
    pub(crate) link: Link,
    pub(crate) now: Instant,
    /// Units that the terminal began to send, with their instants; of what repeats, the first.
    sent: VecDeque<(Instant, SignalUnit)>,
    indicated: VecDeque<LinkIndication>,
}

impl Bench {
    fn new(config: Config) -> Self {
        let link = Link::new(config).unwrap();
        let mut bench =
            Self { link, now: Instant::from_secs(1), sent: VecDeque::new(), indicated: VecDeque::new() };
        bench.drain();
        bench
    }

    /// Proving, which began this moment, with the period that the peer's status asks for.
    pub(crate) fn proving(status: LinkStatus) -> Self {
        let mut bench = Self::new(basic());
        bench.align(status);
        bench
    }

    fn align(&mut self, status: LinkStatus) {
        self.request(LinkRequest::Start);
        self.peer(lssu(LinkStatus::OutOfAlignment));
        self.peer(lssu(status));
        assert_eq!(self.link.state(), LinkState::InitialAlignment);
    }

    /// In service, with nothing sent but fill-in.
    pub(crate) fn in_service(config: Config) -> Self {
        let mut bench = Self::new(config);
        bench.align(LinkStatus::Emergency);
        bench.pass(T4_EMERGENCY);
        bench.peer(fisu(0xff, 0xff));
        bench.expect_indication(&[LinkIndication::InService]);
        bench.sent.clear();
        bench
    }

    pub(crate) fn request(&mut self, request: LinkRequest) {
        self.link.request(self.now, request);
        self.drain();
    }

    /// Level 3 gives messages of these numbers.
    pub(crate) fn give(&mut self, numbers: impl IntoIterator<Item = u8>) {
        for number in numbers {
            self.request(LinkRequest::Transmit(body(number)));
        }
    }

    /// A unit of the peer comes. It takes its time on the line.
    pub(crate) fn peer(&mut self, unit: SignalUnit) {
        self.pass(time_of(unit.octets_on_line()));
        self.link.handle_unit(self.now, unit, None);
        self.drain();
    }

    /// Fill-in units of the peer come from now on.
    pub(crate) fn peer_fills_in(&mut self, unit: SignalUnit) {
        let period = time_of(unit.octets_on_line());
        self.pass(period);
        self.link.handle_unit(self.now, unit, Some(period));
        self.drain();
    }

    /// A unit comes whose check bits do not fit.
    pub(crate) fn damaged(&mut self) {
        self.pass(time_of(octets_on_line(0)));
        self.link.handle_errored_unit(self.now);
        self.drain();
    }

    /// From now on no unit is found in what comes.
    pub(crate) fn lose_units(&mut self) {
        self.link.handle_units_lost(self.now);
        self.drain();
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.drain().filter(|at| *at <= until) {
            self.now = at;
        }
        self.now = until;
    }

    fn drain(&mut self) -> Option<Instant> {
        loop {
            match self.link.poll_output(self.now) {
                Output::Indication(indication) => self.indicated.push_back(indication),
                Output::Transmit(transmission) => self.sent.push_back((self.now, transmission.unit)),
                Output::Wait(deadline) => return deadline,
            }
        }
    }

    /// Takes the units that the terminal began to send since this was asked last.
    pub(crate) fn sent(&mut self) -> Vec<SignalUnit> {
        self.sent.drain(..).map(|(_, unit)| unit).collect()
    }

    /// The numbers of the messages among that.
    pub(crate) fn numbers(&mut self) -> Vec<u8> {
        let number =
            |unit| if let SignalUnit::Message { header, .. } = unit { Some(header.fsn) } else { None };
        self.sent().into_iter().filter_map(number).collect()
    }

    /// Gives the instant at which the terminal began to send that unit first.
    pub(crate) fn sent_at(&self, unit: &SignalUnit) -> Instant {
        self.sent.iter().find(|(_, sent)| sent == unit).map(|(at, _)| *at).unwrap()
    }

    pub(crate) fn expect_indication(&mut self, indications: &[LinkIndication]) {
        assert_eq!(self.indicated, indications);
        self.indicated.clear();
    }

    /// A message of the peer was given to level 3, and nothing else was told.
    pub(crate) fn expect_delivered(&mut self, numbers: impl IntoIterator<Item = u8>) {
        let received: Vec<_> =
            numbers.into_iter().map(|number| LinkIndication::Received(body(number))).collect();
        self.expect_indication(&received);
    }

    /// The link goes on in service, and has told nothing.
    pub(crate) fn expect_in_service(&mut self) {
        self.expect_indication(&[]);
        assert_eq!(self.link.state(), LinkState::InService);
    }

    /// The link is out of service, sends SIOS, and has told level 3 that alone.
    pub(crate) fn expect_failure(&mut self, reason: OutOfServiceReason) {
        self.expect_indication(&[LinkIndication::OutOfService(reason)]);
        self.pass(time_of(octets_on_line(LENGTH)));
        let last = self.sent().pop();
        assert!(matches!(last, Some(SignalUnit::Status(_, LinkStatus::OutOfService))), "{last:?}");
    }
}

/// Gives the time that so many octets take at 64 kbit/s.
pub(crate) fn time_of(octets: usize) -> Duration {
    Duration::from_micros(125) * u64::try_from(octets).unwrap()
}
