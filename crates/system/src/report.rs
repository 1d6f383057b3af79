//! Words of a child to its parent from between `fork` and `exec`, where nothing may be allocated.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};

use crate::failure::SystemStep;

/// A record is a number and a value. Fewer bytes than a pipe takes at once, so that two writers do not mix theirs.
const RECORD: usize = 8;
/// The number of a record whose value is the id of a process; others are those of steps.
const PROCESS: u32 = 0;

/// The child's end: it tells which step was refused.
#[derive(Debug)]
pub(crate) struct Report(PipeWriter);

/// The parent's end of the pipe.
#[derive(Debug)]
pub(crate) struct Reports(PipeReader);

/// Content of all records of a child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Step that was refused.
    pub(crate) refused: Option<SystemStep>,
    /// Number of the error with which it was refused, if the system has said one.
    pub(crate) error: Option<i32>,
    /// Id of the process that the child has started.
    pub(crate) process: Option<i32>,
}

/// Opens both ends, which are closed by `exec`.
pub(crate) fn reports() -> io::Result<(Reports, Report)> {
    let (reader, writer) = io::pipe()?;
    Ok((Reports(reader), Report(writer)))
}

impl Report {
    /// Passes the result of a step on, and tells the parent if it was refused. It allocates nothing.
    pub(crate) fn step<T>(&self, step: SystemStep, result: Result<T, impl Into<io::Error>>) -> io::Result<T> {
        result.map_err(|error| {
            let error = error.into();
            // A parent that does not read is told by the exit code alone.
            let _ = (&self.0).write(&record(step as u32, error.raw_os_error().unwrap_or_default()));
            error
        })
    }

    /// Tells which process has been started.
    pub(crate) fn process(&self, pid: i32) -> io::Result<()> {
        (&self.0).write(&record(PROCESS, pid)).map(|_| ())
    }
}

impl Reports {
    /// Reads to the end, which comes when the last process that has a [`Report`] ends or starts its program.
    pub(crate) fn read(mut self) -> io::Result<Told> {
        let mut octets = Vec::new();
        self.0.read_to_end(&mut octets)?;
        Ok(told(&octets))
    }
}

fn record(number: u32, value: i32) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..4].copy_from_slice(&number.to_ne_bytes());
    record[4..].copy_from_slice(&value.to_ne_bytes());
    record
}

fn told(octets: &[u8]) -> Told {
    let mut told = Told::default();
    for &[a, b, c, d, e, f, g, h] in octets.as_chunks::<RECORD>().0 {
        match u32::from_ne_bytes([a, b, c, d]) {
            PROCESS => told.process = Some(i32::from_ne_bytes([e, f, g, h])),
            // The first is the cause of those that follow.
            number if told.refused.is_none() => {
                told.refused = SystemStep::of_number(number);
                let error = told.refused.map(|_| i32::from_ne_bytes([e, f, g, h]));
                told.error = error.filter(|error| *error != 0);
            }
            _ => {}
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn the_parent_hears_of_the_process_and_of_the_first_refusal() {
        let (reports, report) = reports().unwrap();
        assert_eq!(report.step(SystemStep::Fork, Ok::<_, Errno>(3)).unwrap(), 3);
        report.process(77).unwrap();
        for step in [SystemStep::IdentityMap, SystemStep::Exec] {
            let error = report.step::<()>(step, Err(Errno::EPERM)).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::EPERM as i32));
        }
        drop(report);
        let error = Some(Errno::EPERM as i32);
        let expected = Told { refused: Some(SystemStep::IdentityMap), error, process: Some(77) };
        assert_eq!(reports.read().unwrap(), expected);
    }

    #[test]
    fn any_octets_are_read_to_an_end() {
        assert_eq!(told(&[]), Told::default());
        assert_eq!(told(&[0; 7]), Told::default());
        assert_eq!(told(&[255; 19]), Told::default());
        assert_eq!(told(&[0; 9]), Told { refused: None, error: None, process: Some(0) });
    }
}
