//! A terminal: what it asks for, by what it has to send.

use slantpath_base::{Duration, Instant};
use slantpath_net::{Demand, FrameConfig};

use super::{AccessConfig, Ask, TerminalConfig};

/// What a terminal asks the controller for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To send so many bytes more.
    Bytes(u64),
    /// To have so many slots of each frame from now on, with those that it has for good.
    Slots(u32),
}

/// What a look gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// What is asked for, if anything is.
    pub(super) request: Option<Request>,
    /// Bytes that have come since the last look.
    pub(super) offered_bytes: u64,
    /// Slots of a frame that the terminal asks for by now, or has.
    pub(super) asked_slots: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Terminal {
    config: TerminalConfig,
    frame: FrameConfig,
    ask_every: Duration,
    /// Bytes that had been offered when it last looked.
    offered_before: u64,
    /// What it last asked for, in slots.
    asked: u32,
    /// Since when it needs less, and the most that it has needed since.
    less: Option<(Instant, u32)>,
    /// What it has asked for by volume, and not had the slots for yet.
    outstanding_bytes: u64,
}

impl Terminal {
    pub(super) fn new(config: TerminalConfig, access: &AccessConfig) -> Self {
        Self {
            config,
            frame: access.frame,
            ask_every: access.ask_every,
            offered_before: 0,
            asked: config.permanent_slots,
            less: None,
            outstanding_bytes: 0,
        }
    }

    /// Looks at what is to be sent; `slots` of each frame are there for it at present.
    pub(super) fn look(&mut self, now: Instant, demand: Demand, slots: u32) -> Seen {
        // Counters begin anew at the end of a warm-up.
        let offered_bytes =
            demand.offered_bytes.checked_sub(self.offered_before).unwrap_or(demand.offered_bytes);
        self.offered_before = demand.offered_bytes;
        let request = match self.config.ask {
            Ask::Never => None,
            Ask::Rate { drain } => self.ask_for_rate(now, offered_bytes, demand.backlog_bytes, drain),
            Ask::Volume => self.ask_for_volume(demand.backlog_bytes, slots),
        };
        let asked_slots = match self.config.ask {
            Ask::Never | Ask::Volume => slots,
            Ask::Rate { .. } => self.asked,
        };
        Seen { request, offered_bytes, asked_slots }
    }

    fn ask_for_rate(&mut self, now: Instant, offered: u64, backlog: u64, drain: Duration) -> Option<Request> {
        let wanted = self.slots_for(offered, self.ask_every).saturating_add(self.slots_for(backlog, drain));
        let wanted = wanted.clamp(self.config.permanent_slots, self.config.most_slots);
        let next = if wanted >= self.asked {
            self.less = None;
            wanted
        } else {
            let (since, most) = self.less.map_or((now, wanted), |(since, most)| (since, most.max(wanted)));
            if now.saturating_since(since) >= self.config.release_after {
                self.less = None;
                most
            } else {
                self.less = Some((since, most));
                self.asked
            }
        };
        (core::mem::replace(&mut self.asked, next) != next).then_some(Request::Slots(next))
    }

    fn ask_for_volume(&mut self, backlog: u64, slots: u32) -> Option<Request> {
        // What the slots of the last interval could carry, beyond those that it has for good, was for what had been
        // asked.
        let given = slots.saturating_sub(self.config.permanent_slots);
        self.outstanding_bytes = self.outstanding_bytes.saturating_sub(self.carried(given));
        let more = backlog.saturating_sub(self.outstanding_bytes);
        self.outstanding_bytes += more;
        (more > 0).then_some(Request::Bytes(more))
    }

    /// Slots of each frame that carry so many bytes in a time.
    fn slots_for(&self, bytes: u64, time: Duration) -> u32 {
        let per_slot = u128::from(self.frame.slot_payload_bytes.max(1)) * u128::from(time.as_nanos().max(1));
        let slots = (u128::from(bytes) * u128::from(self.frame.length.as_nanos())).div_ceil(per_slot);
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// What so many slots of each frame carry between two looks.
    fn carried(&self, slots: u32) -> u64 {
        let bytes = u128::from(slots)
            * u128::from(self.frame.slot_payload_bytes)
            * u128::from(self.ask_every.as_nanos())
            / u128::from(self.frame.length.as_nanos().max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::any_direction;
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
                terminals: vec![config],
            },
        )
    }

    /// Looks every 100 ms at these bytes that have come, and these that are to be sent.
    fn looks(terminal: &mut Terminal, demands: &[(u64, u64, u32)]) -> Vec<Option<Request>> {
        let mut offered = terminal.offered_before;
        let requests = (1..).zip(demands).map(|(look, &(come, backlog_bytes, slots))| {
            offered += come;
            let demand = Demand { offered_bytes: offered, backlog_bytes };
            terminal.look(Instant::from_millis(100 * look), demand, slots).request
        });
        requests.collect()
    }

    #[test]
    fn a_rate_is_what_came_and_what_sends_the_backlog_in_time() {
        let mut terminal = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 0);
        let slots = |slots| Some(Request::Slots(slots));
        let asked = looks(
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
        let asked = looks(&mut terminal, &come.map(|bytes| (bytes, 0, 2)));
        let slots = |slots| Some(Request::Slots(slots));
        // Of the four looks before the fifth the most was five; then five are needed again, and two from there on.
        let expected = [slots(7), None, None, None, slots(5), None, None, None, None, None, slots(2)];
        assert_eq!(asked, expected);
    }

    #[test]
    fn a_volume_is_asked_for_once_and_again_only_if_its_slots_have_gone_unused() {
        let mut terminal = terminal(Ask::Volume, 0);
        let bytes = |bytes| Some(Request::Bytes(bytes));
        let asked = looks(
            &mut terminal,
            // Its slots come at the fourth look, carry 3,000 bytes, and one thousand more has come.
            &[(5_000, 5_000, 2), (0, 5_000, 2), (1_000, 6_000, 2), (0, 3_000, 5), (0, 1_000, 5)],
        );
        assert_eq!(asked, [bytes(5_000), None, bytes(1_000), None, bytes(1_000)]);
    }

    #[test]
    fn after_a_warm_up_what_has_come_is_counted_anew() {
        let mut terminal = terminal(Ask::Rate { drain: Duration::from_millis(200) }, 0);
        looks(&mut terminal, &[(8_000, 0, 2)]);
        let demand = Demand { offered_bytes: 3_000, backlog_bytes: 0 };
        let seen = terminal.look(Instant::from_millis(200), demand, 8);
        assert_eq!((seen.offered_bytes, seen.request), (3_000, Some(Request::Slots(3))));
    }

    #[test]
    fn what_never_asks_has_what_it_has() {
        let mut terminal = terminal(Ask::Never, 0);
        assert_eq!(looks(&mut terminal, &[(90_000, 90_000, 2)]), [None]);
    }
}
