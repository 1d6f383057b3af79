//! Advice on a scenario: what its values come to together, which no key shows. Most of it is allowed and probably a
//! mistake, and warned of; what cannot go on at all is a fault.
//!
//! # Map
//!
//! - [`unused`]: profiles that nothing uses. [`no_effect`]: keys of profiles that change nothing. [`extent`]: messages
//!   and samples that a run comes to.
//! - [`sky`]: `gaps` reports when no path joins what flows join, `causes` why none ever does, `idle` which antennas
//!   hold nothing, `detour` which paths lead around the Earth.
//! - [`built`]: the network as it is built, and the order of what is said of it. [`path`]: ways of flows and sessions
//!   through it, and what fits them; [`load`], what sessions offer to the slowest link; [`buffers`], what the kernel of
//!   an attached node keeps.
//! - [`signalling`]: `timing` says what timers have to wait for, by the load that is `offered`; `servers`, the same of
//!   M3UA.
//!
//! Values are settled when this crate reads them: it changes none.

mod buffers;
mod built;
mod extent;
mod load;
mod no_effect;
mod path;
mod signalling;
mod sky;
mod unused;

use slantpath_reader::Faults;
use slantpath_scenario::{Checked, Contacts, Draft, sky_links};

pub use sky::detour::detours;
pub use unused::is_of_unused;

/// Judges a scenario of which nothing contradicts, and works its contacts out on the way: in the order of the time that
/// it takes, and no further than the first faults.
pub fn check(draft: Draft, contacts: Contacts<'_>, faults: &mut Faults) -> Option<Checked> {
    unused::check(&draft, faults);
    no_effect::check(&draft, faults);
    extent::check(&draft, faults);
    // A long run's contacts take their time: not before it is known that the run can be.
    if !faults.is_empty() {
        return None;
    }
    let checked = draft.with_contacts(contacts, faults);
    if let (Some(table), Some(plan)) = (&checked.sky, checked.sky_plan()) {
        // The first piece of a plan says nothing of the rest.
        if contacts.watch.pieces.is_none() {
            sky::check(&checked, plan, contacts.watch, faults);
        }
        sky_links::check_satellites(table, &checked.nodes, &checked.script, plan, faults);
    }
    if faults.is_empty() {
        built::check(&checked, faults);
    }
    Some(checked)
}

/// Warns of what is worth a look and costs one: not when a scenario is read to be run, but when it is asked.
pub fn remark(checked: &Checked, faults: &mut Faults) {
    if let Some(plan) = checked.sky_plan() {
        sky::detour::remark(checked, plan, faults);
    }
}
