//! Succession: an entity that is made from a new configuration takes the place of a running one.

use slantpath_base::Instant;
use slantpath_signalling::network::{NetworkConfig, NetworkConfigError, SignallingEntity};
use slantpath_signalling::{FixedSetting, ServedPoint, Succession};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::mtp3::node::{LinkActivity, Mtp3LinkId};

use super::Entity;

/// Parts of an entity that go, or go on under another number, when another one takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntitySuccession {
    Point(Succession),
    /// Routing contexts of application servers that the process leaves.
    Process(Vec<u32>),
}

impl Entity {
    /// An entity that does nothing before it takes the place of another one, and knows associations by these numbers.
    pub(crate) fn prepared(
        network: &NetworkConfig,
        entity: SignallingEntity,
        number: impl Fn(AssociationNumber) -> AssociationNumber,
    ) -> Result<Self, NetworkConfigError> {
        match entity {
            SignallingEntity::Point(id) => {
                Self::point(network, id, |network| network.prepare_point(id, number))
            }
            SignallingEntity::Process(id) => {
                Self::process(network, id, network.prepare_process(id, number)?, ServedPoint::prepared)
            }
        }
    }

    /// Says what goes when another entity takes the place of this one.
    pub(crate) fn succession(&self, successor: &Self) -> Result<EntitySuccession, FixedSetting> {
        match (self, successor) {
            (Self::Point(own), Self::Point(other)) => {
                own.entity.succession(&other.entity).map(EntitySuccession::Point)
            }
            (Self::Process(own), Self::Process(other)) => {
                for (_, network, point) in &own.served {
                    let is_same = |(_, of, other): &&(_, Option<u32>, ServedPoint)| {
                        (of, other.code()) == (network, point.code())
                    };
                    let other = other.served.iter().find(is_same);
                    let fixed = other.and_then(|(_, _, other)| point.fixed_difference(other));
                    fixed.map_or(Ok(()), |setting| Err(FixedSetting { part: "SCCP", setting }))?;
                }
                Ok(EntitySuccession::Process(own.process.leaving(&other.process)))
            }
            _ => Err(FixedSetting { part: "the entity", setting: "kind" }),
        }
    }

    /// Takes out of traffic what goes, and the associations that are to be closed.
    pub(crate) fn leave(
        &mut self,
        now: Instant,
        succession: &EntitySuccession,
        associations: &[AssociationNumber],
    ) {
        match (self, succession) {
            (Self::Point(own), EntitySuccession::Point(succession)) => {
                for link in &succession.gone {
                    own.deactivate(now, *link);
                }
                for association in associations {
                    own.entity.lock_out(now, *association);
                }
            }
            (Self::Process(own), EntitySuccession::Process(contexts)) => {
                own.process.leave(now, contexts);
                for association in associations {
                    own.process.leave_gateway(now, *association);
                }
            }
            _ => {}
        }
    }

    /// Tells if what goes is out of traffic, with all that has come back from it.
    pub(crate) fn has_left(&self, succession: &EntitySuccession, associations: &[AssociationNumber]) -> bool {
        match (self, succession) {
            (Self::Point(own), EntitySuccession::Point(succession)) => {
                let is_out =
                    |link: &Mtp3LinkId| own.entity.mtp3().link_activity(*link) == LinkActivity::Inactive;
                succession.gone.iter().all(is_out)
            }
            (Self::Process(own), EntitySuccession::Process(contexts)) => {
                own.process.has_left(contexts) && associations.iter().all(|at| !own.process.is_up(*at))
            }
            _ => true,
        }
    }

    /// Takes the place of a running entity that has nothing more to do by now.
    pub(crate) fn take_over(&mut self, now: Instant, former: Self, succession: &EntitySuccession) {
        match (self, former, succession) {
            (Self::Point(own), Self::Point(former), EntitySuccession::Point(succession)) => {
                own.entity.take_over(now, former.entity, succession);
            }
            (Self::Process(own), Self::Process(former), EntitySuccession::Process(_)) => {
                own.process.take_over(now, former.process);
                let mut free = former.served.iter().map(|(id, ..)| id.0 + 1).max().unwrap_or_default();
                let mut known = former.served;
                for (id, network, point) in &mut own.served {
                    let is_same = |(_, of, other): &(_, Option<u32>, ServedPoint)| {
                        (of, other.code()) == (&*network, point.code())
                    };
                    let before = known.iter().position(is_same).map(|at| known.swap_remove(at));
                    // Users of what stays know it by its number.
                    id.0 = before.as_ref().map_or(free, |(id, ..)| id.0);
                    free += usize::from(before.is_none());
                    point.take_over(now, before.map(|(.., point)| point));
                }
            }
            _ => {}
        }
    }
}
