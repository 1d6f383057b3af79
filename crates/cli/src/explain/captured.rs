//! `slantpath explain CAPTURE`: what the associations in a packet capture did, as one point saw them.

use std::io::{Read, Write};
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};
use slantpath_base::Duration;
use slantpath_capture::{CaptureReader, CapturedAssociations, CapturedDirection};
use slantpath_trace::{Story, TraceHeader, TraceOrigin, TraceSettings, tell};

use super::{check, selection};
use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use crate::import::end;
use crate::{interrupt, terminal};

/// RTO.Min of RFC 9260, section 16.
const RTO_MIN: Duration = Duration::from_secs(1);

/// Frames after which an interruption is noticed.
const LOOK_EVERY: u64 = 4_096;

pub(super) fn main(
    file: impl Read,
    arguments: &ExplainArguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let place = arguments.trace.display();
    let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
    if !arguments.what_if.is_empty() {
        let help = "`slantpath import` makes a scenario of a capture, in which settings can be changed";
        return Err(misused(format!("a capture has no settings that another could stand for; {help}")));
    }
    let mut reader =
        CaptureReader::open(file).map_err(|error| misused(format!("{error}; {}", error.help())))?;
    let rto_min = arguments.rto_min.unwrap_or(RTO_MIN);
    let name = arguments.trace.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let settings = TraceSettings { rto_min, ..TraceSettings::default() };
    let header = TraceHeader { origin: TraceOrigin::Captured { capture: name }, settings, profile: None };
    let mut story = Story::new(header, arguments.idle);
    let mut associations = CapturedAssociations::new(rto_min);
    let mut follow = |record| story.follow(&record);
    let stop = interrupt::flag();
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => associations.frame(&frame, &mut follow),
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
    let (directions, left_out) = associations.finish(&mut follow);
    story.finish();
    if directions.is_empty() {
        let help = "`slantpath import` tells what there is; capture where SCTP passes";
        return Err(misused(format!("none of its {frames} frames is of an association of SCTP; {help}")));
    }
    check(&story, arguments)?;
    let selection = selection(arguments);
    if arguments.json {
        let mut told = story.json(selection);
        told["directions"] = directions.iter().map(direction).collect();
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
    tell(&story, selection, out)?;
    Ok(())
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
