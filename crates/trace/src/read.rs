//! Reads a trace, whatever stands in the file.

use std::io::{self, BufRead, Read as _};

use serde_json::{Map, Value};
use slantpath_base::Instant;

use crate::header::{TraceHeader, VERSION};
use crate::record::{Record, RecordFault};

/// Why a file cannot be read as a trace.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("line {line}: {error}")]
    Io {
        /// Number of the line that was read.
        line: u64,
        /// Error of the input.
        error: io::Error,
    },
    /// The file does not begin as a trace does.
    #[error("line 1: not a trace: a trace begins with {{\"slantpath_trace\":1, …}}")]
    NotATrace,
    /// The trace is of another version.
    #[error("line 1: a trace of version {0}; this program reads version {VERSION}")]
    Version(u64),
    /// The header lacks something.
    #[error("line 1: the header lacks what its origin or its settings are to be known by")]
    Header,
    /// A line is longer than any that is written.
    #[error("line {line}: longer than {LINE_MAX} bytes")]
    TooLong {
        /// Number of the line.
        line: u64,
    },
    /// A line ends in the middle.
    #[error(
        "line {line}: it ends in the middle: the trace was not written to its end, or is still written; make it anew"
    )]
    Cut {
        /// Number of the line.
        line: u64,
    },
    /// A line is no object of JSON.
    #[error("line {line}: not an object of JSON: {why}")]
    NotAnObject {
        /// Number of the line.
        line: u64,
        /// Fault of the line.
        why: String,
    },
    /// A line tells of something that there is not.
    #[error("line {line}: there is no event `{event}`")]
    UnknownEvent {
        /// Number of the line.
        line: u64,
        /// Name of the event in the line.
        event: String,
    },
    /// A line lacks a field, or what stands there cannot be.
    #[error("line {line}: `{field}` is missing, or not what stands there in a trace")]
    Field {
        /// Number of the line.
        line: u64,
        /// Name of the field.
        field: &'static str,
    },
    /// Time goes back.
    #[error("line {line}: an instant before that of the line before")]
    Disordered {
        /// Number of the line.
        line: u64,
    },
}

/// No line that is written is longer, in bytes.
const LINE_MAX: u64 = 64 * 1_024;

/// Reads records one by one. What it holds is one line, which is bounded.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: R,
    header: TraceHeader,
    line: u64,
    latest: Instant,
    is_over: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header.
    pub fn open(mut input: R) -> Result<Self, ReadError> {
        // Whatever is no object is no trace of any version.
        let found = match next_line(&mut input, 1) {
            Ok(found) => found,
            Err(error @ ReadError::Io { .. }) => return Err(error),
            Err(_) => return Err(ReadError::NotATrace),
        };
        let first = found.ok_or(ReadError::NotATrace)?;
        match first.get("slantpath_trace").and_then(Value::as_u64) {
            None => return Err(ReadError::NotATrace),
            Some(VERSION) => {}
            Some(other) => return Err(ReadError::Version(other)),
        }
        let header = TraceHeader::read(&first).ok_or(ReadError::Header)?;
        Ok(Self { input, header, line: 1, latest: Instant::START, is_over: false })
    }

    /// Gives the header of the trace: its origin and settings.
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        self.line += 1;
        let line = self.line;
        let Some(object) = next_line(&mut self.input, line)? else { return Ok(None) };
        let record = Record::read(&object).map_err(|fault| match fault {
            RecordFault::UnknownEvent(event) => {
                let event = event.chars().take(64).collect();
                ReadError::UnknownEvent { line, event }
            }
            RecordFault::Field(field) => ReadError::Field { line, field },
        })?;
        if record.at < self.latest {
            return Err(ReadError::Disordered { line });
        }
        self.latest = record.at;
        Ok(Some(record))
    }
}

/// The records, in order; nothing follows an error.
impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = self.read().transpose();
        self.is_over = !matches!(read, Some(Ok(_)));
        read
    }
}

/// The next line that is not empty; `None` at the end.
fn next_line(input: &mut impl BufRead, line: u64) -> Result<Option<Map<String, Value>>, ReadError> {
    let mut bytes = Vec::new();
    let read = input.take(LINE_MAX + 1).read_until(b'\n', &mut bytes);
    read.map_err(|error| ReadError::Io { line, error })?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 > LINE_MAX {
        return Err(ReadError::TooLong { line });
    }
    match serde_json::from_slice(&bytes) {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.is_eof() && line > 1 && !bytes.ends_with(b"\n") => Err(ReadError::Cut { line }),
        Err(error) => Err(ReadError::NotAnObject { line, why: error.to_string() }),
    }
}
