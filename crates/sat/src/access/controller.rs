//! The controller: what each terminal gets of what all ask for.

use slantpath_net::Bursts;

use super::AccessConfig;
use super::placement::place;
use super::terminal::Request;

/// What the controller knows of a terminal.
#[derive(Clone, Debug)]
struct Account {
    permanent: u32,
    most: u32,
    /// What it has asked for by rate, in slots of a frame; its permanent ones are among them.
    wanted: u32,
    /// What it has asked for by volume and not been given, in bytes.
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
    /// The last plan.
    grants: Vec<u32>,
    has_changed: bool,
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
        let capacity = slots.saturating_mul(config.carriers);
        let grants: Vec<u32> = accounts.iter().map(|account| account.permanent).collect();
        let permanent: u64 = grants.iter().map(|&slots| u64::from(slots)).sum();
        assert!(permanent <= u64::from(capacity), "{permanent} permanent slots of {capacity}");
        let frames = config.plan_every.as_nanos() / config.frame.length.as_nanos().max(1);
        let bytes_per_slot = frames.max(1) * u64::from(config.frame.slot_payload_bytes);
        Self { accounts, slots, capacity, bytes_per_slot, grants, has_changed: false }
    }

    pub(super) fn place_permanent(&self) -> Vec<Bursts> {
        place(&self.grants, self.slots)
    }

    pub(super) fn handle_request(&mut self, terminal: usize, request: Request) {
        let account = &mut self.accounts[terminal];
        match request {
            Request::Slots(wanted) => account.wanted = wanted.min(account.most),
            Request::Bytes(more) => account.volume = account.volume.saturating_add(more),
        }
        self.has_changed = true;
    }

    /// The slots of each terminal from the next plan on, if they are to be told: first what each has for good, then
    /// what is asked for by rate, then by volume; where there is not enough, terminals with less come first, and what
    /// is left is shared alike.
    pub(super) fn plan(&mut self) -> Option<Vec<u32>> {
        if !core::mem::take(&mut self.has_changed) {
            return None;
        }
        let mut grants: Vec<u32> = self.accounts.iter().map(|account| account.permanent).collect();
        let mut left = self.capacity - grants.iter().sum::<u32>();
        let by_rate = self.accounts.iter().map(|account| account.wanted.saturating_sub(account.permanent));
        share(&by_rate.collect::<Vec<_>>(), &mut left, &mut grants);
        let by_volume = self.accounts.iter().zip(&grants).map(|(account, granted)| {
            let slots = u32::try_from(account.volume.div_ceil(self.bytes_per_slot)).unwrap_or(u32::MAX);
            slots.min(account.most.saturating_sub(*granted))
        });
        let by_volume: Vec<u32> = by_volume.collect();
        let before = grants.clone();
        share(&by_volume, &mut left, &mut grants);
        for (account, (granted, before)) in self.accounts.iter_mut().zip(grants.iter().zip(before)) {
            let given = u64::from(granted - before) * self.bytes_per_slot;
            account.volume = account.volume.saturating_sub(given);
            // What was given for a volume is to be taken back, and what is left to be given.
            self.has_changed |= given > 0 || account.volume > 0;
        }
        self.grants.clone_from(&grants);
        Some(grants)
    }
}

/// Adds to the grants what is wanted, out of what is left: max-min fair, the rest of a division to the first ones.
fn share(wanted: &[u32], left: &mut u32, grants: &mut [u32]) {
    let mut by_need: Vec<usize> = (0..wanted.len()).filter(|&place| wanted[place] > 0).collect();
    by_need.sort_by_key(|&place| wanted[place]);
    let mut others = u32::try_from(by_need.len()).unwrap_or(u32::MAX);
    for place in by_need {
        let given = wanted[place].min(left.div_ceil(others));
        grants[place] += given;
        *left -= given;
        others -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ask, TerminalConfig, any_direction};
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Duration;
    use slantpath_net::FrameConfig;

    /// Frames of 10 ms with ten slots of 100 bytes, a plan in every fifth.
    fn controller(carriers: u32, permanent: &[u32]) -> Controller {
        let terminal = |&permanent_slots: &u32| TerminalConfig {
            direction: any_direction(),
            permanent_slots,
            most_slots: 10,
            ask: Ask::Volume,
            release_after: Duration::ZERO,
            interruption: Duration::ZERO,
        };
        Controller::new(&AccessConfig {
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
            terminals: permanent.iter().map(terminal).collect(),
        })
    }

    #[test]
    fn a_rate_holds_until_another_is_asked_for() {
        let mut controller = controller(1, &[2, 1]);
        assert_eq!(controller.plan(), None);
        controller.handle_request(0, Request::Slots(6));
        assert_eq!(controller.plan(), Some(vec![6, 1]));
        assert_eq!(controller.plan(), None);
        // Eight are asked for where nine are wanted: what is permanent is not touched.
        controller.handle_request(1, Request::Slots(9));
        assert_eq!(controller.plan(), Some(vec![6, 4]));
        controller.handle_request(0, Request::Slots(2));
        assert_eq!(controller.plan(), Some(vec![2, 8]));
    }

    #[test]
    fn a_volume_is_used_up_and_comes_after_rates() {
        let mut controller = controller(1, &[0, 2, 0]);
        // A slot carries 500 bytes until the next plan.
        controller.handle_request(0, Request::Bytes(2_600));
        assert_eq!(controller.plan(), Some(vec![6, 2, 0]));
        assert_eq!(controller.plan(), Some(vec![0, 2, 0]));
        assert_eq!(controller.plan(), None);
        controller.handle_request(0, Request::Bytes(4_000));
        controller.handle_request(2, Request::Slots(5));
        assert_eq!(controller.plan(), Some(vec![3, 2, 5]));
        controller.handle_request(2, Request::Slots(0));
        assert_eq!(controller.plan(), Some(vec![5, 2, 0]));
    }

    proptest! {
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
            let grants = controller.plan().expect("all have asked");
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
