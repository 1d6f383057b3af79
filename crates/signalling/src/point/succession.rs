//! Succession: a point that is made from a new configuration takes the place of a running one. What both have goes on
//! without noticing.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Slc;
use slantpath_ss7::mtp3::node::{Mtp3LinkId, SequenceNumbers};

use super::SignallingPoint;
use crate::level2::Level2Config;
use crate::processor::Processor;
use crate::served_point;

/// Setting of a running entity that another configuration has another value of, and that only a restart changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another {setting} of {part} cannot be taken while it runs: restart for this")]
pub struct FixedSetting {
    /// Part of the entity.
    pub part: &'static str,
    /// Name of the setting.
    pub setting: &'static str,
}

/// Links of a point and of its successor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Succession {
    /// Links that both have and that go on: the number of each in the running point, and in its successor.
    pub kept: Vec<(Mtp3LinkId, Mtp3LinkId)>,
    /// Links of the running point that go. A link that is changed goes, and comes as another one.
    pub gone: Vec<Mtp3LinkId>,
}

/// Everything that makes two links one.
type LinkIdentity<'a> = (&'a str, PointCode, Slc, SequenceNumbers, &'a Level2Config);

impl SignallingPoint {
    /// Says what becomes of the links of this point when another one, made for that, takes its place.
    ///
    /// # Errors
    /// If the other one differs in what only a restart changes.
    pub fn succession(&self, successor: &Self) -> Result<Succession, FixedSetting> {
        let fixed = |part, setting: Option<&'static str>| {
            setting.map_or(Ok(()), |setting| Err(FixedSetting { part, setting }))
        };
        fixed("MTP3", self.mtp3.config().fixed_difference(successor.mtp3.config()))?;
        fixed("SCCP", served_point::fixed_difference(self.sccp.as_ref(), successor.sccp.as_ref()))?;
        let capacity = |point: &Self| point.processor.as_ref().map(Processor::config);
        fixed("the point", (capacity(self) != capacity(successor)).then_some("processor"))?;
        match (&self.gateway, &successor.gateway) {
            (Some(own), Some(other)) => fixed("the gateway", own.fixed_difference(other))?,
            (None, None) => {}
            _ => fixed("the point", Some("part, with or without a gateway,"))?,
        }
        let other: BTreeMap<&str, _> =
            successor.identities().zip(0_u16..).map(|(link, id)| (link.0, (link, Mtp3LinkId(id)))).collect();
        let mut succession = Succession::default();
        for (link, before) in self.identities().zip((0_u16..).map(Mtp3LinkId)) {
            match other.get(link.0) {
                Some((other, after)) if *other == link => succession.kept.push((before, *after)),
                _ => succession.gone.push(before),
            }
        }
        Ok(succession)
    }

    /// Takes the place of a running point, which has nothing more to do by now. [`SignallingPoint::succession`] has
    /// said which links are kept; those that go have been taken out of service.
    pub fn take_over(&mut self, now: Instant, mut former: Self, succession: &Succession) {
        for (before, own) in &succession.kept {
            let (before, own) = (former.places[usize::from(before.0)], self.places[usize::from(own.0)]);
            std::mem::swap(&mut former.links[before].1, &mut self.links[own].1);
        }
        self.mtp3.take_over(now, former.mtp3, &succession.kept);
        if let Some(sccp) = &mut self.sccp {
            let mtp3 = &self.mtp3;
            served_point::take_over(now, sccp, former.sccp, |code| !mtp3.is_accessible(code));
        }
        if let (Some(own), Some(before)) = (&mut self.gateway, former.gateway) {
            own.take_over(now, before);
        }
        if let (Some(own), Some(before)) = (&mut self.screened, &former.screened) {
            own.go_on_from(before);
        }
        self.processor = former.processor.map(|processor| processor.renumbered(&succession.kept));
        (0..self.links.len() + 3).for_each(|part| self.work.mark(part));
    }

    /// Takes an association of the gateway out of service, before it is closed for good: its process is told.
    pub fn lock_out(&mut self, now: Instant, association: AssociationNumber) {
        if let Some(gateway) = &mut self.gateway {
            gateway.sgp.lock_out(now, association);
            self.work.mark(self.gateway_part());
        }
    }

    /// The links by their numbers in MTP3.
    fn identities(&self) -> impl Iterator<Item = LinkIdentity<'_>> {
        let sets = self.mtp3.config().link_sets.iter();
        let links = sets.flat_map(|set| set.links.iter().map(move |link| (set.adjacent, link)));
        self.places.iter().zip(links).map(|(place, (adjacent, link))| {
            (link.name.as_str(), adjacent, link.slc, link.sequence, &self.ends[*place].level2)
        })
    }
}
