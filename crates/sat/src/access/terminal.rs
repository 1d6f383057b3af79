//! A terminal: what it asks for, by what it has to send.

use slantpath_base::{Duration, Instant};
use slantpath_net::{Demand, FrameConfig};

use super::{AccessConfig, Ask, TerminalConfig};

/// Requests of a terminal to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To send so many bytes more.
    Bytes(u64),
    /// To send so many bytes, whatever it has asked for before.
    AllBytes(u64),
    /// To have so many slots of each frame from now on, with those that it has for good.
    Slots(u32),
}

/// Findings of a look at the demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Bytes that have come since the last look.
    pub(super) offered_bytes: u64,
    /// Slots of a frame that the terminal wants by now, or has.
    pub(super) asked_slots: u32,
}

/// Slots of each frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grant {
    /// All that a terminal has.
    pub(super) slots: u32,
    /// Slots among them that nobody had asked for.
    pub(super) free: u32,
    /// Bytes that slots which had been asked for have carried before, from the beginning of the run on.
    pub(super) carried_before: u64,
}

impl Grant {
    /// Bytes that slots which had been asked for have carried by so many frames after it began to hold.
    pub(super) fn carried_by(&self, permanent_slots: u32, frames: u64, frame: &FrameConfig) -> u64 {
        let asked_for = self.slots.saturating_sub(self.free).saturating_sub(permanent_slots);
        let a_frame = u64::from(asked_for) * u64::from(frame.slot_payload_bytes);
        self.carried_before.saturating_add(a_frame.saturating_mul(frames))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Terminal {
    config: TerminalConfig,
    frame: FrameConfig,
    ask_every: Duration,
    /// In which time an answer is there at the latest.
    answer_time: Duration,
    /// Bytes that had been offered when it last looked.
    offered_before: u64,
    /// Bytes that it had to send then.
    backlog_bytes: u64,
    /// Slots that it wants to have.
    wanted: u32,
    /// Slots that it last asked for.
    asked: u32,
    /// Since when it needs less, and the most that it has needed since.
    less: Option<(Instant, u32)>,
    /// Bytes that it has asked for by volume, and not had the slots for yet.
    outstanding_bytes: u64,
    /// Bytes that slots which had been asked for had carried when it last looked.
    carried_bytes: u64,
    /// Until when it waits for the answer to a volume that stands for all others.
    answered_by: Instant,
}

impl Terminal {
    pub(super) fn new(config: TerminalConfig, access: &AccessConfig) -> Self {
        Self {
            config,
            frame: access.frame,
            ask_every: access.ask_every,
            answer_time: access.answer_time(),
            offered_before: 0,
            backlog_bytes: 0,
            wanted: config.permanent_slots,
            asked: config.permanent_slots,
            less: None,
            outstanding_bytes: 0,
            carried_bytes: 0,
            answered_by: Instant::START,
        }
    }

    /// Looks at what is to be sent, with so many slots of each frame at present; those that had been asked for have
    /// carried so many bytes from the beginning of the run on.
    pub(super) fn observe(&mut self, now: Instant, demand: Demand, slots: u32, carried_bytes: u64) -> Seen {
        // Counters begin anew at the end of a warm-up.
        let offered_bytes =
            demand.offered_bytes.checked_sub(self.offered_before).unwrap_or(demand.offered_bytes);
        (self.offered_before, self.backlog_bytes) = (demand.offered_bytes, demand.backlog_bytes);
        match self.config.ask {
            Ask::Never | Ask::AbsoluteVolume => {}
            Ask::Rate { drain } => self.want_rate(now, offered_bytes, drain),
            Ask::Volume => {
                let given = carried_bytes - core::mem::replace(&mut self.carried_bytes, carried_bytes);
                self.outstanding_bytes = self.outstanding_bytes.saturating_sub(given);
            }
        }
        let asked_slots = match self.config.ask {
            Ask::Never | Ask::Volume | Ask::AbsoluteVolume => slots,
            Ask::Rate { .. } => self.wanted,
        };
        Seen { offered_bytes, asked_slots }
    }

    /// Tells if the terminal has something to ask for, since it last looked.
    pub(super) fn has_request(&self, now: Instant) -> bool {
        match self.config.ask {
            Ask::Never => false,
            Ask::Rate { .. } => self.wanted != self.asked,
            Ask::Volume => self.backlog_bytes > self.outstanding_bytes,
            Ask::AbsoluteVolume => self.backlog_bytes > 0 && now >= self.answered_by,
        }
    }

    /// Asks for it, as it will be heard.
    pub(super) fn take_request(&mut self, now: Instant) -> Option<Request> {
        if !self.has_request(now) {
            return None;
        }
        match self.config.ask {
            Ask::Never => None,
            Ask::Rate { .. } => {
                self.asked = self.wanted;
                Some(Request::Slots(self.wanted))
            }
            Ask::Volume => {
                let more = self.backlog_bytes - self.outstanding_bytes;
                self.outstanding_bytes = self.backlog_bytes;
                Some(Request::Bytes(more))
            }
            Ask::AbsoluteVolume => {
                self.answered_by = now.saturating_add(self.answer_time);
                Some(Request::AllBytes(self.backlog_bytes))
            }
        }
    }

    fn want_rate(&mut self, now: Instant, offered: u64, drain: Duration) {
        let needed =
            self.slots_for(offered, self.ask_every).saturating_add(self.slots_for(self.backlog_bytes, drain));
        let needed = needed.clamp(self.config.permanent_slots, self.config.most_slots);
        self.wanted = if needed >= self.wanted {
            self.less = None;
            needed
        } else {
            let (since, most) = self.less.map_or((now, needed), |(since, most)| (since, most.max(needed)));
            if now.saturating_since(since) >= self.config.release_after {
                self.less = None;
                most
            } else {
                self.less = Some((since, most));
                self.wanted
            }
        };
    }

    /// Slots of each frame that carry so many bytes in a time.
    fn slots_for(&self, bytes: u64, time: Duration) -> u32 {
        let per_slot = u128::from(self.frame.slot_payload_bytes.max(1)) * u128::from(time.as_nanos().max(1));
        let slots = (u128::from(bytes) * u128::from(self.frame.length.as_nanos())).div_ceil(per_slot);
        u32::try_from(slots).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AccessRequests, any_direction};
    use super::*;

    /// Frames of 10 ms with slots of 100 bytes, a look in every tenth: a slot of each frame carries 1,000 bytes
    /// between two of them.
    fn terminal(ask: Ask, release_after_ms: u64) -> Terminal {
        let config = TerminalConfig {
            direction: any_direction(),
            permanent_slots: 2,
            most_slots: 8,
            ask,
            release_after: Duration::from_millis(release_after_ms),
            interruption: Duration::ZERO,
        };
        let frame = FrameConfig {
            length: Duration::from_millis(10),
            slots: 10,
            slot_overhead: Duration::ZERO,
            slot_payload_bytes: 100,
        };
        Terminal::new(
            config,
            &AccessConfig {
                frame,
                carriers: 1,
                ask_every: Duration::from_millis(100),
                hop: Duration::ZERO,
                plan_every: Duration::from_millis(100),
                processing: Duration::ZERO,
                lead: Duration::ZERO,
                requests: AccessRequests::Assigned,
                gives_free_slots: false,
                terminals: vec![config],
            },
        )
    }

    /// Looks every 100 ms at these bytes that have come, and these that are to be sent.
    fn observations(terminal: &mut Terminal, demands: &[(u64, u64, u32)]) -> Vec<Option<Request>> {
        let mut offered = terminal.offered_before;
        let requests = (1..).zip(demands).map(|(turn, &(come, backlog_bytes, slots))| {
            offered += come;
            let demand = Demand { offered_bytes: offered, backlog_bytes };
            let now = Instant::from_millis(100 * turn);
            // In ten frames each of its own slots carries 1,000 bytes.
            let carried = terminal.carried_bytes + 1_000 * u64::from(slots - 2);
            terminal.observe(now, demand, slots, carried);
            terminal.take_request(now)
        });
        requests.collect()
    }

    #[test]
    fn a_rate_is_what_came_and_what_sends_the_backlog_in_time() {
        let mut terminal = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 0);
        let slots = |slots| Some(Request::Slots(slots));
        let asked = observations(
            &mut terminal,
            &[
                (1_900, 0, 2),
                (2_001, 0, 2),
                (3_000, 2_000, 2),
                (9_000, 0, 2),
                (50_000, 0, 2),
                (0, 0, 8),
                (0, 0, 8),
            ],
        );
        // Less than what is permanent is not asked for, nor more than is allowed; nothing is said twice.
        assert_eq!(asked, [None, slots(3), slots(4), slots(8), None, slots(2), None]);
    }

    #[test]
    fn less_is_asked_for_when_less_was_needed_for_long_enough() {
        let mut terminal = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 300);
        let come = [7_000, 3_000, 5_000, 2_000, 2_000, 2_000, 5_000, 2_000, 2_000, 2_000, 2_000];
        let asked = observations(&mut terminal, &come.map(|bytes| (bytes, 0, 2)));
        let slots = |slots| Some(Request::Slots(slots));
        // Of the four looks before the fifth the most was five; then five are needed again, and two from there on.
        let expected = [slots(7), None, None, None, slots(5), None, None, None, None, None, slots(2)];
        assert_eq!(asked, expected);
    }

    #[test]
    fn a_volume_is_asked_for_once_and_again_only_if_its_slots_have_gone_unused() {
        let mut terminal = terminal(Ask::Volume, 0);
        let bytes = |bytes| Some(Request::Bytes(bytes));
        let asked = observations(
            &mut terminal,
            // Its slots come at the fourth look, carry 3,000 bytes, and one thousand more has come.
            &[(5_000, 5_000, 2), (0, 5_000, 2), (1_000, 6_000, 2), (0, 3_000, 5), (0, 1_000, 5)],
        );
        assert_eq!(asked, [bytes(5_000), None, bytes(1_000), None, bytes(1_000)]);
    }

    #[test]
    fn after_a_warm_up_what_has_come_is_counted_anew() {
        let mut terminal = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 0);
        observations(&mut terminal, &[(8_000, 0, 2)]);
        let demand = Demand { offered_bytes: 3_000, backlog_bytes: 0 };
        let now = Instant::from_millis(200);
        let seen = terminal.observe(now, demand, 8, 6_000);
        assert_eq!((seen.offered_bytes, terminal.take_request(now)), (3_000, Some(Request::Slots(3))));
    }

    #[test]
    fn what_never_asks_has_what_it_has() {
        let mut terminal = terminal(Ask::Never, 0);
        assert_eq!(observations(&mut terminal, &[(90_000, 90_000, 2)]), [None]);
    }

    #[test]
    fn what_was_not_heard_is_still_to_be_asked_for_as_it_is_by_then() {
        let mut by_rate = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 0);
        let mut by_volume = terminal(Ask::Volume, 0);
        for (at, backlog_bytes) in [(100, 1_500), (200, 600)] {
            let (now, demand) = (Instant::from_millis(at), Demand { offered_bytes: 0, backlog_bytes });
            for terminal in [&mut by_rate, &mut by_volume] {
                terminal.observe(now, demand, 2, 0);
            }
            assert!(by_volume.has_request(now));
        }
        let now = Instant::from_millis(200);
        assert_eq!(by_volume.take_request(now), Some(Request::Bytes(600)));
        assert!(!by_volume.has_request(now));
        // It has wanted nothing but what it has for good.
        assert!(!by_rate.has_request(now));
    }

    #[test]
    fn slots_that_nobody_asked_for_answer_no_request() {
        let frame = terminal(Ask::Volume, 0).frame;
        // Of eight slots two are its own and three free: the others carry 300 bytes a frame.
        let grant = Grant { slots: 8, free: 3, carried_before: 1_000 };
        assert_eq!([0, 1, 4].map(|frames| grant.carried_by(2, frames, &frame)), [1_000, 1_300, 2_200]);
    }

    #[test]
    fn an_absolute_volume_is_all_there_is_and_not_said_again_before_it_can_be_answered() {
        let mut terminal = terminal(Ask::AbsoluteVolume, 0);
        // No hops, a plan within 100 ms, and from the next frame of 10 ms on.
        let all = |bytes| Some(Request::AllBytes(bytes));
        let asked =
            observations(&mut terminal, &[(0, 0, 2), (500, 500, 2), (400, 900, 2), (0, 700, 2), (0, 0, 2)]);
        assert_eq!(asked, [None, all(500), None, all(700), None]);
    }
}
