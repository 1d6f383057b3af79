//! The contacts of a run, and what follows from them: the links by which hosts are reached, fixed routes that hold.

use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults};
use slantpath_topology::warning_lines;

use super::plan::{Basis, SkyPlan};
use super::topology::{self, Bodies};
use super::{entrances, pairs, routes};
use crate::contacts::Contacts;
use crate::schema::File;

/// Works the contacts of the run out, if all else is right; unless they are known.
pub(crate) fn plan(
    file: &mut File,
    bodies: &Bodies,
    contacts: Contacts<'_>,
    faults: &mut Faults,
) -> Option<Arc<SkyPlan>> {
    let (sky, head) = (&file.sky.as_ref()?.0, file.scenario.whole()?);
    let pairs = pairs::of_flows(file);
    // Dates are counted in nanoseconds, which end in 2292.
    let epoch = i128::from(bodies.network.epoch.as_nanos());
    let pieces = contacts.watch.pieces;
    let whole = pieces.map_or(Duration::ZERO, |pieces| pieces.whole);
    let last = sky.start.saturating_add(*head.duration).saturating_add(SkyPlan::BEYOND);
    let last = last.max(sky.start.saturating_add(whole));
    if epoch + i128::from(last.as_nanos()) > i128::from(i64::MAX) {
        let fault = Fault::new("the run ends beyond the year 2292");
        faults.report(
            sky.start.place(),
            fault.help("let `start` be smaller, or the topology's `epoch` earlier"),
        );
        return None;
    }
    let of =
        Basis { topology: bodies.hash.clone(), start: *sky.start, duration: *head.duration, pairs, pieces };
    if let Some(known) = contacts.known.filter(|known| known.is_of(&of)) {
        follow(file, known, faults);
        return Some(Arc::clone(known));
    }
    match SkyPlan::new(&bodies.network, of, contacts.watch) {
        Ok(plan) => {
            let place = topology::place(sky);
            for line in warning_lines(&plan.stale) {
                faults.warn(place, Fault::new(line).help("take newer element sets, or an earlier `start`"));
            }
            follow(file, &plan, faults);
            Some(Arc::new(plan))
        }
        Err(error) => {
            let text = error.to_string();
            let (wrong, cure) =
                text.split_once(": ").or_else(|| text.split_once("; ")).unwrap_or((&text, ""));
            let fault = Fault::new(format!("the sky of this run cannot be: {wrong}"));
            let cure = if cure.is_empty() { "change the topology, or `start` and `duration`" } else { cure };
            faults.report(topology::place(sky), fault.help(cure));
            None
        }
    }
}

/// Chooses the links by which flows reach hosts with several cables, and reports fixed routes that never hold.
fn follow(file: &mut File, plan: &SkyPlan, faults: &mut Faults) {
    entrances::choose(file, plan);
    // Hops that do not hold in the first piece of a plan may hold in the next.
    if let Some(sky) = &file.sky
        && plan.in_pieces().is_none()
    {
        routes::check_hops(&sky.0, plan, faults);
    }
}
