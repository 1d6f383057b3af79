//! What both commands print and write of a live run: how the machine kept up, the record, JSON.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use slantpath_live::record::Recorder;
use slantpath_live::{Live, Program, Station};

use crate::arguments::LiveOutputArguments;
use crate::failure::Failure;

/// The files of a run, opened before it begins.
pub(super) struct Files {
    json: Option<(PathBuf, File)>,
    record: Option<(PathBuf, File)>,
}

impl Files {
    pub(super) fn create(arguments: &LiveOutputArguments) -> Result<Self, Failure> {
        let create = |path: &Option<PathBuf>| {
            let created = |path: &PathBuf| match File::create(path) {
                Ok(file) => Ok((path.clone(), file)),
                Err(error) => Err(Failure::of_file(path.clone())(error)),
            };
            path.as_ref().map(created).transpose()
        };
        Ok(Self { json: create(&arguments.json)?, record: create(&arguments.record)? })
    }

    /// Begins the record of a run that draws its chance from this secret.
    pub(super) fn begin<P: Program>(&self, live: &mut Live<Station<P>>, secret: [u8; 32]) {
        if self.record.is_some() {
            live.record(Recorder::new(secret));
        }
    }

    /// Writes what there is of the record.
    pub(super) fn keep<P: Program>(&mut self, live: &mut Live<Station<P>>) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.record else { return Ok(()) };
        file.write_all(&live.take_record()).map_err(Failure::of_file(path.clone()))
    }

    /// Writes the summary.
    pub(super) fn finish(&mut self, summary: &Value) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.json else { return Ok(()) };
        writeln!(file, "{summary:#}").map_err(Failure::of_file(path.clone()))
    }
}

/// How the machine kept up, as JSON.
pub(super) fn machine<H: slantpath_live::Interface>(live: &Live<H>) -> Value {
    let (counters, lateness) = (live.counters(), live.lateness());
    let seconds = |share| lateness.quantile(share).as_secs_f64();
    json!({
        "packets_sent": counters.packets_sent,
        "packets_received": counters.packets_received,
        "packets_not_sent": counters.packets_not_sent,
        "packets_too_long": counters.packets_too_long,
        "packets_of_others": counters.packets_of_others,
        "reports": counters.reports,
        "send_calls": counters.send_calls,
        "receive_calls": counters.receive_calls,
        "wait_calls": counters.wait_calls,
        "deadlines": lateness.served(),
        "lateness_p50_s": seconds(0.5),
        "lateness_p99_s": seconds(0.99),
        "lateness_max_s": lateness.max().as_secs_f64(),
        "digest": live.digest().to_string(),
    })
}

/// The counters of the SCTP MIB (RFC 3873), as JSON.
pub(super) fn sctp_mib<P: Program>(live: &Live<Station<P>>) -> Value {
    let counters = live.host().host.sctp_mib();
    Value::Object(counters.named().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect())
}

/// How the machine kept up, in two lines.
pub(super) fn print_machine<H: slantpath_live::Interface>(
    live: &Live<H>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (counters, lateness) = (live.counters(), live.lateness());
    let micros = |share| lateness.quantile(share).as_micros();
    writeln!(
        out,
        "packets: {} sent with {} calls, {} received with {}; not sent: {}, too long: {}, reported: {}",
        counters.packets_sent,
        counters.send_calls,
        counters.packets_received,
        counters.receive_calls,
        counters.packets_not_sent,
        counters.packets_too_long,
        counters.reports,
    )?;
    writeln!(
        out,
        "deadlines: {} served, late by {} µs (median), {} µs (99 %), {} µs (at most)",
        lateness.served(),
        micros(0.5),
        micros(0.99),
        lateness.max().as_micros(),
    )
}
