//! The controller: what each terminal gets of what all ask for.

use slantpath_base::Duration;
use slantpath_net::SlotRuns;

use super::AccessConfig;
use super::placement::place;
use super::sharing::{Turn, share};
use super::terminal::Request;

/// Length of a turn for a slot, as a multiple of the longest interruption.
const TURN_OF_INTERRUPTIONS: u64 = 10;

/// Account of a terminal at the controller.
#[derive(Clone, Debug)]
struct Account {
    permanent: u32,
    most: u32,
    /// Slots of a frame that it has asked for by rate; its permanent ones are among them.
    wanted: u32,
    /// Bytes that it has asked for by volume and not been given.
    volume: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Controller {
    accounts: Vec<Account>,
    /// Slots of a frame on one carrier, and on all.
    slots: u32,
    capacity: u32,
    /// Bytes that a slot carries until the next plan.
    bytes_per_slot: u64,
    /// Slots of the first carrier that are for requests.
    kept: u32,
    has_changed: bool,
    /// Whose turn it is for slots that are not enough for one each: of those that ask by rate, and by volume.
    by_rate: Turn,
    by_volume: Turn,
    /// Number of times that a plan could be made in a turn, and in the present one.
    plans_of_turn: u64,
    plans: u64,
    /// Whose turn is next for a slot that nobody has asked for, if such slots are given.
    turn: Option<usize>,
}

impl Controller {
    pub(super) fn new(config: &AccessConfig) -> Self {
        let account = |terminal: &super::TerminalConfig| Account {
            permanent: terminal.permanent_slots,
            most: terminal.most_slots,
            wanted: terminal.permanent_slots,
            volume: 0,
        };
        let accounts: Vec<Account> = config.terminals.iter().map(account).collect();
        let slots = config.frame.slots;
        let kept = config.request_slots();
        let capacity = slots.saturating_mul(config.carriers).saturating_sub(kept);
        let permanent: u64 = accounts.iter().map(|account| u64::from(account.permanent)).sum();
        assert!(permanent <= u64::from(capacity), "{permanent} permanent slots of {capacity}");
        let frames = config.plan_every.as_nanos() / config.frame.length.as_nanos().max(1);
        let bytes_per_slot = frames.max(1) * u64::from(config.frame.slot_payload_bytes);
        let turn = config.gives_free_slots.then_some(0);
        // Who loses its slot, or gets one, sends nothing for a while: with a turn in each plan it might never send.
        let interruption = config.terminals.iter().map(|terminal| terminal.interruption).max();
        let lasts = interruption.map_or(0, Duration::as_nanos).saturating_mul(TURN_OF_INTERRUPTIONS);
        Self {
            accounts,
            slots,
            capacity,
            bytes_per_slot,
            kept,
            has_changed: turn.is_some(),
            by_rate: Turn::default(),
            by_volume: Turn::default(),
            plans_of_turn: lasts.div_ceil(config.plan_every.as_nanos().max(1)).max(1),
            plans: 0,
            turn,
        }
    }

    pub(super) fn place_permanent(&self) -> Vec<SlotRuns> {
        let permanent: Vec<u32> = self.accounts.iter().map(|account| account.permanent).collect();
        place(&permanent, self.slots, self.kept)
    }

    pub(super) fn handle_request(&mut self, terminal: usize, request: Request) {
        let account = &mut self.accounts[terminal];
        match request {
            Request::Slots(wanted) => account.wanted = wanted.min(account.most),
            Request::Bytes(more) => account.volume = account.volume.saturating_add(more),
            Request::AllBytes(volume) => account.volume = volume,
        }
        self.has_changed = true;
    }

    /// The slots of each terminal from the next plan on, if they are to be told: first what each has for good, then
    /// what is asked for by rate, then by volume; where there is not enough, terminals with less come first, what is
    /// left is shared alike, and slots that are too few for one each go round. Then what nobody has asked for, if that
    /// is given; how many of each those are stands second.
    pub(super) fn plan(&mut self) -> Option<Vec<(u32, u32)>> {
        self.plans = self.plans.saturating_add(1);
        let turn_ends =
            self.plans >= self.plans_of_turn && (self.by_rate.is_due() || self.by_volume.is_due());
        if !core::mem::take(&mut self.has_changed) && !turn_ends {
            return None;
        }
        if turn_ends {
            self.by_rate.pass();
            self.by_volume.pass();
            self.plans = 0;
        }
        let mut grants: Vec<u32> = self.accounts.iter().map(|account| account.permanent).collect();
        let mut left = self.capacity - grants.iter().sum::<u32>();
        let by_rate = self.accounts.iter().map(|account| account.wanted.saturating_sub(account.permanent));
        share(&by_rate.collect::<Vec<_>>(), &mut left, &mut grants, &mut self.by_rate);
        let by_volume = self.accounts.iter().zip(&grants).map(|(account, granted)| {
            let slots = u32::try_from(account.volume.div_ceil(self.bytes_per_slot)).unwrap_or(u32::MAX);
            slots.min(account.most.saturating_sub(*granted))
        });
        let by_volume: Vec<u32> = by_volume.collect();
        let before = grants.clone();
        share(&by_volume, &mut left, &mut grants, &mut self.by_volume);
        for (account, (granted, before)) in self.accounts.iter_mut().zip(grants.iter().zip(before)) {
            let given = u64::from(granted - before) * self.bytes_per_slot;
            account.volume = account.volume.saturating_sub(given);
            // What was given for a volume is to be taken back, and what is left to be given.
            self.has_changed |= given > 0 || account.volume > 0;
        }
        let asked = grants.clone();
        self.give_free(left, &mut grants);
        Some(grants.iter().zip(asked).map(|(&slots, asked)| (slots, slots - asked)).collect())
    }

    /// Gives what is left to all in turn, one slot to each, until nothing is left or nobody may have more.
    fn give_free(&mut self, mut left: u32, grants: &mut [u32]) {
        let Some(turn) = &mut self.turn else { return };
        let terminals = grants.len();
        let mut room: Vec<u32> = self
            .accounts
            .iter()
            .zip(&*grants)
            .map(|(account, &granted)| account.most.saturating_sub(granted))
            .collect();
        // Whole rounds at once, as long as each has as much room.
        loop {
            let open = room.iter().filter(|&&room| room > 0).count();
            let Some(least) = room.iter().copied().filter(|&room| room > 0).min() else { break };
            let rounds = (left / u32::try_from(open).unwrap_or(u32::MAX)).min(least);
            if rounds == 0 {
                break;
            }
            for (granted, room) in grants.iter_mut().zip(&mut room).filter(|(_, room)| **room > 0) {
                *granted += rounds;
                *room -= rounds;
                left -= rounds;
            }
        }
        // A round that is not whole begins where the last such one ended, and is another terminal's next time.
        for step in 0..terminals {
            let place = (*turn + step) % terminals;
            if left == 0 {
                *turn = place;
                break;
            }
            if room[place] > 0 {
                grants[place] += 1;
                left -= 1;
                self.has_changed = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AccessRequests, Ask, ContentionConfig, TerminalConfig, any_direction};
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Duration;
    use slantpath_net::FrameConfig;

    /// Frames of 10 ms with ten slots of 100 bytes, a plan in every fifth.
    fn controller(carriers: u32, permanent: &[u32]) -> Controller {
        controller_with(carriers, permanent, AccessRequests::Assigned, false)
    }

    /// The slots of a plan.
    fn slots(controller: &mut Controller) -> Option<Vec<u32>> {
        controller.plan().map(|grants| grants.iter().map(|&(slots, _)| slots).collect())
    }

    fn controller_with(
        carriers: u32,
        permanent: &[u32],
        requests: AccessRequests,
        gives_free_slots: bool,
    ) -> Controller {
        Controller::new(&config(carriers, permanent, requests, gives_free_slots))
    }

    fn config(
        carriers: u32,
        permanent: &[u32],
        requests: AccessRequests,
        gives_free_slots: bool,
    ) -> AccessConfig {
        let terminal = |&permanent_slots: &u32| TerminalConfig {
            direction: any_direction(),
            permanent_slots,
            most_slots: 10,
            ask: Ask::Volume,
            release_after: Duration::ZERO,
            interruption: Duration::ZERO,
        };
        AccessConfig {
            frame: FrameConfig {
                length: Duration::from_millis(10),
                slots: 10,
                slot_overhead: Duration::ZERO,
                slot_payload_bytes: 100,
            },
            carriers,
            ask_every: Duration::from_millis(50),
            hop: Duration::from_millis(250),
            plan_every: Duration::from_millis(50),
            processing: Duration::ZERO,
            lead: Duration::ZERO,
            requests,
            gives_free_slots,
            terminals: permanent.iter().map(terminal).collect(),
        }
    }

    #[test]
    fn a_rate_holds_until_another_is_asked_for() {
        let mut controller = controller(1, &[2, 1]);
        assert_eq!(slots(&mut controller), None);
        controller.handle_request(0, Request::Slots(6));
        assert_eq!(slots(&mut controller), Some(vec![6, 1]));
        assert_eq!(slots(&mut controller), None);
        // Eight are asked for where nine are wanted: what is permanent is not touched.
        controller.handle_request(1, Request::Slots(9));
        assert_eq!(slots(&mut controller), Some(vec![6, 4]));
        controller.handle_request(0, Request::Slots(2));
        assert_eq!(slots(&mut controller), Some(vec![2, 8]));
    }

    #[test]
    fn a_volume_is_used_up_and_comes_after_rates() {
        let mut controller = controller(1, &[0, 2, 0]);
        // A slot carries 500 bytes until the next plan.
        controller.handle_request(0, Request::Bytes(2_600));
        assert_eq!(slots(&mut controller), Some(vec![6, 2, 0]));
        assert_eq!(slots(&mut controller), Some(vec![0, 2, 0]));
        assert_eq!(slots(&mut controller), None);
        controller.handle_request(0, Request::Bytes(4_000));
        controller.handle_request(2, Request::Slots(5));
        assert_eq!(slots(&mut controller), Some(vec![3, 2, 5]));
        controller.handle_request(2, Request::Slots(0));
        assert_eq!(slots(&mut controller), Some(vec![5, 2, 0]));
    }

    #[test]
    fn an_absolute_volume_stands_for_what_was_asked_for_before() {
        let mut controller = controller(1, &[0, 2, 0]);
        controller.handle_request(0, Request::AllBytes(2_600));
        controller.handle_request(0, Request::AllBytes(900));
        assert_eq!(slots(&mut controller), Some(vec![2, 2, 0]));
        assert_eq!(slots(&mut controller), Some(vec![0, 2, 0]));
        assert_eq!(slots(&mut controller), None);
    }

    #[test]
    fn what_nobody_asked_for_goes_round_and_is_told_apart() {
        let mut controller = controller_with(1, &[2, 1, 0], AccessRequests::Assigned, true);
        let plan = |controller: &mut Controller| controller.plan().unwrap();
        // Seven are left: two for each, and one for another of them each time.
        assert_eq!(plan(&mut controller), [(5, 3), (3, 2), (2, 2)]);
        assert_eq!(plan(&mut controller), [(4, 2), (4, 3), (2, 2)]);
        assert_eq!(plan(&mut controller), [(4, 2), (3, 2), (3, 3)]);
        assert_eq!(plan(&mut controller), [(5, 3), (3, 2), (2, 2)]);
        // What is asked for comes first.
        controller.handle_request(2, Request::Slots(5));
        assert_eq!(plan(&mut controller), [(2, 0), (2, 1), (6, 1)]);
        // Nobody has more than it may have: of two carriers each has one whole, in two plans as in one.
        let mut wide = controller_with(2, &[0, 1], AccessRequests::Assigned, true);
        assert_eq!(plan(&mut wide), [(10, 10), (10, 9)]);
        assert_eq!(wide.plan(), None);
    }

    /// Twelve terminals of which each wants two of the ten slots, and what each has in so many plans.
    fn had(mut controller: Controller, request: impl Fn() -> Request, plans: usize) -> Vec<u32> {
        let mut had = vec![0; 12];
        let mut last = None;
        for _ in 0..plans {
            for terminal in 0..12 {
                // A rate is asked for once, a volume again and again.
                if last.is_none() || request() != Request::Slots(2) {
                    controller.handle_request(terminal, request());
                }
            }
            last = slots(&mut controller).or(last);
            for (had, slots) in had.iter_mut().zip(last.as_ref().expect("all have asked")) {
                *had += slots;
            }
        }
        had
    }

    #[test]
    fn slots_that_are_too_few_for_one_each_go_round_in_every_category() {
        for request in [Request::Slots(2), Request::Bytes(1_000), Request::AllBytes(1_000)] {
            let twelve = controller(1, &[0; 12]);
            assert_eq!(had(twelve.clone(), || request, 1), [[1; 10].as_slice(), &[0; 2]].concat());
            assert_eq!(had(twelve.clone(), || request, 2), [[2; 8].as_slice(), &[1; 4]].concat());
            assert_eq!(had(twelve, || request, 6 * 7), [35; 12], "{request:?}");
        }
    }

    #[test]
    fn a_turn_lasts_ten_times_as_long_as_an_interruption() {
        let mut config = config(1, &[0; 12], AccessRequests::Assigned, false);
        // The longest one counts; plans are 50 ms apart, so that a turn lasts for three of them.
        config.terminals[0].interruption = Duration::from_millis(1);
        config.terminals[7].interruption = Duration::from_millis(13);
        let mut controller = Controller::new(&config);
        for terminal in 0..12 {
            controller.handle_request(terminal, Request::Slots(2));
        }
        let first = slots(&mut controller).expect("all have asked");
        assert_eq!(first, [[1; 10].as_slice(), &[0; 2]].concat());
        assert_eq!(slots(&mut controller), None);
        let second = slots(&mut controller).expect("the turn has ended");
        assert_eq!(second, [[1; 8].as_slice(), &[0; 2], &[1; 2]].concat());
        // Another plan within a turn leaves it where it is.
        controller.handle_request(3, Request::Slots(4));
        assert_eq!(slots(&mut controller).expect("something was asked for"), second);
        assert_eq!(slots(&mut controller), None);
        let third = slots(&mut controller).expect("the turn has ended");
        assert_eq!(third, [[1; 6].as_slice(), &[0; 2], &[1; 4]].concat());
        // Nobody waits for a turn when there is enough, but for the one that was still due.
        for terminal in 0..8 {
            controller.handle_request(terminal, Request::Slots(0));
        }
        assert_eq!(slots(&mut controller), Some([[0; 8].as_slice(), &[2; 4]].concat()));
        assert_eq!((slots(&mut controller), slots(&mut controller).is_some()), (None, true));
        assert!((0..10).all(|_| slots(&mut controller).is_none()));
    }

    #[test]
    fn slots_for_requests_are_nobodys() {
        let contention = ContentionConfig { per_frame: 8, slots: 3, backoff_frames: 4 };
        let mut controller = controller_with(1, &[2, 1], AccessRequests::Contention(contention), false);
        controller.handle_request(1, Request::Slots(9));
        assert_eq!(slots(&mut controller), Some(vec![2, 5]));
        let first = controller.place_permanent()[0][0];
        assert_eq!((first.first, first.slots), (3, 2));
    }

    proptest! {
        #[test]
        fn free_slots_are_all_given_and_evenly_in_the_long_run(
            carriers in 1_u32..4,
            permanent in prop::collection::vec(0_u32..3, 1..8),
        ) {
            prop_assume!(permanent.iter().sum::<u32>() <= 10 * carriers);
            let mut controller = controller_with(carriers, &permanent, AccessRequests::Assigned, true);
            let mut had = vec![0; permanent.len()];
            // After as many plans as there are terminals all have had as many free slots, but for those at their most.
            let mut last = None;
            for _ in 0..permanent.len() {
                last = controller.plan().or(last);
                let grants = last.as_ref().expect("the first plan gives what is left");
                let given: u32 = grants.iter().map(|(slots, _)| slots).sum();
                let room = u32::try_from(permanent.len()).unwrap() * 10;
                prop_assert_eq!(given, room.min(10 * carriers));
                for (had, (slots, free)) in had.iter_mut().zip(grants) {
                    prop_assert!(*slots <= 10);
                    *had += free;
                }
            }
            if last.expect("there are terminals").iter().all(|(slots, _)| *slots < 10) {
                prop_assert!(had.iter().max().unwrap() - had.iter().min().unwrap() <= 1, "{had:?}");
            }
        }

        #[test]
        fn who_always_lacks_has_its_turn_whatever_others_ask_for(
            kept in 1_u32..10,
            asks in prop::collection::vec(prop::collection::vec((any::<bool>(), 0_u64..3_000), 19), 200),
            category in 0..3,
            lacking in 0_usize..20,
        ) {
            let contention = ContentionConfig { per_frame: 1, slots: kept, backoff_frames: 4 };
            let mut controller = controller_with(1, &[0; 20], AccessRequests::Contention(contention), false);
            let (mut waits, mut had) = (0_u32, [0_u32; 20]);
            for asks in asks {
                let mut asks = asks;
                asks.insert(lacking, (true, 6_000));
                for (terminal, (asks, bytes)) in asks.into_iter().enumerate() {
                    let request = match category {
                        0 => Request::Slots(u32::try_from(bytes / 500).unwrap()),
                        1 => Request::Bytes(bytes),
                        _ => Request::AllBytes(bytes),
                    };
                    if asks {
                        controller.handle_request(terminal, request);
                    }
                }
                let grants = slots(&mut controller).expect("one asks at each plan");
                prop_assert!(grants.iter().sum::<u32>() <= 10 - kept);
                for (had, slots) in had.iter_mut().zip(&grants) {
                    *had += slots;
                }
                waits = if grants[lacking] == 0 { waits + 1 } else { 0 };
                prop_assert!(waits <= 20_u32.div_ceil(10 - kept), "{waits} plans without a slot");
            }
            // Who always lacks has no less than others, which do so at times.
            prop_assert!(had.iter().all(|other| *other <= had[lacking] + 1), "{had:?}");
        }

        #[test]
        fn what_is_given_is_wanted_and_there_and_fair(
            carriers in 1_u32..4,
            permanent in prop::collection::vec(0_u32..3, 1..8),
            wanted in prop::collection::vec(0_u32..14, 8),
        ) {
            prop_assume!(permanent.iter().sum::<u32>() <= 10 * carriers);
            let mut controller = controller(carriers, &permanent);
            for (terminal, &wanted) in wanted.iter().enumerate().take(permanent.len()) {
                controller.handle_request(terminal, Request::Slots(wanted));
            }
            let grants = slots(&mut controller).expect("all have asked");
            let given: u32 = grants.iter().sum();
            prop_assert!(given <= 10 * carriers);
            let more = |place: usize| grants[place] - permanent[place];
            let unmet = |place: usize| wanted[place].min(10).max(permanent[place]) - grants[place];
            for place in 0..permanent.len() {
                prop_assert!(grants[place] >= permanent[place]);
                prop_assert!(grants[place] <= wanted[place].min(10).max(permanent[place]));
                if unmet(place) > 0 {
                    prop_assert_eq!(given, 10 * carriers, "nothing is left while somebody lacks");
                    for other in 0..permanent.len() {
                        prop_assert!(more(other) <= more(place) + 1, "nobody has more of what is shared");
                    }
                }
            }
        }
    }
}
