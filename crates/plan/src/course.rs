//! The load as a fluid through queue, window and band in both directions alike: what waits where after a start and a
//! step, until capacity comes.

use std::collections::VecDeque;

use crate::framing::{ACKNOWLEDGEMENT_CHUNK, DATA_HEADER, Framing};

/// Time in which an RBDC terminal sends its backlog, in seconds.
const DRAIN_S: f64 = 1.0;
/// Time for which capacity is kept that is not needed any more, in seconds.
const KEPT_S: f64 = 10.0;
/// Step of the load, in seconds from its start.
const STEPS_AT_S: f64 = 10.0;
/// Until when it is followed, in seconds.
const ENDS_AT_S: f64 = 70.0;
/// Parts of a round trip.
const PARTS_OF_A_ROUND_TRIP: f64 = 16.0;
/// The shortest and the longest of them, in seconds.
const PART_LEAST_S: f64 = 0.004;
const PART_MOST_S: f64 = 0.02;

/// For how long answers are taken together, in seconds.
const LOOK_S: f64 = 0.25;

/// Load, and the band, window and queue that it passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// Messages a second, before the step and after it.
    pub(crate) load: (f64, f64),
    /// A message that waits for no window.
    pub(crate) alone: Framing,
    /// Octets of chunks in a packet where they wait for the window.
    pub(crate) packet: f64,
    /// Octets of headers and SACKs of each of those.
    pub(crate) headers: f64,
    /// Bits a second.
    pub(crate) permanent: f64,
    pub(crate) total: f64,
    /// Bits a second that are allocated when the load steps, at least.
    pub(crate) held: f64,
    /// From a demand to its capacity, in seconds.
    pub(crate) allocation: f64,
    /// Interval at which the demand is looked at, in seconds.
    pub(crate) look: f64,
    /// The first look after the step, in parts of that interval.
    pub(crate) first_look: f64,
    /// Standstill at a change of the allocation, in seconds.
    pub(crate) interruption: f64,
    /// Bytes that may be outstanding in all.
    pub(crate) window: f64,
    /// Messages that may wait in front of it.
    pub(crate) queue: f64,
    pub(crate) round_trip: f64,
    /// Time of an acknowledgement beside the round trip and what waits, in seconds.
    pub(crate) answering: f64,
}

/// Largest values of a course.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    /// From a message to its answer, in seconds.
    pub(crate) answer: f64,
    /// From what is handed to SCTP to its acknowledgement.
    pub(crate) acknowledged: f64,
    /// From gateway to gateway.
    pub(crate) delay: f64,
    /// Bytes outstanding.
    pub(crate) outstanding: f64,
    /// Messages that wait for the window.
    pub(crate) waiting: f64,
    /// The share of what came since the step that found the queue full.
    pub(crate) lost: f64,
    /// Longest time without an acknowledgement although something was outstanding.
    pub(crate) standstill: f64,
}

impl Flow {
    /// Gives the part of a round trip in which it is followed, in seconds: one way is a whole number of them.
    pub(crate) fn part(&self) -> f64 {
        let one_way = self.round_trip / 2.0;
        let part =
            one_way / (one_way / (self.round_trip / PARTS_OF_A_ROUND_TRIP).min(PART_MOST_S)).ceil().max(1.0);
        part.max(PART_LEAST_S)
    }

    /// Follows the flow, and gives its largest values.
    pub(crate) fn course(&self) -> Course {
        let part = self.part();
        let mut state = State::new(self, part, parts(ENDS_AT_S / part));
        for now in 0..state.handed.len() {
            state.step(now);
        }
        state.answered()
    }
}

/// Contents of window, queue and path, in parts of a round trip.
struct State<'a> {
    flow: &'a Flow,
    part: f64,
    one_way: usize,
    course: Course,
    /// Of all that was given, handed to the path, or came, by the end of each part.
    given: Vec<f64>,
    handed: Vec<Handed>,
    /// Bytes that SCTP had taken, and whether it takes more.
    taken: Vec<(f64, bool)>,
    /// In which part the last bit of what was handed over in each part left the terminal.
    left: Vec<usize>,
    sent_bits: f64,
    total: Handed,
    /// Messages and bytes of acknowledgements in SCTP, which wait for the window; messages above it.
    in_sctp: f64,
    answers: f64,
    above: f64,
    is_free: bool,
    /// True if anything had to wait for the window in the part before.
    waited: bool,
    acknowledged: usize,
    come: usize,
    lost: f64,
    came_after: f64,
    terminal: Terminal,
}

/// Capacity that the terminal has, and has asked for.
struct Terminal {
    look: usize,
    /// Parts from the step to the first look behind it.
    first: usize,
    step: usize,
    looked: usize,
    latency: usize,
    kept: usize,
    rate: f64,
    silent_until: usize,
    looked_bits: f64,
    wanted: f64,
    less: Option<(usize, f64)>,
    grants: VecDeque<(usize, f64)>,
}

impl<'a> State<'a> {
    fn new(flow: &'a Flow, part: f64, steps: usize) -> Self {
        Self {
            flow,
            part,
            one_way: parts(flow.round_trip / 2.0 / part).max(1),
            course: Course::default(),
            given: Vec::with_capacity(steps),
            handed: vec![Handed::default(); steps],
            taken: Vec::with_capacity(steps),
            left: Vec::with_capacity(steps),
            sent_bits: 0.0,
            total: Handed::default(),
            in_sctp: 0.0,
            answers: 0.0,
            above: 0.0,
            is_free: true,
            waited: false,
            acknowledged: 0,
            come: 0,
            lost: 0.0,
            came_after: 0.0,
            terminal: Terminal {
                look: parts(flow.look / part).max(1),
                first: parts(flow.first_look * flow.look / part).max(1),
                step: parts(STEPS_AT_S / part),
                looked: 0,
                latency: parts(flow.allocation / part),
                kept: parts(KEPT_S / part),
                rate: flow.permanent,
                silent_until: 0,
                looked_bits: 0.0,
                wanted: flow.permanent,
                less: None,
                grants: VecDeque::new(),
            },
        }
    }

    fn handed_by(&self, parts: usize) -> Handed {
        if parts == 0 { Handed::default() } else { self.handed[parts - 1] }
    }

    fn step(&mut self, now: usize) {
        let at = now as f64 * self.part;
        let new = self.part * if at < STEPS_AT_S { self.flow.load.0 } else { self.flow.load.1 };
        let is_after = at >= STEPS_AT_S;
        if is_after {
            self.came_after += new;
        }
        // What came to the other end, which is as this one, and what is acknowledged: its last bit has left, come, and
        // been answered from behind what waits there.
        let before = self.handed_by(self.come);
        while self.left.get(self.come).is_some_and(|left| left + self.one_way <= now) {
            self.come += 1;
        }
        let (came, in_packets) = {
            let by_now = self.handed_by(self.come);
            (by_now.messages - before.messages, by_now.packets - before.packets)
        };
        while let Some(&there) = self.left.get(self.acknowledged)
            && let Some(&back) = self.left.get(there + self.one_way)
            && back + self.one_way <= now
        {
            self.acknowledged += 1;
        }
        let outstanding = self.total.bytes - self.handed_by(self.acknowledged).bytes;

        // SCTP takes no more while its buffer of two windows is full, until half of that is empty.
        self.above += new;
        let (chunk, window) = (self.flow.alone.chunk, self.flow.window);
        let payload = ((chunk - DATA_HEADER) / chunk).max(0.1);
        let buffered = payload * (outstanding + self.in_sctp * chunk + self.answers);
        self.is_free = if self.is_free { buffered < 2.0 * window } else { buffered <= window };
        // M2PA answers what came in one packet at once, in front of what it sends next.
        let behind = self.total.bytes + self.in_sctp * chunk + self.answers;
        self.taken.push((behind, self.is_free));
        if self.is_free {
            let room = ((2.0 * window - buffered) / payload / chunk).max(0.0);
            let carries_answers = self.above > 1.5 * new;
            let moved = self.above.min(room + 1.0);
            (self.above, self.in_sctp) = (self.above - moved, self.in_sctp + moved);
            if !carries_answers {
                self.answers +=
                    (came * (self.flow.alone.window - chunk)).min(in_packets * ACKNOWLEDGEMENT_CHUNK);
            }
        }
        if self.above > self.flow.queue {
            if is_after {
                self.lost += self.above - self.flow.queue;
            }
            self.above = self.flow.queue;
        }
        self.given.push(self.total.messages + self.in_sctp + self.above);

        // The window lets out what it has room for. What has to wait shares packets.
        let waits = self.in_sctp * chunk + self.answers;
        let room = (window - outstanding).max(0.0);
        let goes = if waits > room { room / waits } else { 1.0 };
        let (messages, bytes) = (self.in_sctp * goes, waits * goes);
        let alone = messages * self.flow.alone.packets;
        let (packets, headers) = if goes < 1.0 || self.waited {
            ((bytes / self.flow.packet).min(alone), self.flow.headers)
        } else {
            (alone, (self.flow.alone.ethernet - self.flow.alone.window) / self.flow.alone.packets)
        };
        self.waited = goes < 1.0;
        self.total.packets += packets;
        self.total.messages += messages;
        self.total.bytes += bytes;
        self.total.bits += 8.0 * (bytes + packets * headers);
        self.in_sctp -= messages;
        self.answers -= bytes - messages * chunk;
        self.handed[now] = self.total;

        if now >= self.terminal.silent_until {
            self.sent_bits = (self.sent_bits + self.terminal.rate * self.part).min(self.total.bits);
        }
        while self.left.len() <= now && self.handed[self.left.len()].bits <= self.sent_bits + 1e-6 {
            self.left.push(now);
        }
        let held = if at >= STEPS_AT_S - self.part { self.flow.held } else { 0.0 };
        self.terminal.look(self.flow, now, self.part, (self.total.bits, self.sent_bits), held);
        self.course.outstanding =
            self.course.outstanding.max(self.total.bytes - self.handed_by(self.acknowledged).bytes);
        self.course.waiting = self.course.waiting.max(self.above);
    }

    /// Follows when each message was answered, and how long that took.
    fn answered(mut self) -> Course {
        let time = |count: usize| count as f64 * self.part;
        let steps = self.handed.len();
        let (mut entered, mut freed, mut answer_goes, mut in_sctp) = (0_usize, 0_usize, 0_usize, 0_usize);
        let mut answered_before = 0;
        let mut together = (0, 0.0, 0.0);
        for (now, given) in self.given.iter().enumerate() {
            while entered < steps && self.handed[entered].messages < given - 1e-6 {
                entered += 1;
            }
            let Some(&there) = self.left.get(entered) else { break };
            let there = there + self.one_way;
            self.course.delay = self.course.delay.max(time(there - now));
            if let Some(&back) = self.left.get(there) {
                self.course.acknowledged =
                    self.course.acknowledged.max(time(back + self.one_way - entered.min(back)));
            }
            // M2PA answers as soon as SCTP takes it, behind what that has.
            freed = freed.max(there);
            while freed < self.taken.len() && !self.taken[freed].1 {
                freed += 1;
            }
            let Some(&(behind, _)) = self.taken.get(freed) else { break };
            while answer_goes < steps && self.handed[answer_goes].bytes < behind - 1e-6 {
                answer_goes += 1;
            }
            let Some(&back) = self.left.get(answer_goes) else { break };
            let answered = back + self.one_way;
            // Many are answered at once: the mean of those counts.
            let look = answered / parts(LOOK_S / self.part).max(1);
            if look != together.0 {
                together = (look, 0.0, 0.0);
            }
            together = (look, together.1 + time(answered - now), together.2 + 1.0);
            self.course.answer = self.course.answer.max(together.1 / together.2);
            // T7 runs from when SCTP had it, or from the answer before.
            in_sctp = in_sctp.max(now);
            while in_sctp < self.taken.len() && !self.taken[in_sctp].1 {
                in_sctp += 1;
            }
            let since = in_sctp.min(entered).max(answered_before);
            self.course.standstill = self.course.standstill.max(time(answered.saturating_sub(since)));
            answered_before = answered;
        }
        self.course.answer += self.flow.answering;
        self.course.acknowledged += self.flow.answering;
        self.course.standstill += self.flow.answering;
        self.course.lost = self.lost / self.came_after.max(1.0);
        self.course
    }
}

impl Terminal {
    /// Looks at what has come, if it is time for that, asks, and has what was asked for.
    fn look(&mut self, flow: &Flow, now: usize, part: f64, (come, sent): (f64, f64), held: f64) {
        let (since, first) = if now < self.step { (now, self.look) } else { (now - self.step, self.first) };
        if (since + 1) % self.look == first % self.look {
            let seen = (come - self.looked_bits) / ((now + 1 - self.looked) as f64 * part);
            (self.looked_bits, self.looked) = (come, now + 1);
            let needed = (seen + (come - sent) / DRAIN_S).clamp(flow.permanent, flow.total);
            if needed >= self.wanted {
                self.less = None;
                if needed > self.wanted {
                    self.wanted = needed;
                    self.grants.push_back((now + self.latency, needed));
                }
            } else {
                let (since, most) =
                    self.less.map_or((now, needed), |(since, most)| (since, most.max(needed)));
                self.less = Some((since, most));
                if now >= since + self.kept {
                    (self.wanted, self.less) = (most, None);
                    self.grants.push_back((now + self.latency, most));
                }
            }
        }
        if let Some((_, granted)) = self.grants.pop_front_if(|(from, _)| *from <= now) {
            // Nothing goes while what is allocated changes by a slot or more.
            if (granted - self.rate).abs() > 0.01 * flow.total && flow.interruption > 0.0 {
                self.silent_until = self.silent_until.max(now + parts(flow.interruption / part));
            }
            self.rate = granted;
        }
        (self.rate, self.wanted) = (self.rate.max(held), self.wanted.max(held));
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Handed {
    packets: f64,
    messages: f64,
    bytes: f64,
    bits: f64,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn parts(parts: f64) -> usize {
    parts.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::Framed;
    use crate::question::MessageCarrier;

    /// 100 messages a second of 120 octets over half a second and a band of 400 kbit/s, which they fill to four fifths.
    fn flow() -> Flow {
        Flow {
            load: (100.0, 100.0),
            alone: Framing::new(Framed::of(MessageCarrier::M2pa, 120), 100.0, 0.0),
            packet: 1_468.0,
            headers: 70.5,
            permanent: 400_000.0,
            total: 400_000.0,
            held: 400_000.0,
            allocation: 0.0,
            look: 1.0,
            first_look: 1.0,
            interruption: 0.0,
            window: 20_000.0,
            queue: 100.0,
            round_trip: 0.5,
            answering: 0.0,
        }
    }

    #[test]
    fn what_fits_waits_nowhere() {
        let course = flow().course();
        assert_eq!((course.lost, course.waiting), (0.0, 0.0));
        // 180 octets each are outstanding for a round trip, which is followed in parts of 20 ms.
        assert!((course.outstanding - 9_000.0).abs() < 2.0 * 360.0, "{course:?}");
        assert!((0.47..0.52).contains(&course.answer) && (0.24..0.27).contains(&course.delay), "{course:?}");
    }

    #[test]
    fn what_exceeds_the_permanent_band_waits_until_capacity_comes() {
        // 57 kbit/s come beyond 200 for a second and two looks at most, and are sent at that rate.
        let step =
            Flow { permanent: 200_000.0, held: 200_000.0, load: (60.0, 100.0), allocation: 1.0, ..flow() };
        let course = step.course();
        assert!(course.lost == 0.0 && course.delay > 0.25 + 0.3 && course.delay < 0.25 + 0.9, "{course:?}");
        let broken = Flow { interruption: 1.0, ..step }.course();
        assert!(broken.standstill > course.standstill + 0.8, "{course:?} {broken:?}");
    }

    #[test]
    fn what_no_band_takes_is_lost_above_the_window() {
        // Nine messages in a packet of 1,402 octets take 1,246 bits each: 80 a second of 100.
        let course = Flow { permanent: 100_000.0, total: 100_000.0, held: 100_000.0, ..flow() }.course();
        assert!((0.15..0.25).contains(&course.lost), "{course:?}");
        assert_eq!(course.waiting, 100.0);
    }
}
