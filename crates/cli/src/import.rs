//! `slantpath import`: scenarios of what a packet capture shows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};
use slantpath_base::Instant;
use slantpath_capture::{
    CaptureReader, CapturedProtocol, Filter, Finding, FlowReport, ImportReport, ImportedLoad, Importer,
    LinkType, PointCodeFormat, Unused,
};

use crate::arguments::{ImportArguments, Importable, PointCodes};
use crate::failure::Failure;
use crate::table::TextTable;
use crate::{interrupt, terminal};

/// Frames after which an interruption is noticed.
const LOOK_EVERY: u64 = 4_096;

pub(crate) fn main(arguments: &ImportArguments, out: &mut impl Write) -> Result<(), Failure> {
    let capture = &arguments.capture;
    let place = capture.display();
    let misused = |error: String| Failure::Misused(format!("{place}: {error}"));
    let file = File::open(capture).map_err(|error| misused(error.to_string()))?;
    let reader = CaptureReader::open(file).map_err(|error| misused(format!("{error}; {}", error.help())))?;
    let made = Made::create(&arguments.out.clone().unwrap_or_else(|| named_after(capture)))?;
    let name = capture.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (report, cut) = import(reader, &name, arguments, &made)?;
    if report.is_empty() {
        let message = nothing(&report, cut.as_deref());
        return Err(misused(message));
    }
    if let Some(cut) = cut {
        terminal::warn(&format!("{place}: {cut}"))?;
    }
    warn(&report)?;
    let format = format_of(arguments.point_codes);
    if arguments.json {
        writeln!(out, "{:#}", json(&report, format))?;
    } else {
        tell(&report, &name, format, &made, out)?;
    }
    made.keep();
    Ok(())
}

/// Prints findings, those that have one cure together.
fn warn(report: &ImportReport) -> io::Result<()> {
    let mut groups: Vec<(&Finding, usize)> = Vec::new();
    for finding in &report.findings {
        match groups.iter_mut().find(|(first, _)| first.help == finding.help) {
            Some((_, more)) => *more += 1,
            None => groups.push((finding, 0)),
        }
    }
    for (finding, more) in groups {
        let (message, help) = (&finding.message, finding.help);
        let more = if more > 0 { format!(" (and {more} more like it)") } else { String::new() };
        terminal::warn(&format!("{message}{more}; {help}"))?;
    }
    Ok(())
}

/// Reads the whole capture. Gives what was seen, and where it is cut or broken, if it is.
fn import(
    mut reader: CaptureReader<File>,
    name: &str,
    arguments: &ImportArguments,
    made: &Made,
) -> Result<(ImportReport, Option<String>), Failure> {
    let stop = interrupt::flag();
    let mut importer = Importer::new(filter(arguments), format_of(arguments.point_codes));
    let mut append = |file: &str, text: &str| made.append(file, text);
    let mut cut = None;
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => importer.frame(&frame, &mut append)?,
            Ok(None) => break,
            Err(error) if error.is_behind_frames() => {
                cut = Some(format!("{error}; what comes before is imported. {}", capitalised(error.help())));
                break;
            }
            Err(error) => return Err(Failure::Failed(format!("{}: {error}", arguments.capture.display()))),
        }
        if reader.frames().is_multiple_of(LOOK_EVERY) && stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("interrupted: nothing was written".to_owned()));
        }
    }
    Ok((importer.finish(name, &mut append)?, cut))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn filter(arguments: &ImportArguments) -> Filter {
    let ports = arguments.port.clone();
    if arguments.only.is_empty() {
        return Filter { ports, ..Filter::default() };
    }
    let has = |wanted: Importable| arguments.only.contains(&wanted);
    let protocols = [
        (Importable::Sctp, CapturedProtocol::Sctp),
        (Importable::Tcp, CapturedProtocol::Tcp),
        (Importable::Udp, CapturedProtocol::Udp),
    ];
    Filter {
        protocols: protocols
            .into_iter()
            .filter(|(name, _)| has(*name))
            .map(|(_, protocol)| protocol)
            .collect(),
        m2pa: has(Importable::M2pa),
        m3ua: has(Importable::M3ua),
        mtp: has(Importable::Mtp),
        ports,
    }
}

pub(crate) const fn format_of(codes: PointCodes) -> PointCodeFormat {
    match codes {
        PointCodes::Ansi => PointCodeFormat::Ansi,
        PointCodes::Itu => PointCodeFormat::Itu,
        PointCodes::Ttc => PointCodeFormat::Ttc,
    }
}

/// A directory in this one, by the capture's name without its end.
fn named_after(capture: &Path) -> PathBuf {
    capture.file_stem().map_or_else(|| PathBuf::from("imported"), PathBuf::from)
}

/// A directory that was made for what is imported. It goes with its value, unless that is kept.
struct Made {
    path: PathBuf,
    is_kept: bool,
}

impl Made {
    /// Makes the directory. One that exists is left as it is.
    fn create(path: &Path) -> Result<Self, Failure> {
        match fs::create_dir(path) {
            Ok(()) => Ok(Self { path: path.to_owned(), is_kept: false }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Failure::Misused(format!(
                "`{}` exists, and nothing is overwritten; name another directory with `--out DIR`, or remove it",
                path.display()
            ))),
            Err(error) => Err(Failure::of_file(path.to_owned())(error)),
        }
    }

    fn append(&self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.path.join(file);
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Failure::of_file(path))
    }

    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nobody else can have put anything there that is not ours to take away: it was made a moment ago.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Why there is nothing to import, and what would help.
fn nothing(report: &ImportReport, cut: Option<&str>) -> String {
    let unused: Vec<String> =
        unused(report).into_iter().map(|(count, words)| format!("{count} {words}")).collect();
    let counts = if unused.is_empty() { String::new() } else { format!(" ({})", unused.join(", ")) };
    let cut = cut.map_or_else(String::new, |cut| format!("{cut}; "));
    let links: Vec<String> = report.other_links.keys().map(LinkType::to_string).collect();
    if report.unused.get(&Unused::OtherLink) == Some(&report.frames) && !links.is_empty() {
        return format!(
            "{cut}its link type is {}, of which nothing is read; capture on a link of {}",
            links.join(", "),
            LinkType::READ
        );
    }
    let help = if report.unused.contains_key(&Unused::Filtered) {
        "leave out `--only` or `--port`, or name others"
    } else {
        "capture where data of SCTP, TCP or UDP passes, or signal units"
    };
    format!("{cut}none of its {} frames has a message to import{counts}; {help}", report.frames)
}

fn unused(report: &ImportReport) -> Vec<(u64, &'static str)> {
    report.unused.iter().map(|(unused, count)| (*count, unused.words())).collect()
}

fn tell(
    report: &ImportReport,
    name: &str,
    format: PointCodeFormat,
    made: &Made,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "{name}: {} frames in {}", report.frames, report.duration())?;
    if !report.flows.is_empty() {
        let mut table = TextTable::default();
        table.row(["flow", "from", "to", "messages", "bytes", "s", "repeated"].map(str::to_owned));
        for flow in &report.flows {
            let FlowReport { name, sources, destinations, messages, bytes, repeated, .. } = flow;
            let from = end(sources, flow.source_port);
            let to = end(destinations, flow.destination_port);
            let seconds = seconds(flow.first, flow.last);
            table.row([
                name.clone(),
                from,
                to,
                messages.to_string(),
                bytes.to_string(),
                seconds,
                repeated.to_string(),
            ]);
        }
        writeln!(out)?;
        table.print(3, out)?;
    }
    if !report.loads.is_empty() {
        let mut table = TextTable::default();
        table.row(["load", "from", "to", "messages", "octets", "s"].map(str::to_owned));
        for load in &report.loads {
            let ImportedLoad { name, from, to, messages, octets, .. } = load;
            let [from, to] = [from, to].map(|code| code.display(format).to_string());
            let seconds = seconds(load.first, load.last);
            table.row([name.clone(), from, to, messages.to_string(), octets.to_string(), seconds]);
        }
        writeln!(out)?;
        table.print(3, out)?;
    }
    if report.reassembled > 0 {
        writeln!(out, "\nput together of fragments: {} packets", report.reassembled)?;
    }
    if !report.unused.is_empty() {
        writeln!(out, "\nnot used:")?;
        for (count, words) in unused(report) {
            writeln!(out, "  {count} {words}")?;
        }
    }
    let place = made.path.display();
    writeln!(out)?;
    for (is_there, file) in
        [(!report.flows.is_empty(), "flows.toml"), (!report.loads.is_empty(), "signalling.toml")]
    {
        if is_there {
            writeln!(out, "slantpath run {place}/{file}")?;
        }
    }
    Ok(())
}

/// An end with all of its addresses.
pub(crate) fn end(addresses: &[IpAddr], port: u16) -> String {
    let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    format!("{} port {port}", addresses.join(","))
}

fn seconds(first: Instant, last: Instant) -> String {
    format!("{:.3}", last.saturating_since(first).as_secs_f64())
}

fn json(report: &ImportReport, format: PointCodeFormat) -> Json {
    let flow = |flow: &FlowReport| {
        json!({
            "name": flow.name,
            "protocol": flow.protocol.name(),
            "sources": flow.sources.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
            "destinations": flow.destinations.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
            "source_port": flow.source_port,
            "destination_port": flow.destination_port,
            "messages": flow.messages,
            "bytes": flow.bytes,
            "first_ns": flow.first.as_nanos(),
            "last_ns": flow.last.as_nanos(),
            "repeated": flow.repeated,
            "missing": flow.missing,
            "incomplete": flow.incomplete,
            "resized": flow.resized,
            "late": flow.late,
            "is_from_the_start": flow.is_from_the_start,
            "is_answered": flow.is_answered,
        })
    };
    let load = |load: &ImportedLoad| {
        json!({
            "name": load.name,
            "from": load.from.display(format).to_string(),
            "to": load.to.display(format).to_string(),
            "messages": load.messages,
            "octets": load.octets,
            "first_ns": load.first.as_nanos(),
            "last_ns": load.last.as_nanos(),
            "resized": load.resized,
            "late": load.late,
        })
    };
    let unused: serde_json::Map<String, Json> =
        unused(report).into_iter().map(|(count, words)| (words.to_owned(), count.into())).collect();
    json!({
        "frames": report.frames,
        "reassembled": report.reassembled,
        "not_used": unused,
        "flows": report.flows.iter().map(flow).collect::<Vec<_>>(),
        "loads": report.loads.iter().map(load).collect::<Vec<_>>(),
        "warnings": report.findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>(),
    })
}
