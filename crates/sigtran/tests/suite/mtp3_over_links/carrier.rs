//! A link with its two ends and what carries it: an association whose packets may be lost, or a line with bit errors.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, Probability, Seed, Stream};
use slantpath_sigtran::m2pa::{self, Proving};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp2::{self, Arrival, Bearer};

pub(crate) enum Carrier {
    Association(Box<Association>),
    Line(Box<Line>),
}

/// One direction of one stream of an association: ordered, and held up where a packet has to be retransmitted.
#[derive(Default)]
struct Ordered(VecDeque<(Instant, Transmit)>);

pub(crate) struct Association {
    ends: [m2pa::Link; 2],
    /// By sending end and stream.
    streams: [[Ordered; 2]; 2],
    delay: Duration,
    losses: Stream,
    is_up: bool,
}

pub(crate) struct Line {
    ends: [mtp2::Link; 2],
    bearers: [Bearer; 2],
    /// Transmission that each end has been sending last, which the line carries again when it works again.
    last: [Option<mtp2::Transmission>; 2],
    is_up: bool,
}

/// One packet in twenty is lost, and comes this much later.
const REPETITION: Duration = Duration::from_millis(120);
const LOSS: f64 = 0.05;

impl Carrier {
    pub(crate) fn association(number: u32, delay: Duration, seed: Seed) -> Self {
        let config = m2pa::LinkConfig { proving: Proving::Omitted, ..m2pa::LinkConfig::default() };
        let end = || m2pa::Link::new(AssociationNumber(number), config.clone()).unwrap();
        Self::Association(Box::new(Association {
            ends: [end(), end()],
            streams: Default::default(),
            delay,
            losses: seed.stream(&format!("losses/{number}")),
            is_up: false,
        }))
    }

    pub(crate) fn line(number: u32, delay: Duration, seed: Seed) -> Self {
        let config = mtp2::Config {
            proving_errors_normal: 100,
            proving_errors_emergency: 100,
            ..mtp2::Config::default()
        };
        let end = || mtp2::Link::new(config.clone()).unwrap();
        let bearer = |direction: &str| {
            // One bit in 100,000, which the error rate monitor bears.
            let between_errors = Duration::from_micros(1_562_500);
            Bearer::new(delay).with_errors(between_errors, seed.stream(&format!("{direction}/{number}")))
        };
        Self::Line(Box::new(Line {
            ends: [end(), end()],
            bearers: [bearer("forward"), bearer("backward")],
            last: [None, None],
            is_up: true,
        }))
    }

    pub(crate) fn request(&mut self, now: Instant, end: usize, request: LinkRequest) {
        match self {
            Self::Association(association) => association.ends[end].handle_request(now, request),
            Self::Line(line) => line.ends[end].request(now, request),
        }
    }

    /// Takes the carrier down, and everything in flight is lost. The ends of an association hear of it at once; those
    /// of a line find no unit any more, until their monitors give it up.
    pub(crate) fn fail(&mut self, now: Instant) {
        match self {
            Self::Association(association) => {
                association.streams = Default::default();
                if core::mem::take(&mut association.is_up) {
                    association
                        .ends
                        .iter_mut()
                        .for_each(|end| end.handle_transport(now, TransportInput::Down));
                }
            }
            Self::Line(line) => {
                if core::mem::take(&mut line.is_up) {
                    line.ends.iter_mut().for_each(|end| end.handle_units_lost(now));
                }
            }
        }
    }

    pub(crate) fn mend(&mut self, now: Instant) {
        match self {
            Self::Association(association) => {
                if !core::mem::replace(&mut association.is_up, true) {
                    let up = TransportInput::Up { outbound_streams: 2 };
                    association.ends.iter_mut().for_each(|end| end.handle_transport(now, up.clone()));
                }
            }
            Self::Line(line) => {
                if !core::mem::replace(&mut line.is_up, true) {
                    line.carry_again(now);
                }
            }
        }
    }

    /// Gives the next indication of an end to its MTP3. Whatever the end sends goes on its way.
    pub(crate) fn poll(&mut self, now: Instant, end: usize) -> Option<LinkIndication> {
        match self {
            Self::Association(association) => association.poll(now, end),
            Self::Line(line) => line.poll(now, end),
        }
    }

    /// Ends read what has come.
    pub(crate) fn arrive(&mut self, now: Instant) {
        match self {
            Self::Association(association) => association.arrive(now),
            Self::Line(line) => line.arrive(now),
        }
    }

    pub(crate) fn next_event(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::Association(association) => {
                let streams = association.streams.iter().flatten();
                let arrivals = streams.filter_map(|stream| stream.0.front().map(|(at, _)| *at));
                let deadlines = association.ends.iter_mut().filter_map(|end| match end.poll_output(now) {
                    m2pa::Output::Wait(deadline) => deadline,
                    other => panic!("{other:?} was not asked for"),
                });
                arrivals.chain(deadlines).min()
            }
            Self::Line(line) => {
                let arrivals = line.bearers.iter().filter_map(Bearer::next_arrival);
                let deadlines = line.ends.iter_mut().filter_map(|end| match end.poll_output(now) {
                    mtp2::Output::Wait(deadline) => deadline,
                    other => panic!("{other:?} was not asked for"),
                });
                arrivals.chain(deadlines).min()
            }
        }
    }

    /// Messages to send that an end has thrown away, or refused, under one of its counts.
    pub(crate) fn discarded(&self, end: usize) -> u64 {
        match self {
            Self::Association(association) => {
                let discarded = &association.ends[end].counters().discarded;
                discarded.flushed_to_send
                    + discarded.not_retrieved
                    + discarded.buffer_full
                    + discarded.unsuitable_to_send
            }
            Self::Line(line) => {
                let counters = line.ends[end].counters();
                counters.flushed + counters.refused_buffer_full + counters.refused_out_of_service
            }
        }
    }

    pub(crate) fn report(&self) -> String {
        match self {
            Self::Association(association) => {
                let [a, b] = &association.ends;
                format!("{:?} {:?}\n    {:?} {:?}", a.state(), a.counters(), b.state(), b.counters())
            }
            Self::Line(line) => {
                let [a, b] = &line.ends;
                format!("{:?} {:?}\n    {:?} {:?}", a.state(), a.counters(), b.state(), b.counters())
            }
        }
    }
}

impl Association {
    fn poll(&mut self, now: Instant, end: usize) -> Option<LinkIndication> {
        loop {
            match self.ends[end].poll_output(now) {
                m2pa::Output::Indication(indication) => return Some(indication),
                m2pa::Output::Transmit(transmit) => {
                    let is_lost = self.losses.happens(Probability::new(LOSS).unwrap());
                    let stream = &mut self.streams[end][usize::from(transmit.stream.0)].0;
                    let at = now + self.delay + if is_lost { REPETITION } else { Duration::ZERO };
                    let at = stream.back().map_or(at, |(last, _)| at.max(*last));
                    if self.is_up {
                        stream.push_back((at, transmit));
                    }
                }
                m2pa::Output::Wait(Some(deadline)) if deadline <= now => {
                    self.ends[end].handle_deadline(now);
                }
                m2pa::Output::Wait(_) => return None,
            }
        }
    }

    fn arrive(&mut self, now: Instant) {
        for from in [0, 1] {
            for stream in [0, 1] {
                let waiting = &mut self.streams[from][stream].0;
                if waiting.front().is_some_and(|(at, _)| *at <= now) {
                    let (_, Transmit { stream, payload_protocol, octets, .. }) = waiting.pop_front().unwrap();
                    let message = TransportInput::Message { stream, payload_protocol, octets };
                    self.ends[1 - from].handle_transport(now, message);
                }
            }
        }
    }
}

impl Line {
    fn carry_again(&mut self, now: Instant) {
        for (bearer, last) in self.bearers.iter_mut().zip(&self.last) {
            if let Some(last) = last.as_ref().filter(|last| last.repeats) {
                let end = now + (last.end - last.start);
                bearer.carry(mtp2::Transmission { start: now, end, ..last.clone() });
            }
        }
    }

    fn poll(&mut self, now: Instant, end: usize) -> Option<LinkIndication> {
        loop {
            match self.ends[end].poll_output(now) {
                mtp2::Output::Indication(indication) => return Some(indication),
                mtp2::Output::Transmit(transmission) => {
                    self.last[end] = Some(transmission.clone());
                    self.bearers[end].carry(transmission);
                }
                mtp2::Output::Wait(_) => return None,
            }
        }
    }

    fn arrive(&mut self, now: Instant) {
        for to in [0, 1] {
            while let Some(arrival) = self.bearers[1 - to].poll_arrival(now) {
                match arrival {
                    _ if !self.is_up => {}
                    Arrival::Errored => self.ends[to].handle_errored_unit(now),
                    Arrival::Unit(unit, repeats) => self.ends[to].handle_unit(now, unit, repeats),
                }
            }
        }
    }
}
