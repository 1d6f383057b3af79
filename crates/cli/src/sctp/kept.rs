//! Files of what programs' associations did: a capture, a record and a trace.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use slantpath_daemon::Daemon;
use slantpath_live::record::Recorder;
use slantpath_profiles::Profile;

use super::opened::Opened;
use crate::arguments::ProgramArguments;
use crate::failure::Failure;
use crate::live::outputs::{About, TraceFile, created};

/// The files, opened before anything is.
pub(super) struct Kept {
    capture: Option<(PathBuf, File)>,
    trace: Option<TraceFile>,
    record: Option<(PathBuf, File)>,
}

impl Kept {
    pub(super) fn create(arguments: &ProgramArguments) -> Result<Self, Failure> {
        let ProgramArguments { capture, trace, record, .. } = arguments;
        for (one, other) in [(capture, trace), (capture, record), (trace, record)] {
            if let Some(path) = one.as_ref().filter(|one| other.as_ref() == Some(*one)) {
                let path = path.display();
                return Err(Failure::Misused(format!(
                    "{path} cannot hold two of --capture, --record and --trace"
                )));
            }
        }
        let create = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| Ok::<_, Failure>((path.clone(), created(path)?))).transpose()
        };
        Ok(Self {
            capture: create(capture)?,
            record: create(record)?,
            trace: trace.as_ref().map(|path| TraceFile::create(path)).transpose()?,
        })
    }

    /// Begins what is kept of a run.
    pub(super) fn begin(
        &mut self,
        opened: &mut Opened,
        command: &[String],
        profile: &Profile,
    ) -> Result<(), Failure> {
        if self.capture.is_some() {
            opened.daemon.live().begin_capture();
        }
        let about = About {
            command,
            addresses: &opened.addresses,
            first_port: opened.udp_port,
            like: None,
            sctp: &opened.sctp,
            profile: Some(profile),
        };
        if let Some((path, file)) = &mut self.record {
            let mut recorder = Recorder::new(opened.secret);
            recorder.about(&about.words());
            // At once, so that a file that cannot be written is known before anything is sent.
            file.write_all(&recorder.take()).map_err(Failure::of_file(path.clone()))?;
            opened.daemon.record(recorder);
        }
        self.trace.as_mut().map_or(Ok(()), |trace| trace.begin(&about))
    }

    /// Writes what there is. A file that cannot be written is given up: it would have a gap.
    pub(super) fn keep(&mut self, daemon: &mut Daemon) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.capture
            && let Err(error) = file.write_all(&daemon.live().take_capture())
        {
            let failure = Failure::of_file(path.clone())(error);
            self.capture = None;
            return Err(failure);
        }
        if let Some((path, file)) = &mut self.record
            && let Err(error) = file.write_all(&daemon.live().take_record())
        {
            let failure = Failure::of_file(path.clone())(error);
            self.record = None;
            return Err(failure);
        }
        if let Some(trace) = &mut self.trace
            && let Err(failure) = trace.keep(&mut daemon.live().host_mut().host)
        {
            self.trace = None;
            return Err(failure);
        }
        Ok(())
    }

    /// Writes the last of all.
    pub(super) fn finish(&mut self, daemon: &mut Daemon) -> Result<(), Failure> {
        daemon.live().end_record();
        self.keep(daemon)?;
        let now = daemon.live().now();
        self.trace.as_mut().map_or(Ok(()), |trace| trace.end(now))
    }
}
