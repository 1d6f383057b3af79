//! A sender with a controller: paced if it wants that, told of each transmission that arrived, and with losses found as
//! soon as three later transmissions have arrived, those of retransmissions too.

use std::collections::VecDeque;

use slantpath_base::{DataSize, Duration, Instant};
use slantpath_cc::control::{Acknowledged, Congestion, LossEvent, Sent, TimedOut};
use slantpath_cc::delivery::{DeliveryMeter, Departure};
use slantpath_cc::{CongestionControl, ProportionalWindow, RtoConfig, RttEstimator};

use crate::model::PAYLOAD;

/// Room of the receiver in bytes, from the first packet that it lacks on.
const WINDOW: u64 = 8 << 20;
const REORDERING: u64 = 3;

/// Next action of a sender.
pub(crate) enum Transmission {
    Sent(u64),
    Wait(Instant),
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Delivered,
    InFlight,
    Lost,
}

#[derive(Debug)]
struct Record {
    packet: u64,
    departure: Departure,
    fate: Fate,
}

#[derive(Debug)]
enum Recovery {
    Open,
    /// Until everything below this packet is delivered.
    Fast {
        point: u64,
        window: Option<ProportionalWindow>,
    },
    Timeout {
        point: u64,
    },
}

pub(crate) struct Flow {
    control: Box<dyn CongestionControl>,
    meter: DeliveryMeter,
    rtt: RttEstimator,
    /// Transmissions from number `first` on.
    records: VecDeque<Record>,
    first: u64,
    /// The first transmission that the loss rule has not been applied to.
    examined: u64,
    in_flight: u64,
    lost: VecDeque<u64>,
    next_packet: u64,
    /// The first packet that is not known to be delivered, and which after it are.
    una: u64,
    delivered: VecDeque<bool>,
    /// Packets that the receiver has, from packet `una_there` on.
    una_there: u64,
    there: VecDeque<bool>,
    recovery: Recovery,
    next_release: Instant,
    quantum_left: u64,
    wakes_at: Option<Instant>,
    expires: Instant,
    has_timer: bool,
    new_timer: Option<Instant>,
    timeouts_in_a_row: u32,
    pub(crate) known_arrivals: usize,
    has_ended: bool,
}

impl Flow {
    pub(crate) fn new(control: Box<dyn CongestionControl>) -> Self {
        Self {
            control,
            meter: DeliveryMeter::default(),
            rtt: RttEstimator::new(RtoConfig::tcp()),
            records: VecDeque::new(),
            first: 0,
            examined: 0,
            in_flight: 0,
            lost: VecDeque::new(),
            next_packet: 0,
            una: 0,
            delivered: VecDeque::new(),
            una_there: 0,
            there: VecDeque::new(),
            recovery: Recovery::Open,
            next_release: Instant::START,
            quantum_left: 0,
            wakes_at: None,
            expires: Instant::START,
            has_timer: false,
            new_timer: None,
            timeouts_in_a_row: 0,
            known_arrivals: 0,
            has_ended: false,
        }
    }

    fn record(&mut self, transmission: u64) -> Option<&mut Record> {
        let index = usize::try_from(transmission.checked_sub(self.first)?).ok()?;
        self.records.get_mut(index)
    }

    /// A transmission has come to the receiver: the bytes that it has not had.
    pub(crate) fn first_arrival(&mut self, transmission: u64) -> Option<u64> {
        let packet = self.record(transmission)?.packet;
        if !mark(&mut self.there, self.una_there, packet) {
            return None;
        }
        self.una_there += pop_marked(&mut self.there);
        Some(PAYLOAD)
    }

    /// There is nothing new to send any more.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(crate) fn woken(&mut self) {
        self.wakes_at = None;
    }

    fn cwnd(&self) -> u64 {
        match &self.recovery {
            Recovery::Fast { window: Some(window), .. } => window.bytes(),
            _ => self.control.cwnd(),
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Transmission {
        let is_allowed = self.in_flight == 0 || self.in_flight + PAYLOAD <= self.cwnd();
        let is_new = self.lost.is_empty();
        if !is_allowed
            || (is_new && self.has_ended)
            || (is_new && (self.next_packet + 1 - self.una) * PAYLOAD > WINDOW)
        {
            self.quantum_left = 0;
            return Transmission::Blocked;
        }
        if self.quantum_left < PAYLOAD && now < self.next_release {
            if self.wakes_at.is_some_and(|at| at <= self.next_release) {
                return Transmission::Blocked;
            }
            self.wakes_at = Some(self.next_release);
            return Transmission::Wait(self.next_release);
        }
        if let Some(rate) = self.control.pacing_rate() {
            if self.quantum_left < PAYLOAD {
                self.quantum_left = self.control.send_quantum().max(PAYLOAD);
            }
            self.quantum_left -= PAYLOAD;
            self.next_release = self.next_release.max(now) + rate.time_to_send(DataSize::from_bytes(PAYLOAD));
        }
        let packet = self.lost.pop_front().unwrap_or_else(|| {
            self.next_packet += 1;
            self.next_packet - 1
        });
        let departure = self.meter.depart(now, self.in_flight == 0, self.in_flight + PAYLOAD);
        self.control.on_sent(Sent { now, bytes: PAYLOAD, in_flight_before: self.in_flight });
        if let Recovery::Fast { window: Some(window), .. } = &mut self.recovery {
            window.on_sent(PAYLOAD);
        }
        if self.in_flight == 0 {
            self.restart_timer(now);
        }
        self.in_flight += PAYLOAD;
        self.records.push_back(Record { packet, departure, fate: Fate::InFlight });
        Transmission::Sent(self.first + self.records.len() as u64 - 1)
    }

    fn restart_timer(&mut self, now: Instant) {
        self.expires = now + self.rtt.rto();
        if !self.has_timer {
            self.has_timer = true;
            self.new_timer = Some(self.expires);
        }
    }

    pub(crate) fn take_new_timer(&mut self) -> Option<Instant> {
        self.new_timer.take()
    }

    pub(crate) fn acknowledge(&mut self, now: Instant, news: &[u64]) {
        let before = self.in_flight;
        let mut round_trip: Option<Duration> = None;
        let mut newest = 0;
        for &transmission in news {
            newest = newest.max(transmission);
            let Some(record) = self.record(transmission) else { continue };
            if record.fate == Fate::Delivered {
                continue;
            }
            let was_in_flight = record.fate == Fate::InFlight;
            record.fate = Fate::Delivered;
            let (packet, departure) = (record.packet, record.departure);
            self.meter.deliver(PAYLOAD, &departure);
            round_trip = Some(now.saturating_since(departure.sent_at));
            if was_in_flight {
                self.in_flight -= PAYLOAD;
            }
            mark(&mut self.delivered, self.una, packet);
        }
        let una_before = self.una;
        self.una += pop_marked(&mut self.delivered);
        let una = self.una;
        self.lost.retain(|packet| *packet >= una);
        if let Some(round_trip) = round_trip {
            self.rtt.sample(round_trip);
        }
        self.timeouts_in_a_row = 0;
        self.restart_timer(now);
        let reading = self.meter.read(now, round_trip);
        let delivered = reading.counts.newly_delivered;
        self.control.on_acknowledged(&Acknowledged {
            now,
            bytes: delivered,
            in_flight_before: before,
            in_flight: self.in_flight,
            advances_cumulative: self.una > una_before,
            is_recovering: matches!(self.recovery, Recovery::Fast { .. }),
            round_trip,
            smoothed_round_trip: self.rtt.srtt(),
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
        });
        match &self.recovery {
            Recovery::Fast { point, .. } | Recovery::Timeout { point } if self.una >= *point => {
                self.recovery = Recovery::Open;
                self.control.on_recovered(now);
            }
            _ => {}
        }
        let has_lost = self.lose_below((newest + 1).saturating_sub(REORDERING));
        if has_lost && matches!(self.recovery, Recovery::Open) {
            self.control.on_lost(Congestion { in_flight: before });
            let window = (!self.control.rules_recovery())
                .then(|| ProportionalWindow::new(self.control.cwnd(), before));
            self.recovery = Recovery::Fast { point: self.next_packet, window };
        }
        if let Recovery::Fast { window: Some(window), .. } = &mut self.recovery {
            window.on_delivered(delivered, self.in_flight, PAYLOAD);
        }
        while self.records.front().is_some_and(|record| record.fate == Fate::Delivered)
            || (self.first < self.examined.saturating_sub(100_000))
        {
            self.records.pop_front();
            self.first += 1;
        }
    }

    /// Takes for lost what was sent before a transmission and is still in flight, and tells if there was any.
    fn lose_below(&mut self, transmission: u64) -> bool {
        let mut has_lost = false;
        self.examined = self.examined.max(self.first);
        while self.examined < transmission {
            let index = usize::try_from(self.examined - self.first).expect("in memory");
            let Some(record) = self.records.get_mut(index) else { break };
            self.examined += 1;
            if record.fate != Fate::InFlight {
                continue;
            }
            record.fate = Fate::Lost;
            self.in_flight -= PAYLOAD;
            if record.packet >= self.una {
                self.lost.push_back(record.packet);
            }
            let lost = self.meter.lose(PAYLOAD, &record.departure);
            self.control.on_segment_lost(&lost);
            has_lost = true;
        }
        has_lost
    }

    /// The timer fires: when it is to fire next, unless nothing is in flight.
    pub(crate) fn handle_timer(&mut self, now: Instant) -> Option<Instant> {
        if self.in_flight == 0 {
            self.has_timer = false;
            return None;
        }
        if now < self.expires {
            return Some(self.expires);
        }
        let in_flight = self.in_flight;
        self.lose_below(u64::MAX);
        self.timeouts_in_a_row += 1;
        let loss = if self.timeouts_in_a_row == 1 { LossEvent::New } else { LossEvent::Known };
        self.control.on_timed_out(TimedOut { in_flight, loss });
        self.recovery = Recovery::Timeout { point: self.next_packet };
        self.rtt.back_off();
        self.expires = now + self.rtt.rto();
        Some(self.expires)
    }
}

/// Marks a packet, counted from `first` on; whether it was not.
fn mark(marks: &mut VecDeque<bool>, first: u64, packet: u64) -> bool {
    let Some(index) = packet.checked_sub(first).and_then(|index| usize::try_from(index).ok()) else {
        return false;
    };
    if marks.len() <= index {
        marks.resize(index + 1, false);
    }
    !std::mem::replace(&mut marks[index], true)
}

/// Takes what is marked at the front.
fn pop_marked(marks: &mut VecDeque<bool>) -> u64 {
    let mut count = 0;
    while marks.front() == Some(&true) {
        marks.pop_front();
        count += 1;
    }
    count
}
