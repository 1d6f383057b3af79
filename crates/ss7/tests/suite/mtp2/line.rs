//! Two terminals, a bearer each way, and what was told to level 3 when.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp2::{Arrival, Bearer, Config, Link, LinkState, Output, Transmission};

pub(crate) struct Line {
    pub(crate) now: Instant,
    pub(crate) ends: [Link; 2],
    bearers: [Bearer; 2],
    /// Until when the line is cut, if it is.
    cut_until: Option<Instant>,
    /// Last transmission of each end, which the line carries when it is whole again.
    last: [Option<Transmission>; 2],
    pub(crate) indicated: [VecDeque<(Instant, LinkIndication)>; 2],
}

impl Line {
    pub(crate) fn new(config: &Config, delay: Duration, bit_error_rate: f64, seed: u64) -> Self {
        let end = || Link::new(config.clone()).unwrap();
        let bearer = |name| {
            let bearer = Bearer::new(delay);
            if bit_error_rate == 0.0 {
                return bearer;
            }
            let mean = Duration::from_secs_f64(1.0 / (config.rate.as_bits_per_sec() as f64 * bit_error_rate));
            bearer.with_errors(mean, Seed::new(seed, 0).stream(name))
        };
        let mut line = Self {
            now: Instant::START,
            ends: [end(), end()],
            bearers: [bearer("forward"), bearer("backward")],
            cut_until: None,
            last: [None, None],
            indicated: [VecDeque::new(), VecDeque::new()],
        };
        line.advance_to(Instant::START);
        line
    }

    /// Both ends started and in service, with nothing left to read.
    pub(crate) fn in_service(config: &Config, delay: Duration, bit_error_rate: f64, seed: u64) -> Self {
        let mut line = Self::new(config, delay, bit_error_rate, seed);
        for end in 0..2 {
            line.request(end, LinkRequest::Emergency);
            line.request(end, LinkRequest::Start);
        }
        line.advance(Duration::from_secs(5));
        assert_eq!(line.states(), [LinkState::InService; 2]);
        line.indicated.iter_mut().for_each(VecDeque::clear);
        line
    }

    pub(crate) fn states(&self) -> [LinkState; 2] {
        [self.ends[0].state(), self.ends[1].state()]
    }

    pub(crate) fn request(&mut self, end: usize, request: LinkRequest) {
        self.ends[end].request(self.now, request);
        self.advance_to(self.now);
    }

    pub(crate) fn send(&mut self, end: usize, body: &[u8]) {
        self.request(end, LinkRequest::Transmit(Bytes::copy_from_slice(body)));
    }

    /// Cuts the line for so long: what would have come meanwhile never does.
    pub(crate) fn cut(&mut self, time: Duration) {
        self.cut_until = Some(self.now + time);
        for end in &mut self.ends {
            end.handle_units_lost(self.now);
        }
        self.advance_to(self.now);
    }

    fn mend(&mut self) {
        self.cut_until = None;
        for (bearer, last) in self.bearers.iter_mut().zip(&self.last) {
            if let Some(last) = last.as_ref().filter(|last| last.repeats) {
                let end = self.now + (last.end - last.start);
                bearer.carry(Transmission { start: self.now, end, ..last.clone() });
            }
        }
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.advance_to(self.now + time);
    }

    pub(crate) fn advance_to(&mut self, until: Instant) {
        loop {
            let deadlines = [
                self.drain(0),
                self.drain(1),
                self.bearers[0].next_arrival(),
                self.bearers[1].next_arrival(),
                self.cut_until,
            ];
            let Some(next) = deadlines.into_iter().flatten().min().filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if self.cut_until.is_some_and(|end| end <= self.now) {
                self.mend();
            }
            for end in 0..2 {
                while let Some(arrival) = self.bearers[1 - end].poll_arrival(self.now) {
                    match arrival {
                        _ if self.cut_until.is_some() => {}
                        Arrival::Errored => self.ends[end].handle_errored_unit(self.now),
                        Arrival::Unit(unit, repeats) => self.ends[end].handle_unit(self.now, unit, repeats),
                    }
                }
            }
        }
        self.now = until;
    }

    fn drain(&mut self, end: usize) -> Option<Instant> {
        loop {
            match self.ends[end].poll_output(self.now) {
                Output::Indication(indication) => self.indicated[end].push_back((self.now, indication)),
                Output::Transmit(transmission) => {
                    self.last[end] = Some(transmission.clone());
                    if self.cut_until.is_none() {
                        self.bearers[end].carry(transmission);
                    }
                }
                Output::Wait(deadline) => return deadline,
            }
        }
    }

    /// Takes the messages that an end has received.
    pub(crate) fn received(&mut self, end: usize) -> Vec<(Instant, Bytes)> {
        let indicated = std::mem::take(&mut self.indicated[end]);
        indicated
            .into_iter()
            .map(|(at, indication)| match indication {
                LinkIndication::Received(body) => (at, body),
                other => panic!("only messages were expected: {other:?}"),
            })
            .collect()
    }

    /// Takes all that an end was told.
    pub(crate) fn indications(&mut self, end: usize) -> Vec<LinkIndication> {
        self.indicated[end].drain(..).map(|(_, indication)| indication).collect()
    }
}
