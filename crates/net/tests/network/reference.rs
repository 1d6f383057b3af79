//! Links against a second model of a link that does everything the slow way: one packet at a time, each start
//! and each end of a transmission in its turn.

use std::collections::VecDeque;

use proptest::prelude::*;
use slantpath_base::{DataRate, DataSize, Duration, Instant, Seed};
use slantpath_net::{
    Change, CoDelConfig, DirectionConfig, DropReason, DrrClass, DrrConfig, QueueConfig, QueueLimit, WhileDown,
};

use crate::fixture::{Pair, clean, packet_of_class, tag};

#[derive(Clone, Copy, Debug)]
enum Step {
    Change(Change),
    /// A packet of so many bytes with a DSCP of that class.
    Send(usize, u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// By class, the highest first, each with a limit of its own.
    ByClass,
    /// As they came.
    FirstIn,
}

/// Results of a run, to be compared between the models.
#[derive(Debug, PartialEq)]
struct Outcome {
    arrivals: Vec<(Instant, u8)>,
    queue_full: u64,
    down: u64,
    packet_nanos: f64,
    byte_nanos: f64,
    busy: Duration,
    max_packets: u64,
}

/// The slow link.
struct Slow {
    now: Instant,
    limit: QueueLimit,
    order: Order,
    rate: DataRate,
    delay: Duration,
    while_down: WhileDown,
    is_up: bool,
    /// Tag, length, class.
    waiting: VecDeque<(u8, usize, u8)>,
    /// Tag, end of transmission, arrival.
    sending: Option<(u8, Instant, Instant)>,
    packet_nanos: u64,
    byte_nanos: u64,
    outcome: Outcome,
}

impl Slow {
    fn new(config: &DirectionConfig, limit: QueueLimit, order: Order) -> Self {
        Self {
            now: Instant::START,
            limit,
            order,
            rate: config.rate,
            delay: config.delay.max(),
            while_down: config.while_down,
            is_up: true,
            waiting: VecDeque::new(),
            sending: None,
            packet_nanos: 0,
            byte_nanos: 0,
            outcome: Outcome {
                arrivals: Vec::new(),
                queue_full: 0,
                down: 0,
                packet_nanos: 0.0,
                byte_nanos: 0.0,
                busy: Duration::ZERO,
                max_packets: 0,
            },
        }
    }

    fn waiting_bytes(&self) -> u64 {
        self.waiting.iter().map(|&(_, length, _)| length as u64).sum()
    }

    fn has_room(&self, length: usize, class: u8) -> bool {
        let is_beside = |other: u8| self.order == Order::FirstIn || other == class;
        let beside: Vec<u64> = self
            .waiting
            .iter()
            .filter(|&&(_, _, other)| is_beside(other))
            .map(|&(_, length, _)| length as u64)
            .collect();
        match self.limit {
            QueueLimit::Bytes(limit) => beside.iter().sum::<u64>() + length as u64 <= limit.as_bytes(),
            QueueLimit::Packets(limit) => beside.len() < limit as usize,
            QueueLimit::Unlimited => true,
        }
    }

    fn take_next(&mut self) -> Option<(u8, usize, u8)> {
        let highest = self.waiting.iter().map(|&(_, _, class)| class).max();
        let is_next = |class: u8| self.order == Order::FirstIn || Some(class) == highest;
        let place = self.waiting.iter().position(|&(_, _, class)| is_next(class))?;
        self.waiting.remove(place)
    }

    fn pass_time(&mut self, to: Instant) {
        let elapsed = to - self.now;
        self.packet_nanos += elapsed.as_nanos() * self.waiting.len() as u64;
        self.byte_nanos += elapsed.as_nanos() * self.waiting_bytes();
        if self.sending.is_some() {
            self.outcome.busy += elapsed;
        }
        self.now = to;
    }

    fn start_next(&mut self) {
        if self.is_up
            && self.sending.is_none()
            && let Some((tag, length, _)) = self.take_next()
        {
            let end = self.now + self.rate.time_to_send(DataSize::from_bytes(length as u64));
            self.sending = Some((tag, end, end + self.delay));
        }
    }

    fn run_to(&mut self, to: Instant) {
        while let Some((tag, end, arrival)) = self.sending.filter(|&(_, end, _)| end <= to) {
            self.pass_time(end);
            self.outcome.arrivals.push((arrival, tag));
            self.sending = None;
            self.start_next();
        }
        self.pass_time(to);
    }

    fn send(&mut self, tag: u8, length: usize, class: u8) {
        let has_room = self.has_room(length, class);
        let starts_at_once = self.is_up && self.sending.is_none();
        if !self.is_up && self.while_down == WhileDown::Drop {
            self.outcome.down += 1;
        } else if has_room || starts_at_once {
            self.waiting.push_back((tag, length, class));
            self.start_next();
            self.outcome.max_packets = self.outcome.max_packets.max(self.waiting.len() as u64);
        } else {
            self.outcome.queue_full += 1;
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Delay(delay) => self.delay = delay,
            Change::Rate(rate) => self.rate = rate,
            Change::Down if self.is_up => {
                self.is_up = false;
                self.outcome.down += u64::from(self.sending.take().is_some());
                if self.while_down == WhileDown::Drop {
                    self.outcome.down += self.waiting.len() as u64;
                    self.waiting.clear();
                }
            }
            Change::Up => {
                self.is_up = true;
                self.start_next();
            }
            _ => {}
        }
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (21_usize..200, 0_u8..8).prop_map(|(length, class)| Step::Send(length, class)),
        1 => (4_000_u64..40_000).prop_map(|rate| Step::Change(Change::Rate(DataRate::from_bits_per_sec(rate)))),
        1 => (0_u64..300).prop_map(|delay| Step::Change(Change::Delay(Duration::from_millis(delay)))),
        1 => Just(Step::Change(Change::Down)),
        2 => Just(Step::Change(Change::Up)),
    ]
}

fn any_limit() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0_u64..500).prop_map(|bytes| QueueLimit::Bytes(DataSize::from_bytes(bytes))),
        (0_u32..5).prop_map(QueueLimit::Packets),
        Just(QueueLimit::Unlimited),
    ]
}

proptest! {
    #[test]
    fn a_link_does_what_a_slow_one_does(
        steps in proptest::collection::vec((0_u64..150, any_step()), 0..60),
        limit in any_limit(),
        discipline in 0_usize..4,
        holds: bool,
    ) {
        // One that never drops, so that only its order and its limit show.
        let patient = CoDelConfig { target: Duration::from_secs(1_000_000), ..CoDelConfig::new(limit) };
        let all = DrrClass { dscps: Vec::new(), quantum_bytes: 1, limit };
        let (queue, order) = [
            (QueueConfig::CoDel(patient), Order::FirstIn),
            (QueueConfig::DropTail(limit), Order::FirstIn),
            (QueueConfig::Drr(DrrConfig { classes: vec![all] }), Order::FirstIn),
            (QueueConfig::Priority(limit), Order::ByClass),
        ][discipline]
            .clone();
        let while_down = if holds { WhileDown::Hold } else { WhileDown::Drop };
        let config = DirectionConfig {
            queue,
            while_down,
            ..clean(DataRate::from_bits_per_sec(8_000), Duration::from_millis(20), 0)
        };
        let end = Instant::from_secs(3_600);

        let mut slow = Slow::new(&config, limit, order);
        // At the start itself hosts send before anything changes.
        let mut now = Instant::from_nanos(1_000_000);
        let mut timed = Vec::new();
        for (tag, &(wait, step)) in steps.iter().enumerate() {
            now += Duration::from_millis(wait);
            // Changes of one instant come before what is sent then.
            timed.push((now, matches!(step, Step::Send(..)), u8::try_from(tag).expect("below 60"), step));
        }
        timed.sort_by_key(|&(now, is_send, tag, _)| (now, is_send, tag));
        for &(now, _, tag, step) in &timed {
            slow.run_to(now);
            match step {
                Step::Change(change) => slow.change(change),
                Step::Send(length, class) => slow.send(tag, length, class),
            }
        }
        slow.run_to(end);
        let mut expected = slow.outcome;
        expected.arrivals.sort_by_key(|&(at, _)| at);
        let span = end.since_start().as_nanos() as f64;
        expected.packet_nanos = slow.packet_nanos as f64 / span;
        expected.byte_nanos = slow.byte_nanos as f64 / span;

        let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
            for &(now, _, _, step) in &timed {
                if let Step::Change(change) = step {
                    builder.change(now, link.forward(), change);
                }
            }
        });
        for &(now, _, tag, step) in &timed {
            if let Step::Send(length, class) = step {
                let (packet, interface) = (packet_of_class(class << 5, length, tag), pair.link.first());
                pair.network.command(pair.first, |host, _| host.send(now, interface, packet));
            }
        }
        pair.network.run_until(end);
        let statistics = pair.network.queue_statistics(pair.link.forward());
        let counters = pair.network.counters(pair.link.forward());
        let received = &pair.network.host(pair.second).received;
        let outcome = Outcome {
            arrivals: received.iter().map(|(at, _, packet)| (*at, tag(packet))).collect(),
            queue_full: counters.dropped(DropReason::QueueFull).packets,
            down: counters.dropped(DropReason::Down).packets,
            packet_nanos: statistics.mean_packets,
            byte_nanos: statistics.mean_bytes,
            busy: statistics.busy,
            max_packets: statistics.max_packets,
        };
        prop_assert_eq!(outcome, expected);
    }
}
