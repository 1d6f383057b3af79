//! Outputs of a live run that both commands have: how the machine kept up, the record, JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use slantpath_base::Instant;
use slantpath_live::record::Recorder;
use slantpath_live::{Host, Live, MibAssociation, MibValue, Program, SctpConfig, Station, TraceRecord};
use slantpath_profiles::Profile;
use slantpath_trace::{Record, TraceHeader, TraceOrigin, TraceSettings, TraceWriter, What};

use crate::arguments::LiveOutputArguments;
use crate::failure::Failure;

/// The files of a run, opened before it begins.
pub(super) struct Files {
    json: Option<(PathBuf, File)>,
    record: Option<(PathBuf, File)>,
    trace: Option<TraceFile>,
}

/// A run as whoever repeats it has to know it.
pub(crate) struct About<'a> {
    /// The command, without the program's name.
    pub(crate) command: &'a [String],
    /// The own addresses.
    pub(crate) addresses: &'a [IpAddr],
    /// The first of the own SCTP ports.
    pub(crate) first_port: u16,
    /// The hash of the scenario that the load was like.
    pub(crate) like: Option<String>,
    /// SCTP's settings.
    pub(crate) sctp: &'a SctpConfig,
    /// Settings by their names in scenarios; `None` if they are a flow's.
    pub(crate) profile: Option<&'a Profile>,
}

impl Files {
    pub(super) fn create(arguments: &LiveOutputArguments) -> Result<Self, Failure> {
        let LiveOutputArguments { json, record, trace } = arguments;
        for (one, other) in [(json, record), (json, trace), (record, trace)] {
            if let Some(path) = one.as_ref().filter(|one| other.as_ref() == Some(*one)) {
                let path = path.display();
                return Err(Failure::Misused(format!(
                    "{path} cannot hold two of --json, --record and --trace"
                )));
            }
        }
        let create = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Ok::<_, Failure>((path.clone(), created(path)?))).transpose()
        };
        Ok(Self {
            json: create(json)?,
            record: create(record)?,
            trace: trace.as_ref().map(|path| TraceFile::create(path)).transpose()?,
        })
    }

    /// Begins the record of a run that draws its chance from this secret, and its trace.
    pub(super) fn begin<P: Program>(
        &mut self,
        live: &mut Live<Station<P>>,
        secret: [u8; 32],
        about: &About<'_>,
    ) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.record {
            let mut recorder = Recorder::new(secret);
            recorder.about(&about.words());
            // At once, so that a file that cannot be written is known before anything is sent.
            file.write_all(&recorder.take()).map_err(Failure::of_file(path.clone()))?;
            live.record(recorder);
        }
        match &mut self.trace {
            Some(trace) => trace.begin(about),
            None => Ok(()),
        }
    }

    /// Writes what there is of the record and of the trace. A file that cannot be written is given up: it would have a
    /// gap.
    pub(super) fn keep<P: Program>(&mut self, live: &mut Live<Station<P>>) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.record
            && let Err(error) = file.write_all(&live.take_record())
        {
            let failure = Failure::of_file(path.clone())(error);
            self.record = None;
            return Err(failure);
        }
        if let Some(trace) = &mut self.trace
            && let Err(failure) = trace.keep(&mut live.host_mut().host)
        {
            self.trace = None;
            return Err(failure);
        }
        Ok(())
    }

    /// Writes the summary, and the last of all else.
    pub(super) fn finish<P: Program>(
        &mut self,
        live: &mut Live<Station<P>>,
        summary: &Value,
    ) -> Result<(), Failure> {
        live.end_record();
        self.keep(live)?;
        if let Some(trace) = &mut self.trace {
            trace.end(live.now())?;
        }
        let Some((path, file)) = &mut self.json else { return Ok(()) };
        file.write_all(format!("{summary:#}\n").as_bytes()).map_err(Failure::of_file(path.clone()))
    }
}

impl About<'_> {
    pub(crate) fn words(&self) -> String {
        // Secrets are not kept: with some the settings are read again, as a key is.
        let told = self.profile.filter(|profile| profile.table().shared_keys.is_none());
        let settings = told.map(|profile| profile.table().settings());
        json!({
            "command": self.command,
            "addresses": self.addresses,
            "first_port": self.first_port,
            "like": self.like,
            "settings": settings,
        })
        .to_string()
    }
}

pub(crate) fn created(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(Failure::of_file(path.to_owned()))
}

/// The trace of a run.
pub(crate) struct TraceFile {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    writer: Option<TraceWriter<BufWriter<File>>>,
}

impl TraceFile {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        Ok(Self { path: path.to_owned(), out: Some(BufWriter::new(created(path)?)), writer: None })
    }

    pub(crate) fn begin(&mut self, about: &About<'_>) -> Result<(), Failure> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let origin = TraceOrigin::Live { command: about.command.to_vec() };
        let profile = about.profile.map(|profile| profile.table().settings());
        let header = TraceHeader { origin, settings: TraceSettings::of(about.sctp), profile };
        self.writer = Some(TraceWriter::begin(out, &header).map_err(Failure::of_file(self.path.clone()))?);
        Ok(())
    }

    /// Writes what the host has told.
    pub(crate) fn keep(&mut self, host: &mut Host) -> Result<(), Failure> {
        let (records, dropped) = host.take_trace();
        records.iter().try_for_each(|record| self.write(record))?;
        match records.last().filter(|_| dropped > 0) {
            Some(last) => self.write_dropped(last, dropped),
            None => Ok(()),
        }
    }

    /// Writes what one association has told.
    pub(super) fn write(&mut self, traced: &TraceRecord) -> Result<(), Failure> {
        let record = Record::of_event(traced.at, traced.socket.0, &traced.event);
        record.map_or(Ok(()), |record| self.append(&record))
    }

    /// Writes that so many records behind this one were not kept.
    pub(super) fn write_dropped(&mut self, last: &TraceRecord, dropped: u64) -> Result<(), Failure> {
        let what = What::Dropped { records: dropped };
        self.append(&Record { at: last.at, association: last.socket.0, what })
    }

    fn append(&mut self, record: &Record) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write(record).map_err(Failure::of_file(self.path.clone()))
    }

    pub(crate) fn end(&mut self, at: Instant) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = writer.write(&Record { at, association: 0, what: What::End {} });
        written.and_then(|()| writer.flush()).map_err(Failure::of_file(self.path.clone()))
    }
}

/// Says what has become of own addresses and their links.
pub(crate) fn say_changes<H: slantpath_live::EndSystem>(live: &mut Live<H>) {
    while let Some(change) = live.poll_change() {
        // When nobody listens the work goes on.
        let _ = writeln!(io::stderr(), "{change}");
    }
}

/// Counters that tell how the machine kept up, as JSON.
pub(super) fn machine<H: slantpath_live::EndSystem>(live: &Live<H>) -> Value {
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
        // Of a run that is recorded.
        "digest": live.digest().map(ToString::to_string),
    })
}

/// The counters of the SCTP MIB (RFC 3873), as JSON, and columns of its table of associations, summed.
pub(super) fn sctp_mib<P: Program>(live: &Live<Station<P>>) -> Value {
    let counters = live.host().host.sctp_mib();
    Value::Object(counters.named().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect())
}

/// Associations as the tables of the SCTP MIB have them, as JSON: each value by its name there and in its unit.
pub(super) fn sctp_associations(rows: &[MibAssociation]) -> Value {
    let value = |value| match value {
        MibValue::Address(address) => json!(address),
        MibValue::Number(number) => json!(number),
        MibValue::Truth(truth) => json!(truth),
        MibValue::Word(word) => json!(word),
    };
    let object = |named: &[(&str, MibValue)]| {
        Value::Object(named.iter().map(|&(name, of)| (name.to_owned(), value(of))).collect())
    };
    let row = |association: &MibAssociation| {
        let mut row = object(&association.named());
        let local = association.local_addresses.iter().map(|address| object(&address.named()));
        let remote = association.rem_addresses.iter().map(|address| object(&address.named()));
        row["sctpAssocLocalAddrTable"] = local.collect();
        row["sctpAssocRemAddrTable"] = remote.collect();
        row
    };
    rows.iter().map(row).collect()
}

/// Prints how the machine kept up, in two lines.
pub(super) fn print_machine<H: slantpath_live::EndSystem>(
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
