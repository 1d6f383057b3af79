//! Writes a trace, line by line.

use std::io::{self, Write};

use crate::header::TraceHeader;
use crate::record::Record;

/// Writes records behind a header. What it holds is one line.
#[derive(Debug)]
pub struct TraceWriter<W> {
    out: W,
    line: String,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header.
    pub fn begin(mut out: W, header: &TraceHeader) -> io::Result<Self> {
        let mut line = header.line();
        line.push('\n');
        out.write_all(line.as_bytes())?;
        Ok(Self { out, line })
    }

    /// Writes a record.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        self.line.clear();
        record.write(&mut self.line);
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    /// Hands on what the writer below holds.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
