//! The segments of one message go to one ASP of a loadshare, whatever else decides where a message goes: a later one
//! shows neither the transaction nor the turn of the first.

use slantpath_sigtran::transport::AssociationNumber;

use std::collections::BTreeMap;

use crate::message::OwnMessage;
use crate::sua::primitive::first;
use crate::sua::{Address, Segmentation, SuaParameter};

/// Messages of one application server whose last segment has not passed; of more than that, the oldest are forgotten.
const MESSAGES_MAX: usize = 1_024;

/// Key that tells a message from others: its sender, its source address and its segmentation reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SegmentKey {
    sender: Option<AssociationNumber>,
    source: Address,
    reference: u32,
}

impl SegmentKey {
    /// The key of a segment, and its place; nothing for a message that is whole.
    pub(super) fn of(
        sender: Option<AssociationNumber>,
        message: &OwnMessage<SuaParameter>,
    ) -> Option<(Self, Segmentation)> {
        let segmentation = *first!(message, SuaParameter::Segmentation)?;
        let source = first!(message, SuaParameter::SourceAddress)?.clone();
        let is_whole = segmentation.first && segmentation.remaining == 0;
        (!is_whole).then_some((Self { sender, source, reference: segmentation.reference }, segmentation))
    }
}

/// ASPs to which the first segments of messages went.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentOwners {
    owners: BTreeMap<SegmentKey, (AssociationNumber, u64)>,
    /// By age, which is the number in the other map.
    ages: BTreeMap<u64, SegmentKey>,
    next: u64,
}

impl SegmentOwners {
    /// A first segment goes to that ASP.
    pub(super) fn note(&mut self, key: SegmentKey, owner: AssociationNumber) {
        let age = self.next;
        self.next += 1;
        if let Some((_, before)) = self.owners.insert(key.clone(), (owner, age)) {
            self.ages.remove(&before);
        }
        self.ages.insert(age, key);
        if self.ages.len() > MESSAGES_MAX
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            self.owners.remove(&oldest);
        }
    }

    /// Gives the ASP to which the first segment of that message went. After the last one it is forgotten.
    pub(super) fn owner(
        &mut self,
        key: &SegmentKey,
        segmentation: Segmentation,
    ) -> Option<AssociationNumber> {
        let (owner, age) = *self.owners.get(key)?;
        if segmentation.remaining == 0 {
            self.owners.remove(key);
            self.ages.remove(&age);
        }
        Some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_ss7::PointCode;

    fn key(reference: u32) -> SegmentKey {
        SegmentKey { sender: None, source: Address::of_subsystem(PointCode(1), 8), reference }
    }

    fn segment(remaining: u8) -> Segmentation {
        Segmentation { first: false, remaining, reference: 0 }
    }

    #[test]
    fn the_owner_is_known_until_the_last_segment() {
        let mut all = SegmentOwners::default();
        all.note(key(1), AssociationNumber(7));
        assert_eq!(all.owner(&key(2), segment(1)), None);
        assert_eq!(all.owner(&key(1), segment(1)), Some(AssociationNumber(7)));
        assert_eq!(all.owner(&key(1), segment(0)), Some(AssociationNumber(7)));
        assert_eq!(all.owner(&key(1), segment(0)), None);
    }

    #[test]
    fn of_too_many_the_oldest_is_forgotten() {
        let mut all = SegmentOwners::default();
        for reference in 0..2_000 {
            all.note(key(reference % 1_025), AssociationNumber(0));
            assert_eq!(all.owners.len(), all.ages.len());
            assert!(all.owners.len() <= MESSAGES_MAX);
        }
        assert_eq!(all.owner(&key(1_999 % 1_025), segment(1)), Some(AssociationNumber(0)));
    }
}
