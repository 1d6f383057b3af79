//! Directory of `slantpath load --out`: what was measured, for a report.

use std::path::Path;

use serde_json::{Value, json};
use slantpath_base::Duration;
use slantpath_instruments::LoadReport;

use crate::directory::{Contents, Directory};
use crate::failure::Failure;
use crate::interrupt;

const FILE: &str = "load.json";

/// Seconds that are kept: those of a day and a half, so that the file stays short.
pub(super) const SECONDS_MOST: usize = 131_072;

/// Messages of one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Second {
    /// Time at which it ends, in seconds.
    pub(super) at_s: f64,
    pub(super) sent: u64,
    pub(super) back: u64,
}

/// Directory that what is measured is to be kept in.
pub(super) struct KeptLoad(Directory);

impl KeptLoad {
    /// Makes the directory, and refuses one that holds other results.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        Directory::fresh(path, &[FILE]).map(Self)
    }

    /// Writes what was measured, with all that `--json` has.
    pub(super) fn write(
        mut self,
        command: &[String],
        report: &LoadReport,
        seconds: &[Second],
        all: &Value,
    ) -> Result<(), Failure> {
        let version = env!("CARGO_PKG_VERSION");
        let failovers = report.each_failover.iter();
        let failovers = failovers
            .map(|(took, at)| json!({ "at_s": at.as_secs_f64(), "took_s": took.as_secs_f64() }))
            .collect::<Vec<_>>();
        let seconds = seconds.iter().map(|second| {
            json!({ "at_s": second.at_s, "sent_messages": second.sent, "back_messages": second.back })
        });
        let whole = json!({
            "kind": "load",
            "version": version,
            "command": command,
            "summary": summary(report),
            "failovers": failovers,
            "seconds": seconds.collect::<Vec<_>>(),
            "report": all,
        });
        let text = format!("{whole:#}\n");
        let mut contents = Contents::default();
        contents.bytes(FILE, text.as_bytes());
        let mut manifest =
            json!({ "program": "slantpath", "version": version, "kind": "load", "command": command });
        // Ctrl-C has ended the load by now; what was measured until then is kept all the same.
        self.0.replace(&contents, &mut manifest, interrupt::never())?;
        Ok(())
    }
}

/// Results that a reader looks at first, each with its unit and its meaning.
fn summary(report: &LoadReport) -> Value {
    let seconds = |time: Option<Duration>| json!(time.map(Duration::as_secs_f64));
    let quantile = |place: usize| seconds(report.latency.map(|all| all[place]));
    let rows = [
        ("sent", json!(report.sent), "", "Messages given to SCTP."),
        ("echoed", json!(report.echoed), "", "Messages that came back."),
        ("abandoned", json!(report.abandoned), "", "Messages that were given up, as had been asked for."),
        (
            "unacknowledged",
            json!(report.unacknowledged),
            "",
            "Messages not acknowledged when their associations ended.",
        ),
        (
            "throughput",
            json!(report.throughput_bit_per_s),
            "bit/s",
            "Rate of the data that came back, or went out.",
        ),
        ("setup", seconds(report.setup), "s", "Time until the first association was up."),
        ("span", json!(report.span.as_secs_f64()), "s", "Time from then until the last message was back."),
        (
            "latency_mean",
            seconds(report.latency_mean),
            "s",
            "Mean time from when a message was due until it came back.",
        ),
        ("latency_median", quantile(0), "s", "Time that half of the messages did not exceed."),
        ("latency_p99", quantile(3), "s", "Time that 99 % of the messages did not exceed."),
        ("latency_max", quantile(5), "s", "Longest time until a message came back."),
        (
            "longest_gap",
            seconds(report.longest_gap.map(|(gap, _)| gap)),
            "s",
            "Longest time for which nothing came back although something was outstanding.",
        ),
        ("failovers", json!(report.failovers), "", "Failovers of associations."),
        (
            "longest_failover",
            seconds(report.longest_failover.map(|(took, _)| took)),
            "s",
            "Longest failover, from the last packet that the former path has answered.",
        ),
        ("failures", json!(report.failures.len()), "", "Associations that failed."),
    ];
    let row = |(name, value, unit, meaning)| {
        let row: (&str, Value, &str, &str) = (name, value, unit, meaning);
        json!({ "name": row.0, "value": row.1, "unit": row.2, "meaning": row.3 })
    };
    rows.into_iter().map(row).collect()
}
