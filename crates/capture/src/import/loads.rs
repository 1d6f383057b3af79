//! Loads of signalling: the messages from one point to another.

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::mtp2::octets_on_line;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::{PointCode, PointCodeFormat};

use super::report::{Finding, Unused};
use crate::signalling::{Bearer, Carriage, FIRST_USER, Malformed, SignallingMessage, label_len};
use crate::trace::{self, Base, Line, Trace};
use crate::units::{self, Numbers, Unit};

/// Most pairs of points that are kept.
pub const LOADS_MAX: usize = 256;
/// Octets on the line that a scenario's messages by point code may have: label, service information, stamp and frame
/// up to the longest signal unit.
const LONGEST: usize = 279;
/// Octets by which a scenario's messages are known again.
const STAMP_LEN: usize = 4;
/// Most lines whose repetitions are looked for.
const LINES_MAX: usize = 1_024;

#[derive(Clone, Debug)]
struct Load {
    report: ImportedLoad,
    trace: Trace,
    bearers: u8,
}

/// Account of the messages from one point to another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportedLoad {
    /// Name of the load in its scenario, and of its trace but for `.csv`.
    pub name: String,
    /// Originating point code.
    pub from: PointCode,
    /// Destination point code.
    pub to: PointCode,
    /// Network indicator of its first message.
    pub network: u8,
    /// Number of messages.
    pub messages: u64,
    /// Octets of all of them on a line of MTP2.
    pub octets: u64,
    /// Instant of the first.
    pub first: Instant,
    /// Instant of the last.
    pub last: Instant,
    /// Number of messages of each service indicator.
    pub services: [u64; 16],
    /// Messages whose length was changed to one that a scenario's messages may have.
    pub resized: u64,
    /// Messages whose signalling link selection was cut to the bits of the format.
    pub cut_selections: u64,
    /// Messages that came out of order and were moved.
    pub late: u64,
    /// Longest time by which one was moved.
    pub latest: Duration,
    /// True if its messages came by several layers.
    pub is_by_several_layers: bool,
}

/// All loads of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Loads {
    format: PointCodeFormat,
    followed: Vec<Load>,
    by_points: FxHashMap<(PointCode, PointCode), usize>,
    lines: FxHashMap<(u32, u32, PointCode, PointCode), Numbers>,
    pub(crate) base: Base,
}

impl Loads {
    pub(crate) fn new(format: PointCodeFormat) -> Self {
        Self {
            format,
            followed: Vec::new(),
            by_points: FxHashMap::default(),
            lines: FxHashMap::default(),
            base: Base::default(),
        }
    }

    pub(crate) const fn format(&self) -> PointCodeFormat {
        self.format
    }

    /// Takes a message of a layer in SCTP. Messages of the layer itself are no load.
    pub(crate) fn sctp(&mut self, at: Instant, bearer: Bearer, octets: &Bytes) -> Result<(), Unused> {
        match Carriage::of(bearer, octets, self.format) {
            Ok(Carriage::Message(message)) => self.seen(at, bearer, message),
            Ok(Carriage::OutOfService | Carriage::Other) => Ok(()),
            Err(Malformed) => Err(Unused::MalformedSignalling),
        }
    }

    /// Takes a signal unit of MTP2.
    pub(crate) fn mtp2(
        &mut self,
        at: Instant,
        interface: u32,
        line: u32,
        octets: &Bytes,
    ) -> Result<(), Unused> {
        let (number, body) = match units::message(octets) {
            Unit::Message { number, body } => (number, body),
            Unit::OfTheLine => return Err(Unused::OfTheLine),
            Unit::Malformed => return Err(Unused::MalformedSignalling),
        };
        let message = SignallingMessage::of_msu(&body, self.format);
        let message = message.map_err(|Malformed| Unused::MalformedSignalling)?;
        let key = (interface, line, message.from, message.to);
        if !self.lines.contains_key(&key) && self.lines.len() >= LINES_MAX {
            return Err(Unused::TooManyLoads);
        }
        if !self.lines.entry(key).or_default().is_first(number, &body) {
            return Err(Unused::RepeatedUnit);
        }
        self.seen(at, Bearer::Mtp, message)
    }

    /// Takes a message of MTP3.
    pub(crate) fn mtp3(&mut self, at: Instant, octets: &Bytes) -> Result<(), Unused> {
        let message = SignallingMessage::of_msu(octets, self.format);
        self.seen(at, Bearer::Mtp, message.map_err(|Malformed| Unused::MalformedSignalling)?)
    }

    fn seen(&mut self, at: Instant, bearer: Bearer, seen: SignallingMessage) -> Result<(), Unused> {
        let SignallingMessage { from, to, service, network, sls, len } = seen;
        if [from, to].iter().any(|code| code.0 >> self.format.bits() != 0) {
            return Err(Unused::ForeignPointCode);
        }
        let Some(service) = ServiceIndicator::new(service) else { return Err(Unused::MalformedSignalling) };
        if service.value() < FIRST_USER {
            return Err(Unused::OfTheNetwork);
        }
        if from == to {
            return Err(Unused::ToItself);
        }
        let place = match self.by_points.get(&(from, to)) {
            Some(&place) => place,
            None if self.followed.len() >= LOADS_MAX => return Err(Unused::TooManyLoads),
            None => {
                let name = format!("load-{}", self.followed.len() + 1);
                let report = ImportedLoad::new(name, from, to, network);
                self.followed.push(Load { report, trace: Trace::default(), bearers: 0 });
                self.by_points.insert((from, to), self.followed.len() - 1);
                self.followed.len() - 1
            }
        };
        let Load { report, trace, bearers } = &mut self.followed[place];
        report.services[usize::from(service.value())] += 1;
        *bearers |= 1 << bearer as u8;
        let octets = octets_on_line(len);
        let size = octets.clamp(octets_on_line(1 + label_len(self.format) + STAMP_LEN), LONGEST);
        report.resized += u64::from(size != octets);
        let selection = sls & if self.format == PointCodeFormat::Ansi { u8::MAX } else { 0xf };
        report.cut_selections += u64::from(selection != sls);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        trace.push(Line { at, size, sls: Some(selection) }, &mut self.base);
        trace.settle(at, &mut self.base);
        Ok(())
    }

    /// Hands out the lines that are due, or without an instant whatever there is.
    pub(crate) fn write<E>(
        &mut self,
        now: Option<Instant>,
        out: &mut impl FnMut(&str, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let traces = self.followed.iter_mut().map(|Load { report, trace, .. }| (&*report.name, trace));
        trace::write(traces, now, &mut self.base, out)
    }

    /// Reports of all loads, once everything was written.
    pub(crate) fn reports(&self) -> Vec<ImportedLoad> {
        self.followed.iter().map(Load::finished).collect()
    }
}

impl Load {
    fn finished(&self) -> ImportedLoad {
        let Trace { messages, bytes, first, last, late, latest, .. } = &self.trace;
        ImportedLoad {
            messages: *messages,
            octets: *bytes,
            first: first.unwrap_or_default(),
            last: *last,
            late: *late,
            latest: *latest,
            is_by_several_layers: self.bearers.count_ones() > 1,
            ..self.report.clone()
        }
    }
}

impl ImportedLoad {
    fn new(name: String, from: PointCode, to: PointCode, network: u8) -> Self {
        Self {
            name,
            from,
            to,
            network,
            messages: 0,
            octets: 0,
            first: Instant::START,
            last: Instant::START,
            services: [0; 16],
            resized: 0,
            cut_selections: 0,
            late: 0,
            latest: Duration::ZERO,
            is_by_several_layers: false,
        }
    }

    /// Facts that whoever uses the load should know.
    pub(crate) fn findings(&self) -> impl Iterator<Item = Finding> + use<> {
        let Self { name, .. } = self;
        let told = [
            (self.resized > 0).then(|| Finding {
                message: format!(
                    "{name}: {} messages had no length that a load's may have, and have the nearest now",
                    self.resized
                ),
                help: "on a line a load's messages have 15 (ITU-T), 16 (TTC) or 18 (ANSI) to 279 octets",
            }),
            (self.cut_selections > 0).then(|| Finding {
                message: format!(
                    "{name}: of {} messages the signalling link selection has more than four bits; four are kept",
                    self.cut_selections
                ),
                help: "if it is a network of ANSI, say so: `--point-codes ansi`",
            }),
            self.is_by_several_layers.then(|| Finding {
                message: format!("{name}: its messages came by several layers, and may be counted once for each"),
                help: "import one of them: `--only m3ua`, `--only m2pa` or `--only mtp`",
            }),
            Finding::late(name, self.late, self.latest),
        ];
        told.into_iter().flatten()
    }
}
