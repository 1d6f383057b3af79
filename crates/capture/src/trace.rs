//! A trace that is being written: messages in order of time, as lines.
//!
//! A message is known when its last fragment has come, and captures of several interfaces are not quite in order. So
//! the latest two seconds are held back. What comes later than that is written with the time of the line before it,
//! and counted.

use core::fmt::Write;
use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};

/// For how long messages are held back.
const HELD_BACK: Duration = Duration::from_secs(2);
/// Most messages of a trace that are held back.
const HELD_MAX: usize = 2_048;
/// Bytes that are handed out at once.
const BATCH: usize = 16 << 10;

/// Message of a trace: a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) at: Instant,
    pub(crate) size: u32,
    /// Signalling link selection, of an MSU.
    pub(crate) sls: Option<u8>,
}

/// Instant that traces count their times from: that of the first message of all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Base {
    earliest: Option<Instant>,
    /// True once a line was written: from then on it stays.
    is_fixed: bool,
}

impl Base {
    /// The instant; the start of time before there is a message.
    pub(crate) fn instant(self) -> Instant {
        self.earliest.unwrap_or_default()
    }

    fn see(&mut self, at: Instant) {
        if !self.is_fixed {
            self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
        }
    }
}

/// Lines of one trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    held: VecDeque<Line>,
    text: String,
    /// Number of messages, and of their bytes.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) first: Option<Instant>,
    /// Time of the last line that was written.
    written: Option<Instant>,
    pub(crate) last: Instant,
    /// Messages that came out of order, and the longest time by which one was moved.
    pub(crate) late: u64,
    pub(crate) latest: Duration,
}

impl Trace {
    /// Takes a message.
    pub(crate) fn push(&mut self, line: Line, base: &mut Base) {
        base.see(line.at);
        self.messages += 1;
        self.bytes += u64::from(line.size);
        self.first = Some(self.first.map_or(line.at, |first| first.min(line.at)));
        self.last = self.last.max(line.at);
        if self.held.back().is_some_and(|last| last.at > line.at) {
            let place = self.held.partition_point(|held| held.at <= line.at);
            self.held.insert(place, line);
        } else {
            self.held.push_back(line);
        }
    }

    /// Writes what is held back no longer.
    pub(crate) fn settle(&mut self, now: Instant, base: &mut Base) {
        while let Some(front) = self.held.front() {
            let is_due = front.at.saturating_add(HELD_BACK) <= now || self.held.len() > HELD_MAX;
            if !is_due {
                break;
            }
            self.write_front(base);
        }
    }

    /// Writes all that is held back.
    pub(crate) fn finish(&mut self, base: &mut Base) {
        while !self.held.is_empty() {
            self.write_front(base);
        }
    }

    fn write_front(&mut self, base: &mut Base) {
        let Some(line) = self.held.pop_front() else { return };
        base.is_fixed = true;
        let base = base.instant();
        let earliest = self.written.unwrap_or(base).max(base);
        let at = line.at.max(earliest);
        if at > line.at {
            self.late += 1;
            self.latest = self.latest.max(at.saturating_since(line.at));
        }
        self.written = Some(at);
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{},{} B", at.saturating_since(base), line.size);
        let _ = match line.sls {
            Some(sls) => writeln!(self.text, ",{sls}"),
            None => writeln!(self.text),
        };
    }

    /// Lines that are enough to be written at once, or with `all` whatever there is.
    pub(crate) fn batch(&mut self, all: bool) -> Option<&mut String> {
        let is_due = self.text.len() >= BATCH || all && !self.text.is_empty();
        is_due.then_some(&mut self.text)
    }
}

/// Hands out the lines of traces that are due, each with the trace's name; without an instant whatever there is.
pub(crate) fn write<'a, E>(
    traces: impl Iterator<Item = (&'a str, &'a mut Trace)>,
    now: Option<Instant>,
    base: &mut Base,
    out: &mut impl FnMut(&str, &str) -> Result<(), E>,
) -> Result<(), E> {
    for (name, trace) in traces {
        match now {
            Some(now) => trace.settle(now, base),
            None => trace.finish(base),
        }
        if let Some(text) = trace.batch(now.is_none()) {
            out(name, text)?;
            text.clear();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    fn line(micros: u64, size: u32) -> Line {
        Line { at: at(micros), size, sls: None }
    }

    #[test]
    fn lines_are_in_order_and_what_comes_too_late_is_moved_and_counted() {
        let mut trace = Trace::default();
        let mut base = Base::default();
        for (at, size) in [(12, 8), (30, 9), (10, 14), (20, 10), (20, 11)] {
            trace.push(line(at, size), &mut base);
        }
        trace.settle(at(30).saturating_add(HELD_BACK), &mut base);
        trace.push(line(4_000_000, 12), &mut base);
        trace.push(line(25, 13), &mut base);
        trace.finish(&mut base);
        let text = trace.batch(true).cloned().unwrap();
        assert_eq!(
            text,
            "0 s,14 B\n2 us,8 B\n10 us,10 B\n10 us,11 B\n20 us,9 B\n20 us,13 B\n3.99999 s,12 B\n"
        );
        assert_eq!((trace.late, trace.latest), (1, Duration::from_micros(5)));
        assert_eq!((trace.messages, trace.bytes, trace.first), (7, 77, Some(at(10))));
    }

    #[test]
    fn no_more_than_a_bound_is_held_back() {
        let (mut trace, mut base) = (Trace::default(), Base::default());
        for micros in 0..100_000 {
            trace.push(Line { sls: Some(3), ..line(micros, 20) }, &mut base);
            trace.settle(at(micros), &mut base);
            if let Some(text) = trace.batch(false) {
                assert!(text.ends_with(",20 B,3\n") && text.len() < 2 * BATCH);
                text.clear();
            }
        }
        assert_eq!(trace.held.len(), HELD_MAX);
    }
}
