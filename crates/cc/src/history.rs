//! Random histories of a path, for property tests of controllers.

use std::collections::VecDeque;

use proptest::prelude::*;
use slantpath_base::{Duration, Instant};

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, Spacing, TimedOut};
use crate::delivery::{DeliveryMeter, Departure};

/// Next step of a history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Wait {
        micros: u32,
    },
    /// Up to so many segments leave.
    Send {
        segments: u8,
    },
    /// So many arrive and are acknowledged together.
    Deliver {
        segments: u8,
    },
    Lose {
        segments: u8,
    },
    Recover,
    Spurious,
    TimeOut,
    Mark,
    Idle,
    Limit {
        segments: u8,
    },
    Segment {
        bytes: u16,
    },
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0_u32..80_000).prop_map(|micros| Step::Wait { micros }),
        8 => (1_u8..60).prop_map(|segments| Step::Send { segments }),
        8 => (1_u8..20).prop_map(|segments| Step::Deliver { segments }),
        2 => (1_u8..9).prop_map(|segments| Step::Lose { segments }),
        1 => Just(Step::Recover),
        1 => Just(Step::Spurious),
        1 => Just(Step::TimeOut),
        1 => Just(Step::Mark),
        1 => Just(Step::Idle),
        1 => (1_u8..60).prop_map(|segments| Step::Limit { segments }),
        1 => (500_u16..9_000).prop_map(|bytes| Step::Segment { bytes }),
    ];
    proptest::collection::vec(step, 1..400)
}

/// Plays a history, in which the window stays between one segment and `greatest`, and what is paced is not stopped.
pub(crate) fn play(control: &mut impl CongestionControl, history: &[Step], segment: u64, greatest: u64) {
    let mut path = Path {
        meter: DeliveryMeter::default(),
        flight: VecDeque::new(),
        now: Instant::from_millis(1),
        in_flight: 0,
        is_recovering: false,
        segment,
    };
    for step in history {
        path.take(control, *step);
        let cwnd = control.cwnd();
        assert!(cwnd > 0 && cwnd <= greatest, "{cwnd} after {step:?}");
        assert!(control.pacing_rate().is_none_or(|rate| rate.as_bits_per_sec() > 0), "{step:?}");
        assert!(control.send_quantum() > 0, "{step:?}");
        for bytes in [path.segment, path.segment + 1] {
            let at_rate = |rate| Spacing::at(rate, bytes, control.send_quantum());
            assert_eq!(control.spacing(bytes), control.pacing_rate().map(at_rate), "{step:?}");
        }
    }
}

struct Path {
    meter: DeliveryMeter,
    flight: VecDeque<(u64, Departure)>,
    now: Instant,
    in_flight: u64,
    is_recovering: bool,
    segment: u64,
}

impl Path {
    fn take(&mut self, control: &mut impl CongestionControl, step: Step) {
        let now = self.now;
        match step {
            Step::Wait { micros } => self.now = now + Duration::from_micros(micros.into()),
            Step::Send { segments } => {
                for _ in 0..segments {
                    let bytes = self.segment;
                    if self.in_flight > 0 && self.in_flight + bytes > control.cwnd() {
                        return;
                    }
                    let departure = self.meter.depart(now, self.in_flight == 0, self.in_flight + bytes);
                    control.on_sent(Sent { now, bytes, in_flight_before: self.in_flight });
                    self.flight.push_back((bytes, departure));
                    self.in_flight += bytes;
                }
                self.meter.limit_by_application(self.in_flight);
            }
            Step::Deliver { segments } => self.deliver(control, segments),
            Step::Lose { segments } => {
                let in_flight = self.in_flight;
                self.lose(control, segments.into());
                if self.in_flight < in_flight && !self.is_recovering {
                    control.on_lost(Congestion { in_flight });
                    self.is_recovering = true;
                }
            }
            Step::Recover => {
                if std::mem::take(&mut self.is_recovering) {
                    control.on_recovered(now);
                }
            }
            Step::Spurious => control.on_spurious(now),
            Step::TimeOut => {
                let in_flight = self.in_flight;
                self.lose(control, usize::MAX);
                control.on_timed_out(TimedOut { in_flight, loss: LossEvent::New });
                self.is_recovering = true;
            }
            Step::Mark => control.on_marked(Congestion { in_flight: self.in_flight }),
            Step::Idle => control.on_idle(3),
            Step::Limit { segments } => control.limit_cwnd(u64::from(segments) * self.segment),
            Step::Segment { bytes } => {
                self.segment = bytes.into();
                control.set_segment_bytes(self.segment);
            }
        }
    }

    fn deliver(&mut self, control: &mut impl CongestionControl, segments: u8) {
        let before = self.in_flight;
        let mut round_trip = None;
        for _ in 0..segments {
            let Some((bytes, departure)) = self.flight.pop_front() else { break };
            self.in_flight -= bytes;
            self.meter.deliver(bytes, &departure);
            round_trip = Some(self.now.saturating_since(departure.sent_at));
        }
        let reading = self.meter.read(self.now, round_trip);
        control.on_acknowledged(&Acknowledged {
            round_trip,
            smoothed_round_trip: round_trip,
            in_flight: self.in_flight,
            is_recovering: self.is_recovering,
            starts_round: reading.starts_round,
            delivery: reading.sample,
            counts: reading.counts,
            ..Acknowledged::of(self.now, reading.counts.newly_delivered, before)
        });
    }

    fn lose(&mut self, control: &mut impl CongestionControl, segments: usize) {
        for _ in 0..segments {
            let Some((bytes, departure)) = self.flight.pop_front() else { break };
            self.in_flight -= bytes;
            control.on_segment_lost(&self.meter.lose(bytes, &departure));
        }
    }
}
