//! Contacts: who sees whom from when to when, and with which delay.
//!
//! Everything is solved in time. A [`Planner`] samples the orbits once (`ephemeris`), marches over each
//! pair's visibility with steps that cannot jump a root (`root`), lets the antennas choose (`selection`),
//! links the satellites (`isl`), and lays a polynomial over each contact's delay (`delay`). What comes
//! out is a [`ContactPlan`], which knows no orbit.

mod delay;
pub(crate) mod ephemeris;
mod isl;
mod joint;
pub(crate) mod nearest;
mod pass_bytes;
mod plan;
mod planner;
pub(crate) mod quintic;
pub(crate) mod root;
mod selection;
pub(crate) mod stretch;
pub(crate) mod visibility;

pub use delay::{ContactDelayCurve, Polynomial};
pub use joint::bound_antennas;
pub use plan::{Contact, ContactChange, ContactId, ContactKind, ContactPlan};
pub use planner::{Planner, SitePasses};
pub use stretch::ContactCause;
pub use visibility::Pass;
