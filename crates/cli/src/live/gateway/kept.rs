//! Files of a point that is live: its record, captures, and what each of its associations decided.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde_json::json;
use slantpath_base::Instant;
use slantpath_control::Refusal;
use slantpath_gateway::{
    AssociationNumber, CaptureChange, CopiedMessage, Seat, SeatAssociation, SocketTaken, Successor,
};
use slantpath_live::record::Recorder;
use slantpath_live::{InterfaceId, Live, SocketId, Station};
use slantpath_wire::pcapng::{CaptureInterface, CapturedKind, Direction, Writer};

use super::prepared::Prepared;
use super::reload::{Reloaded, in_words};
use crate::arguments::SeatOutputArguments;
use crate::failure::Failure;
use crate::live::outputs::{About, TraceFile, created};

/// The files, opened before anything is.
pub(super) struct Kept {
    record: Option<(PathBuf, File)>,
    capture: Option<(PathBuf, File)>,
    /// True if the capture was ordered while the point ran: it ends without the run.
    is_capture_ordered: bool,
    copies: Option<CopyFile>,
    traces: Option<TraceFiles>,
}

impl Kept {
    pub(super) fn create(arguments: &SeatOutputArguments, prepared: &Prepared) -> Result<Self, Failure> {
        let SeatOutputArguments { record, capture, copies, trace } = arguments;
        let mut known = BTreeSet::new();
        let named = [record, capture, copies, trace].into_iter().flatten();
        if let Some(path) = named.into_iter().find(|path| !known.insert(*path)) {
            let path = path.display();
            let twice = format!("{path} cannot hold two of --record, --capture, --copies and --trace");
            return Err(Failure::Misused(twice));
        }
        let create = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Ok::<_, Failure>((path.clone(), created(path)?))).transpose()
        };
        Ok(Self {
            record: create(record)?,
            capture: create(capture)?,
            is_capture_ordered: false,
            copies: create(copies)?.map(CopyFile::new),
            traces: trace.as_ref().map(|path| TraceFiles::create(path, prepared)).transpose()?,
        })
    }

    /// Begins what is kept of a run that draws its chance from this secret.
    pub(super) fn begin(
        &mut self,
        live: &mut Live<Station<Seat>>,
        secret: [u8; 32],
        command: &[String],
        prepared: &Prepared,
    ) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.record {
            let mut recorder = Recorder::new(secret);
            recorder.about(&words(command, prepared));
            // At once, so that a file that cannot be written is known before anything is sent.
            file.write_all(&recorder.take()).map_err(Failure::of_file(path.clone()))?;
            live.record(recorder);
        }
        if self.capture.is_some() {
            live.begin_capture();
        }
        if self.copies.is_some() {
            live.host_mut().program.copies_mut().want();
        }
        self.traces.as_mut().map_or(Ok(()), |traces| traces.begin(command, prepared))
    }

    /// Words by which a record has a reload, if there is one.
    pub(super) fn words_of_reload(&self, next: &Prepared, addresses: &[(IpAddr, InterfaceId)]) -> String {
        if self.record.is_none() { String::new() } else { Reloaded::words(next, addresses) }
    }

    /// Refuses a reload that cannot be kept.
    pub(super) fn check(&self, next: &Prepared) -> Result<(), Failure> {
        if self.record.is_some() && has_keys(next) {
            let why = "a record holds no scenario with shared keys, so that it can hold no reload of one: restart for \
                       this, or record no more";
            return Err(Failure::Failed(why.to_owned()));
        }
        Ok(())
    }

    /// Goes on with what is kept of a run that is reloaded.
    pub(super) fn go_on(&mut self, command: &[String], successor: &Successor) -> Result<(), Failure> {
        self.traces.as_mut().map_or(Ok(()), |traces| traces.go_on(command, successor))
    }

    /// Writes what there is. A file that cannot be written is given up: it would have a gap.
    pub(super) fn keep(&mut self, live: &mut Live<Station<Seat>>) -> Result<(), Failure> {
        let record = keep(&mut self.record, &live.take_record());
        let mut capture = keep(&mut self.capture, &live.take_capture());
        if self.is_capture_ordered
            && let Err(failure) = &capture
        {
            let reason = in_words(failure);
            live.end_capture();
            tell(live, CaptureChange::GivenUp(reason));
            (capture, self.is_capture_ordered) = (Ok(()), false);
        }
        let traces = match &mut self.traces {
            Some(traces) => traces.keep(live.host_mut()),
            None => Ok(()),
        };
        if traces.is_err() {
            self.traces = None;
        }
        let copies = self.copies.as_mut().map_or(Ok(()), |copies| copies.keep(live.host_mut()));
        record.and(capture).and(copies).and(traces)
    }

    /// Begins a capture that is ordered while the point runs.
    pub(super) fn begin_capture(
        &mut self,
        live: &mut Live<Station<Seat>>,
        path: &Path,
    ) -> Result<(), Refusal> {
        if let Some((other, _)) = &self.capture {
            let refusal = Refusal::new(format!("packets are captured already, into {}", other.display()));
            return Err(refusal.help("end that capture first, or wait for its end"));
        }
        let file = File::create_new(path).map_err(|error| {
            let refusal = Refusal::new(format!("{}: {error}", path.display()));
            refusal.help("name a new file, where the user of the gateway may write")
        })?;
        (self.capture, self.is_capture_ordered) = (Some((path.to_owned(), file)), true);
        live.begin_capture();
        tell(live, CaptureChange::Begun(path.display().to_string()));
        Ok(())
    }

    /// Ends a capture, one of the start too. Gives where it is.
    pub(super) fn end_capture(&mut self, live: &mut Live<Station<Seat>>) -> Result<PathBuf, Refusal> {
        let Some((path, _)) = &self.capture else {
            return Err(Refusal::new("nothing is captured").help("begin with the path of a file"));
        };
        let path = path.clone();
        let written = keep(&mut self.capture, &live.end_capture());
        (self.capture, self.is_capture_ordered) = (None, false);
        match written {
            Ok(()) => {
                tell(live, CaptureChange::Ended(path.display().to_string()));
                Ok(path)
            }
            Err(failure) => {
                let reason = in_words(&failure);
                tell(live, CaptureChange::GivenUp(reason.clone()));
                Err(Refusal::new(reason).help("what was written before is there"))
            }
        }
    }

    /// Writes the last of all.
    pub(super) fn finish(&mut self, live: &mut Live<Station<Seat>>) -> Result<(), Failure> {
        live.end_record();
        self.keep(live)?;
        let now = live.now();
        self.traces.as_mut().map_or(Ok(()), |traces| traces.end(now))
    }
}

fn tell(live: &mut Live<Station<Seat>>, change: CaptureChange) {
    let now = live.now();
    live.host_mut().program.tell_capture(now, change);
}

/// Messages that screening rules have copied, as a capture of MTP3.
struct CopyFile {
    file: Option<(PathBuf, File)>,
    writer: Writer,
    interface: CaptureInterface,
}

impl CopyFile {
    fn new(file: (PathBuf, File)) -> Self {
        let mut writer = Writer::new();
        let interface = writer.interface_of(CapturedKind::Mtp3, "screening");
        Self { file: Some(file), writer, interface }
    }

    fn keep(&mut self, station: &mut Station<Seat>) -> Result<(), Failure> {
        while let Some(CopiedMessage { at, rule, octets }) = station.program.copies_mut().take() {
            self.writer.packet(self.interface, at, &octets, Direction::Inbound, Some(&rule));
        }
        keep(&mut self.file, &self.writer.take())
    }
}

/// Appends to a file, or gives it up.
fn keep(file: &mut Option<(PathBuf, File)>, bytes: &[u8]) -> Result<(), Failure> {
    let Some((path, open)) = file else { return Ok(()) };
    let written = open.write_all(bytes).map_err(Failure::of_file(path.clone()));
    if written.is_err() {
        *file = None;
    }
    written
}

/// Description of the run for whoever repeats it: the scenario is in it, as it was read. Shared keys are not: with some
/// it is read again.
fn words(command: &[String], prepared: &Prepared) -> String {
    json!({
        "command": command,
        "addresses": prepared.own,
        "first_port": 0,
        "scenario": (!has_keys(prepared)).then(|| prepared.scenario.canonical_with_live()),
        "scenario_hash": prepared.hash,
    })
    .to_string()
}

fn has_keys(prepared: &Prepared) -> bool {
    prepared.scenario.sctp.iter().any(|(_, profile)| profile.shared_keys.is_some())
}

/// Traces of the associations of a seat, each a file of a directory.
pub(in crate::live) struct TraceFiles {
    directory: PathBuf,
    /// Names of the files: one that a former association had is not written anew.
    names: BTreeSet<String>,
    files: BTreeMap<AssociationNumber, TraceFile>,
    /// Association that has a socket.
    sockets: BTreeMap<SocketId, AssociationNumber>,
}

impl TraceFiles {
    pub(in crate::live) fn create(directory: &Path, prepared: &Prepared) -> Result<Self, Failure> {
        fs::create_dir_all(directory).map_err(Failure::of_file(directory.to_owned()))?;
        let (names, files, sockets) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        let mut own = Self { directory: directory.to_owned(), names, files, sockets };
        for (number, association) in prepared.numbered() {
            let file = own.file(&association.name)?;
            own.files.insert(number, file);
        }
        Ok(own)
    }

    /// Creates the file of an association: `NAME.trace`, or `NAME-2.trace` if a former one of the name has that.
    fn file(&mut self, name: &str) -> Result<TraceFile, Failure> {
        let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
        let mut free = std::iter::once(name.to_owned()).chain(numbered);
        let name = free.find(|name| !self.names.contains(name)).unwrap_or_default();
        let file = TraceFile::create(&self.directory.join(format!("{name}.trace")))?;
        self.names.insert(name);
        Ok(file)
    }

    pub(in crate::live) fn begin(&mut self, command: &[String], prepared: &Prepared) -> Result<(), Failure> {
        for (number, association) in prepared.numbered() {
            if let Some(file) = self.files.get_mut(&number) {
                begin(file, command, association)?;
            }
        }
        Ok(())
    }

    /// Begins the files of the associations that a reload brings: all, or none of them.
    pub(in crate::live) fn go_on(
        &mut self,
        command: &[String],
        successor: &Successor,
    ) -> Result<(), Failure> {
        let mut begun = Vec::new();
        for (number, association) in successor.associations() {
            if !self.files.contains_key(&number) {
                let mut file = self.file(&association.name)?;
                begin(&mut file, command, association)?;
                begun.push((number, file));
            }
        }
        self.files.extend(begun);
        Ok(())
    }

    /// Writes what the associations have told, each into its file.
    pub(in crate::live) fn keep(&mut self, station: &mut Station<Seat>) -> Result<(), Failure> {
        let (records, dropped) = station.host.take_trace();
        let mut taken = station.program.poll_socket();
        let mut latest = None;
        for record in &records {
            // A socket that is used again is the next one's from then on.
            while let Some(SocketTaken { association, socket, .. }) = taken.filter(|new| new.at <= record.at)
            {
                self.sockets.insert(socket, association);
                taken = station.program.poll_socket();
            }
            // Of a caller whom nobody knows there is no file.
            let number = self.sockets.get(&record.socket).copied();
            if let Some((number, file)) =
                number.and_then(|number| Some((number, self.files.get_mut(&number)?)))
            {
                file.write(record)?;
                latest = Some((number, record));
            }
        }
        while let Some(SocketTaken { association, socket, .. }) = taken {
            self.sockets.insert(socket, association);
            taken = station.program.poll_socket();
        }
        // Whose they were is not known.
        let file = latest.and_then(|(number, last)| Some((self.files.get_mut(&number)?, last)));
        match file.filter(|_| dropped > 0) {
            Some((file, last)) => file.write_dropped(last, dropped),
            None => Ok(()),
        }
    }

    pub(in crate::live) fn end(&mut self, at: Instant) -> Result<(), Failure> {
        self.files.values_mut().try_for_each(|file| file.end(at))
    }
}

fn begin(file: &mut TraceFile, command: &[String], association: &SeatAssociation) -> Result<(), Failure> {
    let port = &association.port;
    file.begin(&About {
        command,
        addresses: &port.local_addresses,
        first_port: port.local_port,
        like: None,
        sctp: &port.sctp,
        profile: None,
    })
}
