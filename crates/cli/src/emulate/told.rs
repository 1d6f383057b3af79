//! Words of an emulation while it runs, at its end, and where it is refused.

use std::io::{self, IsTerminal as _, Write as _};

use slantpath_base::{DataRate, Duration, Instant};
#[cfg(target_os = "linux")]
use slantpath_emulate::Doors;
use slantpath_emulate::{DepartureSummary, DoorReport};
use slantpath_relay::{RelayCounters, RelayDoors};
use slantpath_runner::{Attachment, InterfaceCounts, InterfaceReport, visible};
#[cfg(target_os = "linux")]
use slantpath_system::SystemFailure;

use crate::terminal::Visible;

/// Ways by which packets pass between a network and programs, as far as is told of them.
pub(super) trait Faces {
    /// Present instant of the run.
    fn now(&self) -> Instant;

    /// Reports of the interfaces, in the order of nodes.
    fn reports(&mut self) -> io::Result<Vec<DoorReport>>;
}

#[cfg(target_os = "linux")]
impl Faces for Doors {
    fn now(&self) -> Instant {
        self.now()
    }

    fn reports(&mut self) -> io::Result<Vec<DoorReport>> {
        self.reports()
    }
}

impl Faces for RelayDoors {
    fn now(&self) -> Instant {
        self.now()
    }

    fn reports(&mut self) -> io::Result<Vec<DoorReport>> {
        Ok(Self::reports(self))
    }
}

/// Reason for which there are no namespaces, with the ways out.
#[cfg(target_os = "linux")]
pub(super) fn refused(failure: &SystemFailure) -> String {
    let setting = failure.setting().map_or_else(String::new, |setting| format!(" (setting `{setting}`)"));
    format!(
        "{failure}{setting}: an emulation needs namespaces of its own, which `sudo` allows as well; without them \
         `--relay 5000:far:6000` carries ports of this machine"
    )
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
            unresolved: counters.unresolved,
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
    pub(super) fn tell(
        &mut self,
        doors: &mut impl Faces,
        attachments: &[Attachment],
        next_handover: &mut dyn FnMut() -> Option<(Instant, String)>,
    ) -> io::Result<()> {
        let now = doors.now();
        if !self.is_read || now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        let reports: Vec<InterfaceReport> = doors.reports()?.iter().map(interface).collect();
        let line = status(now, attachments, &reports, &self.last) + &coming(now, next_handover());
        self.last = reports.iter().map(|report| report.counts).collect();
        write!(io::stderr().lock(), "{START_OF_LINE}{}", visible(&line))
    }

    /// Characters before a line of others, which would stand behind this one.
    pub(super) const fn lead(&self) -> &'static str {
        if self.is_read { START_OF_LINE } else { "" }
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
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    let told = interfaces.zip(reports).enumerate().map(|(place, ((node, interface), report))| {
        let before = last.get(place).copied().unwrap_or_default();
        let rate = |bytes: u64| DataRate::from_bits_per_sec(8 * bytes);
        let sent = rate(report.counts.bytes_in - before.bytes_in);
        let received = rate(report.counts.bytes_out - before.bytes_out);
        let late = report.lateness.map_or_else(String::new, |[median, p99, ..]| {
            format!(", late {}, 99 % {}", rounded(median), rounded(p99))
        });
        format!(" | {} {}: {sent} out, {received} in{late}", node.node, interface.link)
    });
    let told: String = told.collect();
    format!("{} s{told}", now.as_nanos() / 1_000_000_000)
}

/// The handover that comes next.
fn coming(now: Instant, next: Option<(Instant, String)>) -> String {
    next.map_or_else(String::new, |(at, antenna)| {
        let seconds = at.saturating_since(now).as_nanos().div_ceil(1_000_000_000);
        format!(" | next handover: {antenna} in {seconds} s")
    })
}

/// A lateness to three digits: histograms know no more.
fn rounded(lateness: Duration) -> Duration {
    let nanos = lateness.as_nanos();
    let unit = 10_u64.pow(nanos.checked_ilog10().unwrap_or(0).saturating_sub(2));
    Duration::from_nanos(nanos.next_multiple_of(unit))
}

/// Warning about a link whose rate this machine cannot carry, as far as it has measured.
#[cfg(target_os = "linux")]
pub(super) fn too_fast(link: &str, rate: DataRate, carried: DataRate) -> String {
    // It is no exact measure.
    let unit = 10_u64.pow(carried.as_bits_per_sec().checked_ilog10().unwrap_or(0).saturating_sub(1));
    let carried = DataRate::from_bits_per_sec(carried.as_bits_per_sec().next_multiple_of(unit));
    format!(
        "link `{link}` has {rate}, and this machine carries some {carried} in packets of 1,500 bytes: programs \
         that send more make the run void"
    )
}

/// Says what would help where packets left too late.
#[cfg(target_os = "linux")]
pub(super) fn advise(refused: &io::Error) -> io::Result<()> {
    writeln!(
        io::stderr().lock(),
        "a real-time priority, which was refused ({refused}), keeps the pace on a busy machine: `sudo`, or \
         `ulimit -r 10` where it is allowed"
    )
}

/// Tells how late handovers were, if there were any.
pub(super) fn print_handovers(lateness: &DepartureSummary) -> io::Result<()> {
    if lateness.count == 0 {
        return Ok(());
    }
    let [median, max] = [lateness.median, lateness.max].map(rounded);
    writeln!(
        io::stderr().lock(),
        "{} changes of satellites at antennas, late by {median} (median), {max} (most)",
        lateness.count
    )
}

/// Tells what relays have carried that was not whole, if there was any.
pub(super) fn print_relays(counters: &RelayCounters) -> io::Result<()> {
    let &RelayCounters { connections, resets, unsent, displaced, .. } = counters;
    let mut err = io::stderr().lock();
    if connections > 0 {
        writeln!(err, "{connections} connections, {resets} of them ended by a reset")?;
    }
    if unsent > 0 {
        writeln!(err, "{unsent} datagrams were too long for IP, or had no way")?;
    }
    if displaced > 0 {
        writeln!(
            err,
            "{displaced} senders of datagrams lost their way back to others: a relay knows 1,024 at once"
        )?;
    }
    Ok(())
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
        if let Some([median, p99, p999, max]) = report.lateness.map(|lateness| lateness.map(rounded)) {
            write!(out, ", late by {median} (median), {p99} (99 %), {p999} (99.9 %), {max} (most)")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_rate_that_is_not_carried_is_told_beside_the_one_that_is() {
        let [rate, carried] = [10_000_000_000, 3_412_345_678].map(DataRate::from_bits_per_sec);
        assert_eq!(
            too_fast("up", rate, carried),
            "link `up` has 10 Gbit/s, and this machine carries some 3.5 Gbit/s in packets of 1,500 bytes: \
             programs that send more make the run void"
        );
    }

    #[test]
    fn the_next_handover_stands_in_the_line_with_the_time_until_then() {
        let next = |nanos| Some((Instant::from_nanos(nanos), "sky.station".to_owned()));
        let now = Instant::from_secs(5);
        assert_eq!(coming(now, next(7_200_000_000)), " | next handover: sky.station in 3 s");
        assert_eq!(coming(now, next(5_000_000_000)), " | next handover: sky.station in 0 s");
        assert_eq!(coming(now, None), "");
    }

    #[test]
    fn a_lateness_has_three_digits() {
        for (nanos, told) in
            [(0, "0 s"), (999, "999 ns"), (1_234, "1.24 us"), (123_903, "124 us"), (50_069_503, "50.1 ms")]
        {
            assert_eq!(rounded(Duration::from_nanos(nanos)).to_string(), told);
        }
    }
}
