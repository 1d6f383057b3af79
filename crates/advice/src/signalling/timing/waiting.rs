//! Time that messages wait for an association's window, and with them M2PA's acknowledgements: the load as a fluid, the
//! window as RFC 9260 opens it, without losses.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::T7From;

/// Octets that a message of level 3 has in an association beyond those on a line: 16 octets of M2PA's headers and one
/// of priority, without flag, check bits and numbers of level 2, of which there are six.
pub(crate) const BEYOND_LINE: f64 = 11.0;
/// Steps in a round trip.
const STEPS_A_ROUND_TRIP: f64 = 16.0;
/// The longest course that is followed.
const STEPS_MOST: usize = 60_000;

/// A window as it opens without a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    /// At the start, in bytes.
    pub(crate) initial: f64,
    /// Window at which slow start ends, in bytes.
    pub(crate) slow_start_until: f64,
    /// Largest window, in bytes.
    pub(crate) most: f64,
    /// By how much a round trip opens it behind slow start: what a packet holds.
    pub(crate) step: f64,
}

/// One direction of an association.
pub(crate) struct Direction<'a> {
    /// Bytes per second that are offered to it.
    pub(crate) offered: &'a dyn Fn(Duration) -> f64,
    pub(crate) window: Window,
    /// Bytes of messages that M2PA has unacknowledged at most.
    pub(crate) unacknowledged: f64,
    /// Bytes of the send buffer.
    pub(crate) send_buffer: f64,
    /// Bytes that wait above it at most; what comes beyond is thrown away.
    pub(crate) queue: f64,
    /// Bytes per second that the slowest link takes.
    pub(crate) rate: f64,
}

impl Direction<'_> {
    /// All numbers of it, but what is offered.
    pub(crate) fn numbers(&self) -> [f64; 8] {
        let Window { initial, slow_start_until, most, step } = self.window;
        let Self { unacknowledged, send_buffer, queue, rate, .. } = *self;
        [initial, slow_start_until, most, step, unacknowledged, send_buffer, queue, rate]
    }
}

/// Times that acknowledgements take, as each reading of T7 counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) given: Duration,
    pub(crate) hand_over: Duration,
    pub(crate) first_transmission: Duration,
    pub(crate) last_acknowledgement: Duration,
}

impl Answers {
    pub(crate) const fn of(&self, reading: T7From) -> Duration {
        match reading {
            T7From::FirstTransmission => self.first_transmission,
            T7From::Given => self.given,
            T7From::HandOver => self.hand_over,
            T7From::LastAcknowledgement => self.last_acknowledgement,
        }
    }
}

/// Bytes that have been given, handed over and sent by the end of each step.
#[derive(Default)]
struct Course {
    given: Vec<f64>,
    handed: Vec<f64>,
    sent: Vec<f64>,
}

/// Longest times that acknowledgements take for what goes in one direction, while the other carries its own load: from
/// `start` on, where both begin, for so long. `round_trip` is that of a message that does not wait.
pub(crate) fn answers(
    own: &Direction<'_>,
    peer: &Direction<'_>,
    round_trip: Duration,
    (start, end): (Duration, Duration),
) -> Answers {
    let way = round_trip.as_secs_f64();
    let step = (way / STEPS_A_ROUND_TRIP).max(1e-4);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by what follows")]
    let steps = (((end.saturating_sub(start)).as_secs_f64() / step) as usize).min(STEPS_MOST);
    let [own, peer] = [own, peer].map(|direction| course(direction, way, step, start, steps));
    let half = way / 2.0;
    // When what is handed over at a time is sent, counted from the start.
    let sent_by = |course: &Course, handed_by: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is no less than 0")]
        let at = ((handed_by / step) as usize).min(steps.saturating_sub(1));
        let bytes = course.handed.get(at).copied().unwrap_or_default();
        let sent = course.sent.partition_point(|sent| *sent < bytes - 0.5);
        if sent <= at { handed_by } else { sent as f64 * step }
    };
    let (mut given_at, mut handed_at) = (0, 0);
    let mut longest = [0.0_f64; 4];
    let mut acknowledged: Option<f64> = None;
    for at in 0..steps {
        let bytes = own.sent[at];
        let before = at.checked_sub(1).map_or(0.0, |before| own.sent[before]);
        if bytes <= before + 1e-9 {
            continue;
        }
        let now = at as f64 * step;
        while given_at < at && own.given[given_at] < bytes - 0.5 {
            given_at += 1;
        }
        while handed_at < at && own.handed[handed_at] < bytes - 0.5 {
            handed_at += 1;
        }
        let (given, handed) = (given_at as f64 * step, handed_at as f64 * step);
        let arrives = sent_by(&peer, now + half) + half;
        let oldest = acknowledged.map_or(handed, |last| handed.max(last));
        for (longest, since) in longest.iter_mut().zip([given, handed, now, oldest]) {
            *longest = longest.max(arrives - since);
        }
        acknowledged = Some(acknowledged.map_or(arrives, |last| last.max(arrives)));
    }
    let [given, hand_over, first_transmission, last_acknowledgement] =
        longest.map(|longest| Duration::from_secs_f64(longest.max(way)));
    Answers { given, hand_over, first_transmission, last_acknowledgement }
}

/// Course of one direction, step by step.
fn course(direction: &Direction<'_>, way: f64, step: f64, start: Duration, steps: usize) -> Course {
    let Window { initial, slow_start_until, most, step: packet } = direction.window;
    let mut course = Course::default();
    let (mut cwnd, mut given, mut handed, mut sent) = (initial.min(most), 0.0_f64, 0.0_f64, 0.0_f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a round trip is 16 steps")]
    let back = ((way / step) as usize).max(1);
    for at in 0..steps {
        let now = start.saturating_add(Duration::from_secs_f64(at as f64 * step));
        let come = (direction.offered)(now) * step;
        given += come.min((direction.queue - (given - handed)).max(0.0));
        let of = |list: &[f64], steps: usize| at.checked_sub(steps).map_or(0.0, |then| list[then]);
        let (acknowledged, earlier) = (of(&course.sent, back), of(&course.sent, back + 1));
        let is_limited = handed - sent > 0.5;
        let fresh = acknowledged - earlier;
        if is_limited && fresh > 0.0 {
            let opened = if cwnd < slow_start_until { fresh } else { packet * fresh / cwnd };
            cwnd = (cwnd + opened).min(most);
        }
        let room = (direction.send_buffer.min(direction.unacknowledged) - (handed - acknowledged)).max(0.0);
        handed += (given - handed).min(room);
        let window = (cwnd - (sent - acknowledged)).max(0.0);
        sent += (handed - sent).min(window).min(direction.rate * step);
        course.given.push(given);
        course.handed.push(handed);
        course.sent.push(sent);
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Duration = Duration::from_millis(640);

    /// 30 links at 0.36 Erlang with messages of 120 octets, in an association: 86,400 octets a second on lines.
    fn offered(at: Duration) -> f64 {
        if at < Duration::from_secs(1) { 0.0 } else { 86_400.0 * 131.0 / 120.0 }
    }

    fn idle(_: Duration) -> f64 {
        0.0
    }

    fn direction(window: Window, offered: &dyn Fn(Duration) -> f64) -> Direction<'_> {
        Direction {
            offered,
            window,
            unacknowledged: f64::INFINITY,
            send_buffer: 128_000.0,
            queue: 131_000.0,
            rate: f64::INFINITY,
        }
    }

    const FIXED: Window =
        Window { initial: 384_000.0, slow_start_until: 0.0, most: 384_000.0, step: 1_468.0 };
    /// Two packets of 576 octets, and one more a round trip.
    const MB9: Window = Window { initial: 1_152.0, slow_start_until: 1_152.0, most: 64_000.0, step: 544.0 };

    fn of(own: Window, peer: &dyn Fn(Duration) -> f64) -> Answers {
        let until = (Duration::from_secs(1), Duration::from_secs(121));
        answers(&direction(own, &offered), &direction(own, peer), ROUND_TRIP, until)
    }

    #[test]
    fn where_nothing_waits_each_reading_takes_a_round_trip() {
        let Answers { given, hand_over, first_transmission, last_acknowledgement } = of(FIXED, &offered);
        for answer in [given, hand_over, first_transmission, last_acknowledgement] {
            assert!(answer >= ROUND_TRIP && answer < Duration::from_millis(730), "{answer}");
        }
    }

    #[test]
    fn a_window_that_opens_by_a_packet_a_round_trip_keeps_each_reading_waiting_for_its_part() {
        let one_way = of(MB9, &idle);
        // Nothing waits on the way back: what has been sent is acknowledged a round trip later.
        assert!(one_way.first_transmission < Duration::from_millis(730), "{one_way:?}");
        assert!(one_way.last_acknowledgement < Duration::from_millis(730), "{one_way:?}");
        // A send buffer that is full is sent in 128,000 octets over the mean window.
        assert!(one_way.hand_over > Duration::from_secs(5), "{one_way:?}");
        assert!(one_way.given > one_way.hand_over + Duration::from_secs(2), "{one_way:?}");
        // With load both ways the acknowledgements wait as the messages do.
        let both = of(MB9, &offered);
        assert!(both.first_transmission > Duration::from_secs(5), "{both:?}");
        assert!(both.hand_over > one_way.hand_over, "{both:?}");
        assert!(both.last_acknowledgement > Duration::from_secs(2), "{both:?}");
        assert!(both.last_acknowledgement < both.first_transmission, "{both:?}");
    }
}
