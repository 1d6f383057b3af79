//! Groups of entities that a translated message may go to, shared or one before the other.

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::Ssn;

/// Ways of routing at the next node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteOn {
    /// The next node translates again.
    GlobalTitle,
    /// The message has come: point code and subsystem number are final.
    Ssn,
}

/// One place that a message may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity {
    /// Point code of the node.
    pub point_code: PointCode,
    /// The subsystem, or the one that was called if `None`.
    pub ssn: Option<Ssn>,
    /// Way in which that node routes.
    pub routing: RouteOn,
    /// Share of the entity among those that can be reached, at least 1.
    pub weight: u32,
}

/// Methods of sharing traffic among a group's entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The first that can be reached; the others back it up in their order.
    Dominant,
    /// By the signalling link selection: each keeps its entity, and the entities have as many as their weights say.
    LinkSelection,
    /// In turns, in proportion to the weights. What is sent in sequence goes by its link selection all the same.
    Turns,
}

/// Entities that do the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name by which rules refer to the group.
    pub name: String,
    /// Method by which the entities share traffic.
    pub sharing: Sharing,
    /// At least one.
    pub entities: Vec<Entity>,
}

/// Properties of a message by which a group chooses its entity.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The link selection of the message.
    pub sls: Sls,
    /// True if the message must keep its place among others with that link selection.
    pub in_sequence: bool,
}

/// Record of what a group has shared so far. Its owner keeps it, since the group itself is configuration.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Number of messages that the group was given in turns.
    turns: u64,
    /// The link selections that it has seen, at most 256, in the order of their first messages.
    order: Vec<Sls>,
    /// The place of the entity of each link selection that it has seen, as far as the greatest of them.
    homes: Vec<Option<usize>>,
    /// Number of link selections that each entity has.
    counts: Vec<u32>,
}

impl Shared {
    /// The place of the entity of a link selection that has been seen.
    fn home(&self, sls: Sls) -> Option<usize> {
        self.homes.get(usize::from(sls.0)).copied().flatten()
    }

    fn settle(&mut self, sls: Sls, place: usize) {
        let len = self.homes.len().max(usize::from(sls.0) + 1);
        self.homes.resize(len, None);
        self.homes[usize::from(sls.0)] = Some(place);
        self.order.push(sls);
        self.counts[place] += 1;
    }
}

impl Group {
    /// The entity for a message. It is the one that it would be if all could be reached, or else one of those that
    /// `is_available` says can be; so the others keep their streams when one fails. `None` if none can be reached.
    pub fn select(
        &self,
        share: Share,
        shared: &mut Shared,
        is_available: impl Fn(&Entity) -> bool,
    ) -> Option<&Entity> {
        match (self.sharing, &self.entities[..]) {
            (Sharing::Dominant, _) | (_, [_]) => self.entities.iter().find(|entity| is_available(entity)),
            (Sharing::Turns, _) if !share.in_sequence => self.in_turn(shared, is_available),
            (Sharing::LinkSelection | Sharing::Turns, _) => {
                self.by_link_selection(share.sls, shared, is_available)
            }
        }
    }

    /// The entity whose turn it is.
    fn in_turn(&self, shared: &mut Shared, is_available: impl Fn(&Entity) -> bool) -> Option<&Entity> {
        let at = |turn: u64, is_eligible: &dyn Fn(&Entity) -> bool| {
            let eligible = || self.entities.iter().filter(|entity| is_eligible(entity));
            let weights: u64 = eligible().map(|entity| u64::from(entity.weight)).sum();
            let mut slot = turn.checked_rem(weights)?;
            eligible().find(|entity| {
                let weight = u64::from(entity.weight);
                let is_here = slot < weight;
                slot = slot.saturating_sub(weight);
                is_here
            })
        };
        let turn = shared.turns;
        let entity = at(turn, &|_| true).filter(|entity| is_available(entity));
        let entity = entity.or_else(|| at(turn, &is_available))?;
        shared.turns = turn.wrapping_add(1);
        Some(entity)
    }

    /// The entity of a stream. Which link selections are in use is not known before they are seen: a table over all
    /// that there could be would give everything to one entity where few are.
    fn by_link_selection(
        &self,
        sls: Sls,
        shared: &mut Shared,
        is_available: impl Fn(&Entity) -> bool,
    ) -> Option<&Entity> {
        let place = if let Some(place) = shared.home(sls) {
            place
        } else {
            shared.counts.resize(self.entities.len(), 0);
            let place = self.furthest_below(&shared.counts, |_| true)?;
            shared.settle(sls, place);
            place
        };
        if is_available(&self.entities[place]) {
            return self.entities.get(place);
        }
        // Those that have lost their entity are spread over the others in the order in which they came.
        let mut counts = shared.counts.clone();
        for stream in &shared.order {
            if shared.home(*stream).is_some_and(|home| is_available(&self.entities[home])) {
                continue;
            }
            let substitute = self.furthest_below(&counts, &is_available)?;
            if *stream == sls {
                return self.entities.get(substitute);
            }
            counts[substitute] += 1;
        }
        None
    }

    /// The eligible entity that has the fewest streams for its weight: the next seat of Sainte-Laguë's method, which
    /// is as close to the weights as whole streams come.
    fn furthest_below(&self, counts: &[u32], is_eligible: impl Fn(&Entity) -> bool) -> Option<usize> {
        let mut best: Option<(usize, u64, u64)> = None;
        for (place, (entity, count)) in self.entities.iter().zip(counts).enumerate() {
            let (weight, seats) = (u64::from(entity.weight), u64::from(*count) * 2 + 1);
            let is_better =
                |(_, best_weight, best_seats): (usize, u64, u64)| weight * best_seats > best_weight * seats;
            if is_eligible(entity) && best.is_none_or(is_better) {
                best = Some((place, weight, seats));
            }
        }
        best.map(|(place, ..)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entity(code: u32, weight: u32) -> Entity {
        Entity { point_code: PointCode(code), ssn: None, routing: RouteOn::Ssn, weight }
    }

    fn group(sharing: Sharing, weights: &[u32]) -> Group {
        let entities = (1..).zip(weights).map(|(code, weight)| entity(code, *weight)).collect();
        Group { name: "hlr".into(), sharing, entities }
    }

    /// Counts the messages of `messages` that each entity gets, whose link selections go round those that are in use.
    fn counts(
        group: &Group,
        selections: &[u8],
        messages: usize,
        down: &[u32],
        in_sequence: bool,
    ) -> Vec<u64> {
        let mut counts = vec![0; group.entities.len()];
        let mut shared = Shared::default();
        for sls in selections.iter().cycle().take(messages) {
            let share = Share { sls: Sls(*sls), in_sequence };
            let is_up = |entity: &Entity| !down.contains(&entity.point_code.0);
            let chosen = group.select(share, &mut shared, is_up).unwrap();
            counts[chosen.point_code.0 as usize - 1] += 1;
        }
        counts
    }

    /// As [`counts`], for messages in sequence, a hundred of each selection.
    fn streams(weights: &[u32], selections: &[u8]) -> Vec<u64> {
        counts(&group(Sharing::Turns, weights), selections, selections.len() * 100, &[], true)
    }

    #[test]
    fn turns_follow_the_weights() {
        let group = group(Sharing::Turns, &[3, 1]);
        assert_eq!(counts(&group, &[0, 1], 400, &[], false), [300, 100]);
        assert_eq!(counts(&group, &[0], 400, &[], false), [300, 100]);
        assert_eq!(counts(&group, &[0, 1], 400, &[1], false), [0, 400]);
    }

    #[test]
    fn streams_are_shared_as_the_weights_say_however_many_there_are() {
        let first = |count: u8| (0..count).collect::<Vec<_>>();
        let all: Vec<u8> = (0..=u8::MAX).collect();
        // One stream cannot be shared, and of two neither half nor all is three quarters.
        assert_eq!(streams(&[3, 1], &first(1)), [100, 0]);
        assert_eq!(streams(&[3, 1], &first(2)), [200, 0]);
        assert_eq!(streams(&[3, 1], &first(4)), [300, 100]);
        assert_eq!(streams(&[3, 1], &first(16)), [1_200, 400]);
        assert_eq!(streams(&[3, 1], &all), [19_200, 6_400]);
        assert_eq!(streams(&[1, 1], &first(1)), [100, 0]);
        assert_eq!(streams(&[1, 1], &first(2)), [100, 100]);
        assert_eq!(streams(&[1, 1, 1, 1], &first(4)), [100, 100, 100, 100]);
        assert_eq!(streams(&[5, 2, 1], &first(16)), [1_000, 400, 200]);
        assert_eq!(streams(&[5, 2, 1], &all), [16_000, 6_400, 3_200]);
    }

    #[test]
    fn streams_are_shared_as_the_weights_say_whichever_there_are() {
        for selections in [[0, 1, 2, 3], [12, 13, 14, 15], [0, 4, 8, 12], [3, 9, 200, 7]] {
            assert_eq!(streams(&[3, 1], &selections), [300, 100], "{selections:?}");
            assert_eq!(streams(&[1, 3], &selections), [100, 300], "{selections:?}");
        }
    }

    #[test]
    fn a_stream_keeps_its_entity_while_others_come() {
        for sharing in [Sharing::LinkSelection, Sharing::Turns] {
            let group = group(sharing, &[3, 1]);
            let mut shared = Shared::default();
            let mut homes = BTreeMap::new();
            for sls in (0..=u8::MAX).flat_map(|newest| 0..=newest) {
                let share = Share { sls: Sls(sls), in_sequence: true };
                let chosen = group.select(share, &mut shared, |_| true).unwrap().point_code;
                assert_eq!(*homes.entry(sls).or_insert(chosen), chosen);
            }
        }
    }

    #[test]
    fn streams_stay_where_they_are_when_another_entity_fails() {
        let group = group(Sharing::LinkSelection, &[1, 1, 1]);
        let mut shared = Shared::default();
        let mut at = |sls, down: Option<u32>| {
            let share = Share { sls: Sls(sls), in_sequence: true };
            group.select(share, &mut shared, |entity| Some(entity.point_code.0) != down).unwrap().point_code.0
        };
        let before: Vec<u32> = (0..12).map(|sls| at(sls, None)).collect();
        assert_eq!(before, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
        // The four of the second go to the first and the third in equal parts, and come back.
        let after: Vec<u32> = (0..12).map(|sls| at(sls, Some(2))).collect();
        assert_eq!(after, [1, 1, 3, 1, 3, 3, 1, 1, 3, 1, 3, 3]);
        assert_eq!((0..12).map(|sls| at(sls, None)).collect::<Vec<_>>(), before);
    }

    #[test]
    fn what_is_in_sequence_takes_no_turns() {
        let group = group(Sharing::Turns, &[1, 1]);
        assert_eq!(counts(&group, &[9], 10, &[], true), [10, 0]);
        assert_eq!(counts(&group, &[9], 10, &[], false), [5, 5]);
    }

    #[test]
    fn a_dominant_entity_is_backed_up_in_order() {
        let group = group(Sharing::Dominant, &[1, 1, 1]);
        assert_eq!(counts(&group, &[0, 1], 10, &[], false), [10, 0, 0]);
        assert_eq!(counts(&group, &[0, 1], 10, &[1], false), [0, 10, 0]);
        let share = Share { sls: Sls(0), in_sequence: false };
        assert!(group.select(share, &mut Shared::default(), |_| false).is_none());
    }

    #[test]
    fn where_nothing_can_be_reached_nothing_is_chosen() {
        for in_sequence in [false, true] {
            let share = Share { sls: Sls(0), in_sequence };
            let chosen =
                group(Sharing::Turns, &[1, 1]).select(share, &mut Shared::default(), |_| false).is_some();
            assert!(!chosen);
        }
    }
}
