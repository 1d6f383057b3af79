//! `fade_trace` of a link: rate, loss and bit errors that follow a file.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, Duration, Instant, Probability};
use slantpath_net::{Change, DirectionId, NetworkBuilder};
use slantpath_reader::{Fault, Faults, Files, Setting, fault_of, section};

use super::schema::Link;
use crate::bounds::{RATE, RUN};
use crate::flow::trace::{Traces, check_digest, read, wholly_behind_the_end};
use crate::network::PlannedLink;
use crate::schema::File;

section! {
    /// A rate, a loss and a bit error rate that follow a file, in steps. Before the first line, and where a line leaves
    /// a place empty, it stays as it was.
    pub struct FadeTrace {
        /// The file, relative to the scenario: lines of `at,rate,loss,bit_error_rate` such as
        /// `30 s,1.5 Mbit/s,1 %,1e-6` or `40 s,,,1e-5`, in order of time.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Option<Setting<String>>;
    }
}

/// Changes that a line of the trace makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FadeStep {
    at: Instant,
    rate: Option<DataRate>,
    loss: Option<Probability>,
    bit_errors: Option<Probability>,
}

/// Reads the trace of every direction that has one.
pub(crate) fn check(file: &mut File, files: &Files, traces: &mut Traces, faults: &mut Faults) {
    let mut known = BTreeMap::new();
    let mut begin = Vec::new();
    let File { links, sky, .. } = &mut *file;
    let of_links = links.iter_mut().flat_map(|(_, link)| {
        let directions = [&mut link.forward.0, &mut link.reverse.0];
        directions.into_iter().filter_map(|parameters| Some(&mut parameters.fade_trace.as_mut()?.0))
    });
    let of_sky = sky.iter_mut().flat_map(|sky| sky.0.fades.iter_mut()).map(|(_, fade)| &mut fade.trace.0);
    for trace in of_links.chain(of_sky) {
        let name = (*trace.file).clone();
        let place = trace.file.place();
        let digest = known.entry(name.clone()).or_insert_with(|| {
            let example = "30 s,1.5 Mbit/s,1 %,1e-6";
            let (steps, digest) = read(&name, example, place, files, faults, parse_line)?;
            begin.extend(steps.first().map(|step: &FadeStep| (step.at, place)));
            traces.fades.insert(name.clone(), steps);
            Some(digest)
        });
        if let Some(digest) = digest {
            check_digest(&name, place, &mut trace.digest, digest.clone(), faults);
        }
    }
    for (first, place) in begin {
        wholly_behind_the_end(first, file, place, faults);
    }
}

fn parse_line(line: &str, last: Option<&FadeStep>) -> Result<FadeStep, Fault> {
    let help =
        "a line is a time and what holds from then on, like `30 s,1.5 Mbit/s,1 %,1e-6` or `40 s,,,1e-5`";
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[at, rate, loss, bit_errors] = fields.as_slice() else {
        return Err(Fault::new(format!("`{line}` is no step of a fade")).help(help));
    };
    let at: Duration = at.parse().map_err(|error| fault_of(&error, help))?;
    if at > RUN.most {
        return Err(Fault::new(format!("a time of {at} is more than {}", RUN.most)).help(help));
    }
    let at = Instant::START + at;
    if let Some(earlier) = last.map(|last| last.at).filter(|&earlier| at <= earlier) {
        let message = format!("{at} is no later than the line before it, {earlier}");
        return Err(Fault::new(message).help("sort the lines by time, and give one for each"));
    }
    let probability = |text: &str| match text {
        "" => Ok(None),
        _ => text.parse().map(Some).map_err(|error| fault_of(&error, help)),
    };
    let step = FadeStep {
        at,
        rate: rate_of(rate, help)?,
        loss: probability(loss)?,
        bit_errors: probability(bit_errors)?,
    };
    if step.changes().next().is_none() {
        return Err(Fault::new(format!("nothing changes at {at}")).help(help));
    }
    Ok(step)
}

fn rate_of(text: &str, help: &str) -> Result<Option<DataRate>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let rate: DataRate = text.parse().map_err(|error| fault_of(&error, help))?;
    if rate.as_bits_per_sec() == 0 {
        let help = "for a fade that nothing passes, write a loss of `100 %`";
        return Err(Fault::new("a link of rate zero never sends").help(help));
    }
    if rate > RATE.most {
        return Err(Fault::new(format!("a rate of {rate} is more than {}", RATE.most)).help(help));
    }
    Ok(Some(rate))
}

impl FadeStep {
    /// Tells whether it sets a rate.
    pub(crate) const fn changes_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Tells whether bits arrive wrong from then on.
    pub(crate) fn flips_bits(&self) -> bool {
        self.bit_errors.is_some_and(|errors| !errors.is_never())
    }

    /// Gives a network that is being built what changes of a direction.
    pub(crate) fn schedule(&self, direction: DirectionId, builder: &mut NetworkBuilder) {
        for change in self.changes() {
            builder.change(self.at, direction, change);
        }
    }

    fn changes(&self) -> impl Iterator<Item = Change> {
        let rate = self.rate.map(Change::Rate);
        [rate, self.loss.map(Change::Loss), self.bit_errors.map(Change::BitErrors)].into_iter().flatten()
    }
}

/// Gives a network that is being built the changes of every fade.
pub(crate) fn schedule(file: &File, traces: &Traces, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    for planned in links {
        let Some(link) = file.links.find(&planned.name) else { continue };
        for (direction, name) in fades(link, planned) {
            for step in &traces.fades[name] {
                step.schedule(direction, builder);
            }
        }
    }
}

/// The directions of a link that follow a file, and which.
fn fades<'a>(link: &'a Link, planned: &PlannedLink) -> impl Iterator<Item = (DirectionId, &'a str)> {
    let directions = [(planned.id.forward(), &link.forward), (planned.id.reverse(), &link.reverse)];
    directions.into_iter().filter_map(|(direction, parameters)| {
        Some((direction, parameters.fade_trace.as_ref()?.0.file.as_str()))
    })
}
