//! Where a translated message may go: groups of entities, shared or one before the other.

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::Ssn;

/// How the next node is to route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteOn {
    /// It translates again.
    GlobalTitle,
    /// The message has come: point code and subsystem number are final.
    Ssn,
}

/// One place that a message may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The node.
    pub point_code: PointCode,
    /// The subsystem, or the one that was called if `None`.
    pub ssn: Option<Ssn>,
    /// How it routes there.
    pub routing: RouteOn,
    /// Its share among the entities that can be reached, at least 1.
    pub weight: u32,
}

/// How a group's entities share traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// The first that can be reached; the others back it up in their order.
    Dominant,
    /// By the signalling link selection, in proportion to the weights: one stream of class 1 keeps its entity.
    LinkSelection,
    /// In turns, in proportion to the weights. What is sent in sequence goes by its link selection all the same.
    Turns,
}

/// Entities that do the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What rules call it.
    pub name: String,
    /// How they share.
    pub sharing: Sharing,
    /// At least one.
    pub entities: Vec<Entity>,
}

/// What tells messages apart when a group shares them.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The link selection of the message.
    pub sls: Sls,
    /// Whether it must keep its place among others with that link selection.
    pub in_sequence: bool,
    /// How many messages the group has been given before.
    pub turn: u64,
}

/// Link selections of an ITU network; the eight bits of ANSI are folded onto them.
const LINK_SELECTIONS: u64 = 16;

impl Group {
    /// The entity for a message. It is the one that it would be if all could be reached, or else one of those that
    /// `is_available` says can be; so the others keep their streams when one fails. `None` if none can be reached.
    pub fn select(&self, share: Share, is_available: impl Fn(&Entity) -> bool) -> Option<&Entity> {
        if let (Sharing::Dominant, _) | (_, [_]) = (self.sharing, &self.entities[..]) {
            return self.entities.iter().find(|entity| is_available(entity));
        }
        self.shared(share, |_| true)
            .filter(|entity| is_available(entity))
            .or_else(|| self.shared(share, is_available))
    }

    /// Shares among the entities that are eligible, in proportion to their weights.
    fn shared(&self, share: Share, is_eligible: impl Fn(&Entity) -> bool) -> Option<&Entity> {
        let eligible = || self.entities.iter().filter(|entity| is_eligible(entity));
        let weights: u64 = eligible().map(|entity| u64::from(entity.weight)).sum();
        if weights == 0 {
            return None;
        }
        let mut slot = if share.in_sequence || self.sharing == Sharing::LinkSelection {
            u64::from(share.sls.0) % LINK_SELECTIONS * weights / LINK_SELECTIONS
        } else {
            share.turn % weights
        };
        for entity in eligible() {
            let weight = u64::from(entity.weight);
            if slot < weight {
                return Some(entity);
            }
            slot -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entity(code: u32, weight: u32) -> Entity {
        Entity { point_code: PointCode(code), ssn: None, routing: RouteOn::Ssn, weight }
    }

    fn group(sharing: Sharing, entities: Vec<Entity>) -> Group {
        Group { name: "hlr".into(), sharing, entities }
    }

    fn counts(group: &Group, messages: u64, down: &[u32], in_sequence: bool) -> BTreeMap<u32, u64> {
        let mut counts = BTreeMap::new();
        for turn in 0..messages {
            let share = Share { sls: Sls((turn % 16) as u8), in_sequence, turn };
            let chosen = group.select(share, |entity| !down.contains(&entity.point_code.0)).unwrap();
            *counts.entry(chosen.point_code.0).or_default() += 1;
        }
        counts
    }

    #[test]
    fn turns_follow_the_weights() {
        let group = group(Sharing::Turns, vec![entity(1, 3), entity(2, 1)]);
        assert_eq!(counts(&group, 400, &[], false), BTreeMap::from([(1, 300), (2, 100)]));
        assert_eq!(counts(&group, 400, &[1], false), BTreeMap::from([(2, 400)]));
    }

    #[test]
    fn link_selections_follow_the_weights_and_stay() {
        let group = group(Sharing::LinkSelection, vec![entity(1, 3), entity(2, 1)]);
        assert_eq!(counts(&group, 160, &[], true), BTreeMap::from([(1, 120), (2, 40)]));
        let at = |sls| {
            let share = Share { sls: Sls(sls), in_sequence: true, turn: 5 };
            group.select(share, |_| true).unwrap().point_code
        };
        assert!((0..16).all(|sls| at(sls) == at(sls)));
    }

    #[test]
    fn streams_stay_where_they_are_when_another_entity_fails() {
        let group = group(Sharing::LinkSelection, vec![entity(1, 1), entity(2, 1), entity(3, 1)]);
        for sls in 0..16 {
            let share = Share { sls: Sls(sls), in_sequence: true, turn: 0 };
            let before = group.select(share, |_| true).unwrap();
            let after = group.select(share, |entity| entity.point_code != PointCode(2)).unwrap();
            assert!(before.point_code == PointCode(2) || after == before);
            assert_ne!(after.point_code, PointCode(2));
        }
    }

    #[test]
    fn what_is_in_sequence_takes_no_turns() {
        let group = group(Sharing::Turns, vec![entity(1, 1), entity(2, 1)]);
        for turn in 0..10 {
            let share = Share { sls: Sls(9), in_sequence: true, turn };
            assert_eq!(group.select(share, |_| true).unwrap().point_code, PointCode(2));
        }
    }

    #[test]
    fn a_dominant_entity_is_backed_up_in_order() {
        let group = group(Sharing::Dominant, vec![entity(1, 1), entity(2, 1), entity(3, 1)]);
        assert_eq!(counts(&group, 10, &[], false), BTreeMap::from([(1, 10)]));
        assert_eq!(counts(&group, 10, &[1], false), BTreeMap::from([(2, 10)]));
        let share = Share { sls: Sls(0), in_sequence: false, turn: 0 };
        assert!(group.select(share, |_| false).is_none());
    }
}
