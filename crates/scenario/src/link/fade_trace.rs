//! Files of `fade_trace`: read, and given to the network that is built.

use std::collections::BTreeMap;
use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_net::{DirectionId, NetworkBuilder};
use slantpath_reader::{Faults, Files, Tables, Written};

use super::fade_step::FadeStep;
use super::mahimahi;
use super::schema::Link;
use super::trace::TraceFormat;
use crate::flow::trace::{check_digest, read, wholly_behind_the_end};
use crate::network::planned::PlannedLink;
use crate::schema::File;
use crate::sky_links::schema::SkyTable;

/// Reads the trace of every direction that has one.
pub(crate) fn check(
    links: &mut Tables<Link<Written>>,
    sky: Option<&mut SkyTable<Written>>,
    duration: Option<Duration>,
    files: &Files,
    faults: &mut Faults,
) {
    let mut known = BTreeMap::new();
    let mut begin = Vec::new();
    let of_links = links.iter_mut().flat_map(|(_, link)| {
        let directions = [&mut link.forward.0, &mut link.reverse.0];
        directions.into_iter().filter_map(|parameters| Some(&mut parameters.fade_trace.as_mut()?.0))
    });
    let of_sky = sky.into_iter().flat_map(|sky| sky.fades.iter_mut()).map(|(_, fade)| &mut fade.trace.0);
    for trace in of_links.chain(of_sky) {
        let name = (*trace.file).clone();
        let place = trace.file.place();
        let is_mahimahi = trace.format.is_some_and(|format| *format == TraceFormat::Mahimahi);
        let read = known.entry((name.clone(), is_mahimahi)).or_insert_with(|| {
            let (steps, digest) = if is_mahimahi {
                mahimahi::load(&name, place, duration, files, faults)?
            } else {
                let example = "30 s,1.5 Mbit/s,1 %,1e-6";
                read(&name, example, place, files, faults, FadeStep::parse)?
            };
            begin.extend(steps.first().map(|step: &FadeStep| (step.at(), place)));
            Some((Arc::<[FadeStep]>::from(steps), digest))
        });
        if let Some((steps, digest)) = read {
            check_digest(&name, place, &mut trace.digest, digest.clone(), faults);
            trace.steps.resolve(Some(Arc::clone(steps)));
        }
    }
    for (first, place) in begin {
        wholly_behind_the_end(first, duration, place, faults);
    }
}

/// Gives a network that is being built the changes of every fade.
pub(crate) fn schedule(file: &File, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    for planned in links {
        let Some(link) = file.links.find(&planned.name) else { continue };
        for (direction, steps) in fades(link, planned) {
            for step in steps {
                step.schedule(direction, builder);
            }
        }
    }
}

/// The directions of a link that follow a file, and the steps of it.
fn fades<'a>(link: &'a Link, planned: &PlannedLink) -> impl Iterator<Item = (DirectionId, &'a [FadeStep])> {
    let directions = [(planned.id.forward(), &link.forward), (planned.id.reverse(), &link.reverse)];
    directions
        .into_iter()
        .filter_map(|(direction, parameters)| Some((direction, &*parameters.fade_trace.as_ref()?.0.steps.0)))
}
