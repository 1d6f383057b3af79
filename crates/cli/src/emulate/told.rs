//! Words of an emulation while it runs, at its end, and where it is refused.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use slantpath_base::{DataRate, Duration, Instant};
#[cfg(target_os = "linux")]
use slantpath_emulate::Doors;
use slantpath_emulate::{DepartureSummary, DoorReport};
use slantpath_relay::{RelayCounters, RelayDoors};
use slantpath_runner::{Attachment, CarriageTerms, InterfaceCounts, InterfaceReport, Turn, visible};
#[cfg(target_os = "linux")]
use slantpath_system::SystemFailure;

use crate::terminal;

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
        turn: &mut Turn<'_>,
    ) -> io::Result<()> {
        let now = doors.now();
        if !self.is_read || now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        let reports: Vec<InterfaceReport> = doors.reports()?.iter().map(interface).collect();
        let own = attachments.iter().flat_map(|node| node.interfaces.iter().map(|own| own.id));
        let terms: Vec<CarriageTerms> = own.map(|id| turn.carriage_terms(id)).collect();
        let mut line = format!("{} s{}", now.as_nanos() / 1_000_000_000, coming(now, turn.next_handover()));
        line.push_str(&status(attachments, &reports, &self.last, &terms));
        self.last = reports.iter().map(|report| report.counts).collect();
        say(&in_one_row(&line));
        Ok(())
    }

    /// Characters before a line of others, which would stand behind this one.
    pub(super) const fn lead(&self) -> &'static str {
        if self.is_read { START_OF_LINE } else { "" }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.is_read {
            say(START_OF_LINE);
        }
    }
}

/// Goes to the start of the line, and takes away what stands there.
const START_OF_LINE: &str = "\r\u{1b}[K";

/// Has the terminal cut a line at its last column, or go on in the next row.
const CUT_AT_THE_END: &str = "\u{1b}[?7l";
const GO_ON_IN_NEXT_ROW: &str = "\u{1b}[?7h";

/// The line in the place of the one before. A second row of it would be left when the next one comes.
fn in_one_row(line: &str) -> String {
    format!("{START_OF_LINE}{CUT_AT_THE_END}{}{GO_ON_IN_NEXT_ROW}", visible(line))
}

/// Writes to the terminal, with what commands it.
fn say(text: &str) {
    // A run does not end with its terminal: the exit status tells.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// State of each interface: the rate since the last time, what a packet from it finds, and the lateness so far.
fn status(
    attachments: &[Attachment],
    reports: &[InterfaceReport],
    last: &[InterfaceCounts],
    terms: &[CarriageTerms],
) -> String {
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    let told = interfaces.zip(reports).zip(terms).enumerate();
    let told = told.map(|(place, (((node, interface), report), terms))| {
        let before = last.get(place).copied().unwrap_or_default();
        let rate = |bytes: u64| DataRate::from_bits_per_sec(8 * bytes);
        let sent = rate(report.counts.bytes_in - before.bytes_in);
        let received = rate(report.counts.bytes_out - before.bytes_out);
        let late = report.lateness.map_or_else(String::new, |[median, p99, ..]| {
            format!(", late {}, 99 % {}", rounded(median), rounded(p99))
        });
        let carried = carried(terms);
        format!(" | {} {}: {sent} out, {received} in, {carried}{late}", node.node, interface.link)
    });
    told.collect()
}

/// Delay and loss of a direction.
fn carried(terms: &CarriageTerms) -> String {
    if !terms.is_carrying {
        return "down".to_owned();
    }
    // Those of a satellite change by nanoseconds.
    let delay = Duration::from_nanos(terms.delay.as_nanos().next_multiple_of(1_000));
    let loss = 100.0 * terms.loss.as_f64();
    format!("delay {delay}, loss {} %", (1e6 * loss).round() / 1e6)
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
pub(super) fn advise(refused: &io::Error) {
    terminal::tell(&format_args!(
        "a real-time priority, which was refused ({refused}), keeps the pace on a busy machine: `sudo`, or \
         `ulimit -r 10` where it is allowed\n"
    ));
}

/// Tells how late handovers were, if there were any.
pub(super) fn print_handovers(lateness: &DepartureSummary) {
    if lateness.count == 0 {
        return;
    }
    let [median, max] = [lateness.median, lateness.max].map(rounded);
    terminal::tell(&format_args!(
        "{} changes of satellites at antennas, late by {median} (median), {max} (most)\n",
        lateness.count
    ));
}

/// Tells what relays have carried that was not whole, if there was any.
pub(super) fn print_relays(counters: &RelayCounters) {
    let &RelayCounters { connections, resets, unsent, displaced, .. } = counters;
    if connections > 0 {
        terminal::tell(&format_args!("{connections} connections, {resets} of them ended by a reset\n"));
    }
    if unsent > 0 {
        terminal::tell(&format_args!("{unsent} datagrams were too long for IP, or had no way\n"));
    }
    if displaced > 0 {
        terminal::tell(&format_args!(
            "{displaced} senders of datagrams lost their way back to others: a relay knows 1,024 at once\n"
        ));
    }
}

/// Tells what passed each interface, and how late.
pub(super) fn print(attachments: &[Attachment], reports: &[InterfaceReport]) {
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    for ((node, interface), report) in interfaces.zip(reports) {
        let InterfaceCounts { packets_in, packets_out, .. } = report.counts;
        let mut line = format!(
            "{} at `{}`: {packets_in} packets from it, {packets_out} to it",
            node.node, interface.link
        );
        if let Some([median, p99, p999, max]) = report.lateness.map(|lateness| lateness.map(rounded)) {
            let _ = write!(line, ", late by {median} (median), {p99} (99 %), {p999} (99.9 %), {max} (most)");
        }
        terminal::tell(&format_args!("{line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use slantpath_base::DataSize;
    use slantpath_interface::InterfaceId;
    use slantpath_runner::AttachedInterface;

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
    fn a_state_has_rates_of_the_last_second_and_what_a_packet_finds() {
        let own = |link: &str| AttachedInterface {
            id: InterfaceId::new(0),
            link: link.to_owned(),
            addresses: Vec::new(),
            mtu: DataSize::from_bytes(1_500),
            other_end: Vec::new(),
            carries_frames: false,
            rate: DataRate::from_bits_per_sec(1_000_000),
        };
        let node = Attachment {
            node: "near".to_owned(),
            interfaces: vec![own("geo"), own("leo")],
            reaches: Vec::new(),
        };
        let counts =
            |bytes_in, bytes_out| InterfaceCounts { bytes_in, bytes_out, ..InterfaceCounts::default() };
        let lateness = [40_000, 90_000, 95_000, 99_000].map(Duration::from_nanos);
        let reports = [
            InterfaceReport { counts: counts(300, 2_100), lateness: Some(lateness) },
            InterfaceReport { counts: counts(50, 0), lateness: None },
        ];
        let terms = |is_carrying| CarriageTerms {
            rate: DataRate::from_bits_per_sec(1_000_000),
            delay: Duration::from_nanos(250_000_999),
            loss: "0.1 %".parse().unwrap(),
            is_carrying,
        };
        let (terms, last) = ([terms(true), terms(false)], [counts(100, 100)]);
        assert_eq!(
            status(&[node], &reports, &last, &terms),
            " | near geo: 1.6 kbit/s out, 16 kbit/s in, delay 250.001 ms, loss 0.1 %, late 40 us, 99 % 90 us \
             | near leo: 400 bit/s out, 0 bit/s in, down"
        );
    }

    #[test]
    fn a_line_stays_in_its_row() {
        assert_eq!(in_one_row("1 s | a\u{7}"), "\r\u{1b}[K\u{1b}[?7l1 s | a\\u0007\u{1b}[?7h");
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
