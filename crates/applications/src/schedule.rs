//! A workload in progress: when the next message is due, and what becomes of the timetable while there is no room.

use slantpath_base::{DataSize, Duration, Instant, Stream};

use crate::workload::{MessageClass, WhenBlocked, Workload};

/// A workload in progress. Whoever plays it offers the transport the message that is due, and says what came of it:
/// [`Schedule::take`] or [`Schedule::refuse`].
#[derive(Clone, Debug)]
// In this order in memory: what every message touches in front.
#[repr(C)]
pub struct Schedule {
    /// Instant at which the next message is due; `None` once there is none.
    due: Option<Instant>,
    /// Messages taken so far.
    taken: u64,
    /// Since when the message that is due has been offered in vain, unless its kind knows.
    blocked_since: Option<Instant>,
    /// True if the transport may have room.
    may_offer: bool,
    when_blocked: WhenBlocked,
    workload: Workload,
    start: Instant,
    stream: Stream,
    /// Progress of each kind, if there are several.
    mixed: Vec<ClassProgress>,
    /// Index of the kind that is next.
    current: usize,
    /// The talkspurt that the next message belongs to, of a voice.
    talk: Talk,
}

/// Talkspurt of a voice.
#[derive(Clone, Copy, Debug, Default)]
struct Talk {
    ends: Instant,
    /// True if the next message is its first.
    begins: bool,
}

/// Progress of the messages of one kind.
#[derive(Clone, Copy, Debug)]
struct ClassProgress {
    due: Instant,
    /// Number of further messages that come at that time.
    left: u16,
    /// Since when the next message has been offered in vain.
    blocked_since: Option<Instant>,
    /// True if the message is not offered again until the transport has room.
    is_set_aside: bool,
}

impl ClassProgress {
    const fn new(due: Instant, left: u16) -> Self {
        Self { due, left, blocked_since: None, is_set_aside: false }
    }
}

impl Schedule {
    /// Begins a workload at `start`. What it leaves to chance is drawn from `stream`.
    pub fn new(workload: Workload, when_blocked: WhenBlocked, start: Instant, mut stream: Stream) -> Self {
        let due = match &workload {
            Workload::Bulk { total: Some(total), .. } if *total == DataSize::ZERO => None,
            Workload::Bulk { .. }
            | Workload::Bursts { .. }
            | Workload::ConstantRate { .. }
            | Workload::Voice { .. } => Some(start),
            Workload::Ping { count, .. } => (*count != Some(0)).then_some(start),
            Workload::Poisson { mean_interval, .. } => {
                Some(start.saturating_add(stream.exponential(*mean_interval)))
            }
            Workload::Trace { messages } => messages.first().map(|(offset, _)| start.saturating_add(*offset)),
            Workload::Mixed { classes } => (!classes.is_empty()).then_some(start),
        };
        let talk = match &workload {
            Workload::Voice { mean_talk, .. } => {
                Talk { ends: start.saturating_add(stream.exponential(*mean_talk)), begins: true }
            }
            _ => Talk::default(),
        };
        let mixed = match &workload {
            Workload::Mixed { classes } => {
                classes.iter().map(|class| ClassProgress::new(start, class.messages)).collect()
            }
            _ => Vec::new(),
        };
        Self {
            due,
            taken: 0,
            blocked_since: None,
            may_offer: true,
            when_blocked,
            workload,
            start,
            stream,
            mixed,
            current: 0,
            talk,
        }
    }

    /// Instant at which the next message is due; `None` once there is none.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Tells if the transport may have room for it, as far as is known.
    pub const fn may_offer(&self) -> bool {
        self.may_offer
    }

    /// Number of messages that have been taken.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// The size of the next message in bytes.
    #[inline]
    pub fn next_bytes(&self) -> usize {
        self.workload.message_bytes(self.taken, self.current)
    }

    /// The place of the next message's kind among those of its workload: 0 if there is one only.
    pub const fn next_kind(&self) -> usize {
        self.current
    }

    /// Of which kind the next message is, if there are several.
    #[inline]
    pub fn next_class(&self) -> Option<&MessageClass> {
        match &self.workload {
            Workload::Mixed { classes } => classes.get(self.current),
            _ => None,
        }
    }

    /// Tells if the next message is the first of a talkspurt.
    #[inline]
    pub(crate) const fn begins_talk(&self) -> bool {
        self.talk.begins
    }

    /// From when the delay of the message that is due counts, if the transport takes it at `now`.
    #[inline]
    pub fn counts_from(&self, now: Instant) -> Instant {
        match self.when_blocked {
            WhenBlocked::Wait => self.is_blocked_since().unwrap_or(now),
            WhenBlocked::Queue => self.due.unwrap_or(now),
        }
    }

    /// The message that was due has been taken over by the transport at `now`: plans the next one. If the source has
    /// waited for the transport, its timetable slides by that wait.
    #[inline]
    pub fn take(&mut self, now: Instant) {
        if matches!(self.workload, Workload::Bulk { total: None, .. }) {
            // The next one is due as long as this one was.
            self.blocked_since = None;
            self.taken += 1;
        } else {
            self.plan_next(now);
        }
    }

    fn plan_next(&mut self, now: Instant) {
        let slides = self.when_blocked == WhenBlocked::Wait && self.is_blocked_since().is_some();
        self.blocked_since = None;
        let due = self.due.unwrap_or(now);
        let from = if slides { now } else { due };
        self.taken += 1;
        self.due = match &self.workload {
            Workload::Bulk { message, total } => {
                let sent = self.taken.saturating_mul(message.as_bytes());
                total.is_none_or(|total| sent < total.as_bytes()).then_some(due)
            }
            Workload::Bursts { messages_per_burst, interval, jitter, .. } => {
                if !self.taken.is_multiple_of(u64::from(*messages_per_burst).max(1)) {
                    Some(from)
                } else if jitter.is_zero() {
                    Some(from.saturating_add(*interval))
                } else {
                    let drawn = self.stream.below(2 * jitter.as_nanos() + 1);
                    let least = interval.saturating_sub(*jitter);
                    Some(from.saturating_add(least.saturating_add(Duration::from_nanos(drawn))))
                }
            }
            Workload::ConstantRate { interval, .. } => Some(from.saturating_add(*interval)),
            Workload::Poisson { mean_interval, .. } => {
                Some(from.saturating_add(self.stream.exponential(*mean_interval)))
            }
            Workload::Ping { interval, count, .. } => {
                let goes_on = count.is_none_or(|count| self.taken < count.into());
                goes_on.then(|| from.saturating_add(*interval))
            }
            Workload::Voice { interval, mean_talk, mean_silence, .. } => {
                let next = from.saturating_add(*interval);
                self.talk.begins = next >= self.talk.ends;
                if self.talk.begins {
                    let begins =
                        self.talk.ends.saturating_add(self.stream.exponential(*mean_silence)).max(next);
                    self.talk.ends = begins.saturating_add(self.stream.exponential(*mean_talk));
                    Some(begins)
                } else {
                    Some(next)
                }
            }
            Workload::Trace { messages } => usize::try_from(self.taken)
                .ok()
                .and_then(|index| messages.get(index))
                .map(|(offset, _)| self.start.saturating_add(*offset)),
            Workload::Mixed { classes } => {
                advance_class(&mut self.mixed, self.current, classes, from);
                next_kind(&self.mixed, &mut self.current)
            }
        };
    }

    /// The transport has no room at `now` for the message that was due. Where there are several kinds, its kind is
    /// passed over until [`Schedule::try_again`], and the others are offered.
    #[cold]
    pub fn refuse(&mut self, now: Instant) {
        let Some(progress) = self.mixed.get_mut(self.current) else {
            self.blocked_since.get_or_insert(now);
            self.may_offer = false;
            return;
        };
        progress.blocked_since.get_or_insert(now);
        progress.is_set_aside = true;
        self.due = next_kind(&self.mixed, &mut self.current);
        self.may_offer = self.mixed.iter().any(|progress| !progress.is_set_aside);
    }

    /// The transport may have room again.
    #[inline]
    pub fn try_again(&mut self) {
        self.may_offer = true;
        if !self.mixed.is_empty() {
            self.try_all_again();
        }
    }

    #[cold]
    fn try_all_again(&mut self) {
        self.mixed.iter_mut().for_each(|progress| progress.is_set_aside = false);
        self.due = next_kind(&self.mixed, &mut self.current);
    }

    /// Since when the message that is due has been offered in vain.
    #[inline]
    fn is_blocked_since(&self) -> Option<Instant> {
        match self.mixed.get(self.current) {
            Some(progress) => progress.blocked_since,
            None => self.blocked_since,
        }
    }
}

/// Plans the next message of a kind.
#[inline(never)]
fn advance_class(mixed: &mut [ClassProgress], current: usize, classes: &[MessageClass], from: Instant) {
    let (Some(class), Some(progress)) = (classes.get(current), mixed.get_mut(current)) else { return };
    progress.left = progress.left.saturating_sub(1);
    progress.blocked_since = None;
    if progress.left == 0 {
        *progress = ClassProgress::new(from.saturating_add(class.interval), class.messages);
    }
}

/// Finds the kind that is next, and when: those that are set aside come last.
fn next_kind(mixed: &[ClassProgress], current: &mut usize) -> Option<Instant> {
    let kinds = mixed.iter().enumerate();
    let (place, next) = kinds.min_by_key(|(_, progress)| (progress.is_set_aside, progress.due))?;
    *current = place;
    Some(next.due)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;
    use slantpath_sctp::SendOptions;

    fn schedule(workload: Workload) -> Schedule {
        let stream = Seed::new(1, 0).stream("workload");
        Schedule::new(workload, WhenBlocked::Wait, Instant::from_secs(1), stream)
    }

    fn dues(schedule: &mut Schedule, count: usize) -> Vec<u64> {
        let mut dues = Vec::new();
        for _ in 0..count {
            let Some(due) = schedule.due() else { break };
            dues.push(due.as_nanos() / 1_000_000);
            schedule.take(due);
        }
        dues
    }

    const KILOBYTE: DataSize = DataSize::from_bytes(1_000);

    #[test]
    fn constant_rate_keeps_its_interval() {
        let workload = Workload::ConstantRate { message: KILOBYTE, interval: Duration::from_millis(30) };
        assert_eq!(dues(&mut schedule(workload), 3), [1_000, 1_030, 1_060]);
    }

    #[test]
    fn a_blocked_source_slides() {
        let workload = Workload::ConstantRate { message: KILOBYTE, interval: Duration::from_millis(30) };
        let mut schedule = schedule(workload);
        schedule.refuse(Instant::from_millis(1_000));
        schedule.take(Instant::from_millis(1_500));
        assert_eq!(schedule.due(), Some(Instant::from_millis(1_530)));
    }

    #[test]
    fn bursts_come_together() {
        let workload = Workload::Bursts {
            message: KILOBYTE,
            messages_per_burst: 2,
            interval: Duration::from_millis(200),
            jitter: Duration::ZERO,
        };
        assert_eq!(dues(&mut schedule(workload), 5), [1_000, 1_000, 1_200, 1_200, 1_400]);
    }

    #[test]
    fn jitter_spreads_bursts_about_their_interval() {
        let interval = Duration::from_millis(100);
        let jitter = Duration::from_millis(20);
        let workload = Workload::Bursts { message: KILOBYTE, messages_per_burst: 1, interval, jitter };
        let dues = dues(&mut schedule(workload), 10_001);
        let intervals: Vec<u64> = dues.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (least, most) = (intervals.iter().min().unwrap(), intervals.iter().max().unwrap());
        assert!((79..82).contains(least) && (119..122).contains(most), "{least} to {most}");
        // 10,000 intervals: 1,000 s, with a standard error of 1.2 s.
        let all = dues.last().unwrap() - 1_000;
        assert!((996_000..1_004_000).contains(&all), "{all}");
    }

    #[test]
    fn a_bulk_transfer_ends_with_its_last_byte() {
        let workload = Workload::Bulk { message: KILOBYTE, total: Some(DataSize::from_bytes(2_500)) };
        let mut schedule = schedule(workload);
        let mut sizes = Vec::new();
        while let Some(due) = schedule.due() {
            sizes.push(schedule.next_bytes());
            schedule.take(due);
        }
        assert_eq!(sizes, [1_000, 1_000, 500]);
    }

    #[test]
    fn a_trace_is_played_as_written() {
        let messages =
            vec![(Duration::from_millis(5), KILOBYTE), (Duration::from_millis(7), DataSize::from_bytes(1))];
        let mut schedule = schedule(Workload::Trace { messages: messages.into() });
        assert_eq!(schedule.next_bytes(), 1_000);
        assert_eq!(dues(&mut schedule, 9), [1_005, 1_007]);
    }

    #[test]
    fn kinds_of_messages_keep_their_own_intervals() {
        let class = |stream, bytes, messages, ms| MessageClass {
            stream,
            message: DataSize::from_bytes(bytes),
            messages,
            interval: Duration::from_millis(ms),
            options: SendOptions::default(),
            unordered: false,
        };
        let classes = vec![class(0, 100, 1, 30), class(1, 5_000, 2, 50)];
        let mut schedule = schedule(Workload::Mixed { classes });
        let mut played = Vec::new();
        while played.len() < 7 {
            let due = schedule.due().unwrap();
            let stream = schedule.next_class().unwrap().stream;
            played.push((due.as_nanos() / 1_000_000, stream, schedule.next_bytes()));
            schedule.take(due);
        }
        let (short, long) = (|at| (at, 0, 100), |at| (at, 1, 5_000));
        let expected =
            [short(1_000), long(1_000), long(1_000), short(1_030), long(1_050), long(1_050), short(1_060)];
        assert_eq!(played, expected);
    }

    #[test]
    fn a_voice_talks_and_is_silent_in_its_proportion() {
        let interval = Duration::from_millis(20);
        let (mean_talk, mean_silence) = (Duration::from_millis(1_004), Duration::from_millis(1_587));
        let workload = Workload::Voice { message: KILOBYTE, interval, mean_talk, mean_silence };
        let (_, mean) = workload.mean_spacing().unwrap();
        let mut schedule = schedule(workload);
        let (mut before, mut spurts) = (None, 0_u32);
        for _ in 0..1_000_000 {
            let due = schedule.due().unwrap();
            let gap = before.map(|before| due.saturating_since(before));
            let begins = schedule.begins_talk();
            assert!(begins || gap == Some(interval), "{gap:?}");
            assert!(gap.is_none_or(|gap| gap >= interval));
            spurts += u32::from(begins);
            before = Some(due);
            schedule.take(due);
        }
        // A spurt has ⌈T / 20 ms⌉ packets, 1 / (1 - exp(-20 / 1004)) = 50.7 on average, with a standard error of 0.7 %.
        assert!((19_250..20_200).contains(&spurts), "{spurts}");
        // 20,000 spurts and silences: their sum has a standard error of 0.5 %.
        let all = before.unwrap().saturating_since(Instant::from_secs(1)).as_secs_f64();
        let expected = f64::from(spurts) * 2.591;
        assert!((all / expected - 1.0).abs() < 0.02, "{all} s and {expected} s");
        // That a spurt ends within an interval makes packets 1 % more frequent than what is said of them beforehand.
        let mean = mean.as_secs_f64();
        assert!((expected / 1e6 / mean - 0.99).abs() < 0.02, "{mean} s");
    }

    #[test]
    fn a_ping_ends_with_its_last_request() {
        let interval = Duration::from_millis(30);
        let ping = |count| Workload::Ping { message: KILOBYTE, interval, count };
        assert_eq!(dues(&mut schedule(ping(Some(3))), 9), [1_000, 1_030, 1_060]);
        assert_eq!(dues(&mut schedule(ping(None)), 4).len(), 4);
        assert_eq!(schedule(ping(Some(0))).due(), None);
    }

    #[test]
    fn poisson_intervals_have_their_mean() {
        let mean_interval = Duration::from_millis(10);
        let mut schedule = schedule(Workload::Poisson { message: KILOBYTE, mean_interval });
        let last = *dues(&mut schedule, 10_000).last().unwrap();
        // 10,000 intervals of 10 ms: 100 s, with a standard error of 1 s.
        assert!((97_000..105_000).contains(&last), "{last}");
    }
}
