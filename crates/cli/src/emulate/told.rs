//! Words of an emulation while it runs, at its end, and where it is refused.

use std::io::{self, IsTerminal as _, Write as _};

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_emulate::{DoorReport, Doors};
use slantpath_runner::{Attachment, InterfaceCounts, InterfaceReport, visible};
use slantpath_system::SystemFailure;

use crate::terminal::Visible;

/// Reason for which there are no namespaces, with the ways out.
pub(super) fn refused(failure: &SystemFailure) -> String {
    let setting = failure.setting().map_or_else(String::new, |setting| format!(" (setting `{setting}`)"));
    format!("{failure}{setting}: an emulation needs namespaces of its own, which `sudo` allows as well")
}

/// A door's report, as the network has it.
pub(super) fn interface(report: &DoorReport) -> InterfaceReport {
    let counters = &report.counters;
    InterfaceReport {
        counts: InterfaceCounts {
            packets_in: counters.packets_in,
            bytes_in: counters.bytes_in,
            packets_out: counters.packets_out,
            bytes_out: counters.bytes_out,
            late: report.lateness.map_or(0, |lateness| lateness.later_than_limit),
            overtaken: counters.overtaken,
            multicast: counters.multicast,
            unreadable: counters.unreadable,
            refused: counters.refused,
            lost: counters.lost,
        },
        lateness: report.lateness.map(|of| [of.median, of.p99, of.p99_9, of.max]),
    }
}

/// Time between two states of the status line.
const EVERY: Duration = Duration::from_secs(1);

/// A line that tells how an emulation stands, once a second, where a person reads it.
#[derive(Debug)]
pub(super) struct StatusLine {
    is_read: bool,
    /// Instant from which on it is told next.
    next: Instant,
    /// Counts of the interfaces when it was told last.
    last: Vec<InterfaceCounts>,
}

impl StatusLine {
    /// A line that nobody reads if a program has the terminal.
    pub(super) fn new(has_program_terminal: bool) -> Self {
        let is_read = io::stderr().is_terminal() && !has_program_terminal;
        Self { is_read, next: Instant::START + EVERY, last: Vec::new() }
    }

    /// Tells how it stands, if it is time to.
    pub(super) fn tell(&mut self, doors: &mut Doors, attachments: &[Attachment]) -> io::Result<()> {
        let now = doors.now();
        if !self.is_read || now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        let reports: Vec<InterfaceReport> = doors.reports()?.iter().map(interface).collect();
        let line = status(now, attachments, &reports, &self.last);
        self.last = reports.iter().map(|report| report.counts).collect();
        write!(io::stderr().lock(), "{START_OF_LINE}{}", visible(&line))
    }

    /// Takes the line away.
    pub(super) fn clear(&self) -> io::Result<()> {
        if self.is_read { write!(io::stderr().lock(), "{START_OF_LINE}") } else { Ok(()) }
    }
}

/// Goes to the start of the line, and takes away what stands there.
const START_OF_LINE: &str = "\r\u{1b}[K";

/// State at `now`: the rate of each interface since the last time, and the lateness so far.
fn status(
    now: Instant,
    attachments: &[Attachment],
    reports: &[InterfaceReport],
    last: &[InterfaceCounts],
) -> String {
    let mut line = format!("{} s", now.as_nanos() / 1_000_000_000);
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    for (place, ((node, interface), report)) in interfaces.zip(reports).enumerate() {
        let before = last.get(place).copied().unwrap_or_default();
        let rate = |bytes: u64| DataRate::from_bits_per_sec(8 * bytes);
        let (sent, received) = (
            rate(report.counts.bytes_in - before.bytes_in),
            rate(report.counts.bytes_out - before.bytes_out),
        );
        line.push_str(&format!(" | {} {}: {sent} out, {received} in", node.node, interface.link));
        if let Some([median, p99, ..]) = report.lateness {
            line.push_str(&format!(", late {median}, 99 % {p99}"));
        }
    }
    line
}

/// Says what would help where packets left too late.
pub(super) fn advise(refused: &io::Error) -> io::Result<()> {
    writeln!(
        io::stderr().lock(),
        "a real-time priority, which was refused ({refused}), keeps the pace on a busy machine: `sudo`, or \
         `ulimit -r 10` where it is allowed"
    )
}

/// Tells what passed each interface, and how late.
pub(super) fn print(attachments: &[Attachment], reports: &[InterfaceReport]) -> io::Result<()> {
    let mut out = Visible(io::stderr().lock());
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    for ((node, interface), report) in interfaces.zip(reports) {
        let InterfaceCounts { packets_in, packets_out, .. } = report.counts;
        write!(
            out,
            "{} at `{}`: {packets_in} packets from it, {packets_out} to it",
            node.node, interface.link
        )?;
        if let Some([median, p99, p999, max]) = report.lateness {
            write!(out, ", late by {median} (median), {p99} (99 %), {p999} (99.9 %), {max} (most)")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
