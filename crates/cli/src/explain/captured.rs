//! `slantpath explain CAPTURE`: what the associations in a packet capture did, as one point saw them.

use std::io::{Read, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};
use slantpath_base::Duration;
use slantpath_capture::{
    CaptureReader, CapturedAssociations, CapturedDirection, CapturedDiversion, CapturedEnds, CapturedFrame,
    PointCodeFormat,
};
use slantpath_runner::OwnKinds;
use slantpath_trace::{Record, Story, TraceHeader, TraceOrigin, TraceSettings, tell};

use super::selection;
use crate::arguments::{ExplainArguments, PointCodes};
use crate::failure::Failure;
use crate::import::{end, format_of};
use crate::{interrupt, terminal};

/// RTO.Min of RFC 9260, section 16.
const RTO_MIN: Duration = Duration::from_secs(1);

/// Frames after which an interruption is noticed.
const LOOK_EVERY: u64 = 4_096;

/// Header of what a capture tells.
pub(super) fn header(arguments: &ExplainArguments) -> TraceHeader {
    let name = arguments.trace.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rto_min = arguments.rto_min.unwrap_or(RTO_MIN);
    let settings = TraceSettings { rto_min, ..TraceSettings::default() };
    TraceHeader { origin: TraceOrigin::Captured { capture: name }, settings, profile: None }
}

/// The associations of a capture, once all of it has been read.
pub(super) struct Followed {
    pub(super) ends: CapturedEnds,
}

impl Followed {
    /// Reads a capture. What comes before a fault in it is followed, and the fault is told.
    pub(super) fn of(
        file: impl Read,
        arguments: &ExplainArguments,
        follow: &mut impl FnMut(Record),
        each: &mut impl FnMut(&CapturedFrame) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let place = arguments.trace.display();
        let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
        let mut reader =
            CaptureReader::open(file).map_err(|error| misused(format!("{error}; {}", error.help())))?;
        let rto_min = arguments.rto_min.unwrap_or(RTO_MIN);
        let mut associations = CapturedAssociations::new(rto_min, format(arguments));
        let stop = interrupt::flag();
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => {
                    associations.frame(&frame, follow);
                    each(&frame)?;
                }
                Ok(None) => break,
                Err(error) => {
                    let told = format!("{place}: {error}; what comes before is told; {}", error.help());
                    terminal::warn(&told)?;
                    break;
                }
            }
            if reader.frames().is_multiple_of(LOOK_EVERY) && stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted("interrupted: nothing was told".to_owned()));
            }
        }
        let frames = reader.frames();
        let ends = associations.finish(follow);
        if ends.directions.is_empty() {
            let help = "`slantpath import` tells what there is; capture where SCTP passes";
            return Err(misused(format!("none of its {frames} frames is of an association of SCTP; {help}")));
        }
        Ok(Self { ends })
    }
}

fn format(arguments: &ExplainArguments) -> PointCodeFormat {
    format_of(arguments.point_codes.unwrap_or(PointCodes::Itu))
}

pub(super) fn main(
    file: impl Read,
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let format = format(arguments);
    let rto_min = arguments.rto_min.unwrap_or(RTO_MIN);
    let mut story = Story::new(header(arguments), arguments.idle).asking(arguments.message);
    let mut follow = |record| story.follow(&record);
    let Followed { ends } = Followed::of(file, arguments, &mut follow, &mut |_| Ok(()))?;
    let CapturedEnds { directions, diversions, left_out, .. } = ends;
    story.finish();
    let selection = selection(&story, arguments, own)?;
    if arguments.json {
        let mut told = story.json(selection);
        told["directions"] = directions.iter().map(direction).collect();
        told["signalling_failovers"] = diversions.iter().map(|of| diversion(of, format)).collect();
        writeln!(out, "{told:#}")?;
        return Ok(());
    }
    writeln!(out, "Each direction of an association is told apart:")?;
    for direction in &directions {
        let CapturedDirection { number, sources, destinations, source_port, destination_port, .. } =
            direction;
        let [from, to] = [end(sources, *source_port), end(destinations, *destination_port)];
        let seen = match (direction.is_seen, direction.is_from_the_start) {
            (false, _) => ", of which nothing was captured",
            (true, false) => ", under way when the capture began",
            (true, true) => "",
        };
        writeln!(out, "  {number}: from {from} to {to}{seen}")?;
    }
    if left_out > 0 {
        writeln!(out, "{left_out} packets are of associations beyond those that are told")?;
    }
    writeln!(
        out,
        "One point does not see all: windows and timers of the ends are not known, nor what was lost before it.\n\
         A retransmission without a SACK that asks for it counts as a time-out after at least {rto_min}\n\
         (--rto-min). Where SACKs were not captured nothing tells losses from time-outs.\n"
    )?;
    if !diversions.is_empty() {
        tell_diversions(&diversions, format, out)?;
    }
    tell(&story, selection, out)?;
    Ok(())
}

/// Tells signalling that has left an association for another, and what one point does not know of it.
fn tell_diversions(
    diversions: &[CapturedDiversion],
    format: PointCodeFormat,
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "Signalling that left an association for another of the same sender:")?;
    for CapturedDiversion { at, from, to, layer, origin, destination, selection, unanswered, .. } in
        diversions
    {
        let at = at.since_start().as_secs_f64();
        let [origin, destination] = [origin, destination].map(|code| code.display(format).to_string());
        let since = unanswered.map_or_else(
            || "no packet of the former was answered".to_owned(),
            |time| format!("{:.3} ms since the last answered packet", time.as_millis_f64()),
        );
        writeln!(
            out,
            "  {at:.6} s: from {from} to {to}, {since}\n    ({layer}; first from {origin} to {destination}, \
             signalling link selection {selection})"
        )?;
    }
    writeln!(
        out,
        "When the former failed, and why, is known to the network alone. Associations count as one sender's\n\
         if they have an address in common. Traffic that moves while all is answered is not told.\n"
    )
}

fn diversion(diversion: &CapturedDiversion, format: PointCodeFormat) -> Json {
    json!({
        "at_s": diversion.at.since_start().as_secs_f64(),
        "from": diversion.from,
        "to": diversion.to,
        "layer": diversion.layer,
        "origin": diversion.origin.display(format).to_string(),
        "destination": diversion.destination.display(format).to_string(),
        "selection": diversion.selection,
        "unanswered_s": diversion.unanswered.map(Duration::as_secs_f64),
    })
}

fn direction(direction: &CapturedDirection) -> Json {
    let strings = |addresses: &[IpAddr]| addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>();
    json!({
        "association": direction.number,
        "sources": strings(&direction.sources),
        "source_port": direction.source_port,
        "destinations": strings(&direction.destinations),
        "destination_port": direction.destination_port,
        "is_seen": direction.is_seen,
        "is_from_the_start": direction.is_from_the_start,
    })
}
