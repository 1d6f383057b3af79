//! A point that is live: driven until it is over, with what happens to it told.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;

use slantpath_base::Duration;
use slantpath_gateway::{LinkLoadReport, Seat};
use slantpath_live::{Live, Program as _, Station};

use super::kept::Kept;
use super::operation::Operation;
use super::prepared::Prepared;
use super::reload::Reloads;
use crate::arguments::{OperationArguments, SeatOutputArguments};
use crate::failure::Failure;
use crate::interrupt;
use crate::live::nodes::call_behind;
use crate::live::outputs::{print_machine, say_changes};
use crate::live::server::STOP;
use crate::live::settings::{failed, not_opened};
use crate::terminal::Visible;

/// Interval at which Ctrl-C is looked for.
const GLANCE: Duration = Duration::from_millis(200);

/// Serves until it is over, and prints the counts.
pub(super) fn serve(
    prepared: &Prepared,
    mut reloads: Reloads,
    outputs: &SeatOutputArguments,
    operation: &OperationArguments,
    command: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut operation = Operation::open(operation, &prepared.operation)?;
    let mut kept = Kept::create(outputs, prepared)?;
    let secret = slantpath_live::secret().map_err(failed)?;
    let opened = Live::open(&prepared.live(), prepared.station(secret)?);
    let mut live = opened.map_err(|error| not_opened(&error))?;
    kept.begin(&mut live, secret, command, prepared)?;
    call_behind(&mut live, &prepared.udp_ports);
    writeln!(out, "`{}` is live at {}; Ctrl-C stops", prepared.request.name, prepared.place())?;
    operation.begin(&prepared.request.name, &mut live, out)?;
    out.flush()?;
    let stop = interrupt::flag();
    let mut is_stopped = false;
    // Why a file was given up, which ends the run in order.
    let mut unwritten = None;
    while !live.host().program.is_over() {
        let is_to_stop = stop.load(Ordering::Relaxed) || operation.is_to_stop();
        if is_to_stop && !std::mem::replace(&mut is_stopped, true) {
            operation.stopping();
            live.command(STOP, Station::stop);
        }
        let until = operation.until(live.now().saturating_add(GLANCE));
        live.step(until).map_err(failed)?;
        operation.look(&mut live, &reloads, &mut kept);
        say_changes(&mut live);
        reloads.advance(&mut live, &mut kept);
        say_happenings(&mut live, &mut operation);
        if let Err(failure) = kept.keep(&mut live) {
            unwritten.get_or_insert(failure);
            stop.store(true, Ordering::Relaxed);
        }
    }
    say_happenings(&mut live, &mut operation);
    // What was counted is told wherever it can be: where a file cannot be written it is printed, and the reverse.
    let told = tell_report(&mut live, &prepared.loads, out);
    kept.finish(&mut live)?;
    told?;
    unwritten.map_or(Ok(()), Err)
}

/// Writes one line for each happening, which a program reads as well as a person, and tells clients.
fn say_happenings(live: &mut Live<Station<Seat>>, operation: &mut Operation) {
    while let Some(happening) = live.host_mut().program.poll_happening() {
        operation.tell(&happening);
        // When nobody listens the work goes on.
        let _ = writeln!(Visible(io::stderr().lock()), "{happening}");
    }
}

/// Prints the counts at the end.
fn tell_report(
    live: &mut Live<Station<Seat>>,
    loads: &BTreeMap<String, usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let now = live.now();
    let report = live.host().program.report();
    for (name, counts) in &report.associations {
        writeln!(
            out,
            "association {name}: {} messages sent, {} received; up {} times, lost {} times; thrown away: {} while \
             down, {} for want of room; given back: {} unsent, {} in doubt",
            counts.sent,
            counts.received,
            counts.times_up,
            counts.times_lost,
            counts.discarded_down,
            counts.discarded_full,
            counts.returned,
            counts.in_doubt,
        )?;
    }
    for (name, counts) in &report.screening {
        writeln!(
            out,
            "screening {name}: {} messages matched, {} of them refused, {} copied",
            counts.matched, counts.refused, counts.copied
        )?;
    }
    let dropped = live.host_mut().program.copies_mut().dropped();
    if dropped > 0 {
        writeln!(out, "{dropped} copies were not written: too many came at one time")?;
    }
    writeln!(
        out,
        "{} messages came to user parts; {} callers were refused",
        report.arrived, report.strangers
    )?;
    for (name, number) in loads {
        let reports = live.host_mut().program.load_reports(now, *number);
        let sum = |of: fn(&LinkLoadReport) -> u64| reports.iter().map(of).sum::<u64>();
        writeln!(
            out,
            "load {name}: {} messages sent, {} of them refused",
            sum(|link| link.report.sent),
            sum(|link| link.report.refused)
        )?;
    }
    print_machine(live, out)
}
