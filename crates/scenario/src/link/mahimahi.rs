//! Traces of Mahimahi: instants at which a link may deliver a packet, as rates.
//!
//! A line is a whole number of milliseconds, at which one packet of 1,504 bytes may leave (Netravali et al., "Mahimahi:
//! Accurate Record-and-Replay for HTTP", USENIX ATC 2015, section 3.2, and `mm-link` of its program). The last line is
//! the length of the trace, which is repeated. Two instants with packets bound a time in which the link has the rate
//! that lets the second's packets leave until then: a queue that is never empty is served the same bytes at the same
//! instants. What differs is a packet that comes into an empty queue: it need not wait for the next instant.

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_reader::{Fault, Faults, Files, Place};

use super::fade_step::FadeStep;
use crate::bounds::RUN;
use crate::flow::trace::read;

/// Bits that leave at one instant.
const PACKET_BITS: u64 = 1_504 * 8;
/// Steps that a run may have: each is held in memory.
const STEPS_MAX: u64 = 4_000_000;

/// Reads a trace, and gives what changes until the run ends, with the digest of the file.
pub(super) fn load(
    name: &str,
    place: Place,
    duration: Option<Duration>,
    files: &Files,
    faults: &mut Faults,
) -> Option<(Vec<FadeStep>, String)> {
    let (instants, digest) = read(name, "37", place, files, faults, parse_line)?;
    let cycle = Cycle::new(&instants);
    // Where the end of the run is in doubt, one pass shows what is wrong with the trace.
    let steps = cycle.and_then(|cycle| cycle.until(duration.unwrap_or_default().min(RUN.most)));
    match steps {
        Ok(steps) => Some((steps, digest)),
        Err(fault) => {
            faults.report(place, fault);
            None
        }
    }
}

fn parse_line(line: &str, last: Option<&u64>) -> Result<u64, Fault> {
    let help = "a line is a whole number of milliseconds at which a packet may leave, like `37`";
    let millis = line.trim();
    if millis.is_empty() || !millis.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(Fault::new(format!("`{millis}` is no instant")).help(help));
    }
    let most = RUN.most.as_millis();
    let millis = millis.parse().ok().filter(|millis| *millis <= most).ok_or_else(|| {
        Fault::new(format!("{millis} ms is later than {}, the longest run", RUN.most)).help(help)
    })?;
    match last {
        Some(&earlier) if millis < earlier => {
            Err(Fault::new(format!("{millis} ms is earlier than the line before it, {earlier} ms"))
                .help("sort the lines; of several packets at one instant each has a line"))
        }
        _ => Ok(millis),
    }
}

/// Rates of one pass of a trace, each with the millisecond from which on it holds.
#[derive(Debug, PartialEq, Eq)]
struct Cycle {
    rates: Vec<(u64, DataRate)>,
    length_ms: u64,
}

impl Cycle {
    /// The rates of packets that may leave at these instants, which are in order.
    fn new(instants: &[u64]) -> Result<Self, Fault> {
        let length_ms = instants.last().copied().unwrap_or(0);
        if length_ms == 0 {
            let help = "the last line is the length of the trace: let it be later than `0`";
            return Err(Fault::new("the trace lasts for no time").help(help));
        }
        // The first instant of a pass is the last of the one before.
        let at_start = instants.iter().take_while(|millis| **millis == 0).count();
        let mut rates = Vec::new();
        let mut begin = 0;
        for group in instants[at_start..].chunk_by(|one, other| one == other) {
            let end = group[0];
            let packets = group.len() + if end == length_ms { at_start } else { 0 };
            let bits = packets as u64 * PACKET_BITS;
            rates.push((begin, DataRate::from_bits_per_sec(bits.saturating_mul(1_000) / (end - begin))));
            begin = end;
        }
        Ok(Self { rates, length_ms })
    }

    /// Steps of pass after pass. Where the rate stays there is none.
    fn until(&self, duration: Duration) -> Result<Vec<FadeStep>, Fault> {
        let length_ns = self.length_ms.saturating_mul(1_000_000);
        let passes = duration.as_nanos().div_ceil(length_ns).max(1);
        let count = passes.saturating_mul(self.rates.len() as u64);
        if count > STEPS_MAX {
            let help = "let `duration` be shorter: an emulation goes on at the last rate";
            let message =
                format!("until the run ends the trace has {count} steps, of which {STEPS_MAX} are the most");
            return Err(Fault::new(message).help(help));
        }
        let mut steps: Vec<FadeStep> = Vec::new();
        let mut last = None;
        for pass in 0..passes {
            for &(begin, rate) in &self.rates {
                if last.replace(rate) != Some(rate) {
                    let at = Instant::from_millis(pass * self.length_ms + begin);
                    let step = FadeStep::of_rate(at, rate).map_err(|fault| {
                        fault.help(format!(
                            "that is what the trace says from {begin} ms on: let its packets leave more evenly"
                        ))
                    })?;
                    steps.push(step);
                }
            }
        }
        Ok(steps)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bounds::RATE;

    fn rates(instants: &[u64]) -> Vec<(u64, u64)> {
        let cycle = Cycle::new(instants).expect("it lasts");
        cycle.rates.iter().map(|(begin, rate)| (*begin, rate.as_bits_per_sec())).collect()
    }

    #[test]
    fn packets_of_an_instant_leave_until_then() {
        assert_eq!(rates(&[1]), [(0, 12_032_000)]);
        assert_eq!(rates(&[2, 2, 2, 6]), [(0, 18_048_000), (2, 3_008_000)]);
        // Those of the first instant follow those of the last.
        assert_eq!(rates(&[0, 0, 1, 2]), [(0, 12_032_000), (1, 36_096_000)]);
        assert_eq!(Cycle::new(&[0, 0]).unwrap_err().message, "the trace lasts for no time");
    }

    #[test]
    fn a_trace_is_repeated_until_the_run_ends_and_what_stays_is_no_step() {
        let steps = |instants: &[u64], millis| {
            let steps = Cycle::new(instants).and_then(|cycle| cycle.until(Duration::from_millis(millis)));
            steps.expect("few").iter().map(|step| step.at().as_nanos() / 1_000_000).collect::<Vec<_>>()
        };
        assert_eq!(steps(&[1, 2, 3], 9_999), [0]);
        assert_eq!(steps(&[2, 2, 6], 13), [0, 2, 6, 8, 12, 14]);
        let much = Cycle::new(&[2, 2, 6]).and_then(|cycle| cycle.until(Duration::from_secs(12_001)));
        assert!(much.unwrap_err().message.contains("has 4000334 steps"), "each pass has two");
    }

    #[test]
    fn a_trace_gives_no_rate_that_a_link_cannot_have() {
        let told = |instants: &[u64]| {
            let steps = Cycle::new(instants).and_then(|cycle| cycle.until(Duration::from_secs(1)));
            steps.map(drop).map_err(|fault| fault.message)
        };
        assert_eq!(told(&[12_032_000]), Ok(()), "a bit a second");
        assert_eq!(told(&[12_032_001]), Err("a link of rate zero never sends".to_owned()));
        let faster = DataRate::from_bits_per_sec(RATE.most.as_bits_per_sec() + 1);
        let steps = Cycle { rates: vec![(0, faster)], length_ms: 1 }.until(Duration::from_secs(1));
        assert!(steps.unwrap_err().message.contains("is more than 1000"));
    }

    #[test]
    fn a_run_of_unknown_length_does_not_make_a_trace_too_long() {
        let files: Files = std::sync::Arc::new(|_: &str| Ok("1\n1\n3\n".to_owned()));
        let mut faults = Faults::default();
        let steps = load("up", Place::default(), None, &files, &mut faults);
        assert_eq!(steps.map(|(steps, _)| steps.len()), Some(2));
    }

    #[test]
    fn a_line_is_told_what_is_wrong_with_it() {
        assert_eq!(parse_line(" 37 ", Some(&37)).ok(), Some(37));
        for (line, last, told) in [
            ("-1", None, "`-1` is no instant"),
            ("1.5", None, "`1.5` is no instant"),
            (
                "99999999999999999999",
                None,
                "99999999999999999999 ms is later than 31622400 s, the longest run",
            ),
            ("36", Some(37), "36 ms is earlier than the line before it, 37 ms"),
        ] {
            assert_eq!(parse_line(line, last.as_ref()).unwrap_err().message, told);
        }
    }

    proptest! {
        /// Whatever a file says, a link that is never idle has sent at each instant what the trace lets leave.
        #[test]
        fn a_busy_link_sends_what_the_trace_allows(mut instants in prop::collection::vec(0_u64..200, 1..60)) {
            instants.sort_unstable();
            prop_assume!(instants[instants.len() - 1] > 0);
            let cycle = Cycle::new(&instants).expect("it lasts");
            prop_assert!(cycle.rates.is_sorted_by(|one, other| one.0 < other.0));
            let mut ends = cycle.rates.iter().skip(1).map(|(begin, _)| *begin).collect::<Vec<_>>();
            ends.push(cycle.length_ms);
            let mut sent = 0.0;
            for ((begin, rate), end) in cycle.rates.iter().zip(ends) {
                sent += rate.as_bits_per_sec() as f64 * (end - begin) as f64 / 1_000.0;
                let is_last = end == cycle.length_ms;
                let may = instants.iter().filter(|at| **at <= end && (**at > 0 || is_last)).count();
                prop_assert!((sent - (may as u64 * PACKET_BITS) as f64).abs() < 60.0, "{sent} of {may} packets");
            }
        }
    }
}
