//! Account of a capture: what was seen, what was not used and why, and what whoever uses the scenarios should know.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};

use super::flows::FlowReport;
use super::loads::ImportedLoad;
use crate::frame::LinkType;

/// Reasons for which something of a capture is in no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unused {
    /// Frames of a link type that is not read.
    OtherLink,
    /// Frames without an instant: simple packet blocks.
    NoTime,
    /// Frames that carry no IP: address resolution, for example.
    NotIp,
    /// Frames that end within a header: captured short, or broken.
    Short,
    /// Packets whose headers of IP, or of the transport behind them, are broken.
    Malformed,
    /// Packets whose extensions hide what they carry (ESP).
    Hidden,
    /// Fragments of which not all was captured.
    CutFragment,
    /// Fragments whose packet did not become whole.
    LostFragment,
    /// Packets of another protocol than SCTP, TCP and UDP.
    OtherProtocol,
    /// Packets that the filter leaves out.
    Filtered,
    /// Packets of flows beyond the most that are kept.
    TooManyFlows,
    /// Messages of signalling beyond the most pairs of points that are kept.
    TooManyLoads,
    /// Signal units of a line itself: fill-in and status.
    OfTheLine,
    /// Signal units and messages of signalling that are broken.
    MalformedSignalling,
    /// Messages of signalling of which not all was captured.
    CutSignalling,
    /// Messages of the network itself (service indicators 0 to 2), which simulated points make themselves.
    OfTheNetwork,
    /// Messages with a point code that the format does not hold.
    ForeignPointCode,
    /// Messages between a point and itself.
    ToItself,
    /// Signal units and MSUs that a line or an association has repeated.
    RepeatedUnit,
}

impl Unused {
    /// Says it in words, behind a number.
    pub const fn words(self) -> &'static str {
        match self {
            Self::OtherLink => "frames of links that are not read",
            Self::NoTime => "frames without a time",
            Self::NotIp => "frames without IP",
            Self::Short => "frames that end within a header",
            Self::Malformed => "packets with broken headers",
            Self::Hidden => "packets whose content is hidden (ESP)",
            Self::CutFragment => "fragments that were not captured whole",
            Self::LostFragment => "fragments whose packet did not become whole",
            Self::OtherProtocol => "packets of other protocols than SCTP, TCP and UDP",
            Self::Filtered => "packets that --only or --port leave out",
            Self::TooManyFlows => "packets of further flows",
            Self::TooManyLoads => "messages between further points",
            Self::OfTheLine => "fill-in and status units of lines",
            Self::MalformedSignalling => "broken signal units or messages of signalling",
            Self::CutSignalling => "messages of signalling that were not captured whole",
            Self::OfTheNetwork => "messages of MTP3 itself, which simulated points make themselves",
            Self::ForeignPointCode => "messages with point codes that the format does not hold",
            Self::ToItself => "messages from a point to itself",
            Self::RepeatedUnit => "repeated signal units",
        }
    }
}

/// Something that the user of what was made should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Fact, and what it is about.
    pub message: String,
    /// Advice on what would help.
    pub help: &'static str,
}

impl Finding {
    /// Messages of a trace that were moved, if there are some.
    pub(super) fn late(name: &str, late: u64, latest: Duration) -> Option<Self> {
        (late > 0).then(|| Self {
            message: format!(
                "{name}: {late} messages were out of order by more than can be sorted, and were moved by up to {latest}"
            ),
            help: "sort the capture: `reordercap CAPTURE SORTED`",
        })
    }
}

/// Account of a whole capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// Number of frames that were read.
    pub frames: u64,
    /// Time of the first frame, and of the last.
    pub span: Option<(Instant, Instant)>,
    /// Numbers of what is in no trace, by reasons.
    pub unused: BTreeMap<Unused, u64>,
    /// Frames of links that are not read, by their types.
    pub other_links: BTreeMap<LinkType, u64>,
    /// Packets that were put together of fragments.
    pub reassembled: u64,
    /// Flows of transports, in the order in which they began.
    pub flows: Vec<FlowReport>,
    /// Loads of signalling, in the order in which they began.
    pub loads: Vec<ImportedLoad>,
    /// Facts that the user of what was made should know.
    pub findings: Vec<Finding>,
}

impl ImportReport {
    pub(crate) fn count(&mut self, unused: Unused) {
        *self.unused.entry(unused).or_default() += 1;
    }

    /// Time from the first frame to the last.
    pub fn duration(&self) -> Duration {
        self.span.map_or(Duration::ZERO, |(first, last)| last.saturating_since(first))
    }

    /// Tells if nothing was found that a scenario could be made of.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.loads.is_empty()
    }
}
