//! `[[signalling.script]]`: what happens to links and points while the scenario runs.

use slantpath_base::Duration;
use slantpath_reader::{Setting, choice, section};

use crate::bounds::RUN;

section! {
    /// Something that happens to a signalling link, point or ASP. A link of M2PA fails with the links of the packet
    /// network below it.
    pub struct SignallingEvent {
        /// Time of the event, from the start of the run.
        at: Setting<Duration>, at most RUN;
        /// The link that it happens to; with a processor outage, every link of the point if absent.
        link: Option<Setting<String>>;
        /// The point that it happens to, or at whose end of the link.
        point: Option<Setting<String>>;
        /// The subsystem of the point that it happens to.
        subsystem: Option<Setting<u8>>;
        /// The ASP that it happens to, in place of a link.
        asp: Option<Setting<String>>;
        /// Action that is taken.
        action: Setting<SignallingAction>;
    }
}

choice! {
    /// Action that is taken on a link, a point, a subsystem or an ASP.
    pub enum SignallingAction {
        /// Management at both ends brings the link into service; management lets the ASP take its traffic.
        Activate = "activate",
        /// Management at both ends takes the link out of service; management takes the ASP's traffic away.
        Deactivate = "deactivate",
        /// The point wants the emergency proving period whenever the link aligns.
        Emergency = "emergency",
        /// The point leaves the proving period to the state of the link set again.
        EmergencyCeases = "emergency-ceases",
        /// The link's line breaks; the ASP dies, and its associations end.
        Fail = "fail",
        /// The point inhibits the link: it carries no traffic of users, unless that would cut somebody off.
        Inhibit = "inhibit",
        /// Level 3 of the point cannot serve the link, or any of its links.
        ProcessorOutage = "processor-outage",
        /// Lets level 3 of the point serve the link, or its links, again.
        ProcessorRecovered = "processor-recovered",
        /// All links of the point stop and start again: it is cut off, and restarts.
        Restart = "restart",
        /// The link's line works again; the ASP is started again.
        Restore = "restore",
        /// The subsystem asks its backup to take over (coordinated change), before it goes.
        SubsystemAsks = "subsystem-asks",
        /// The subsystem comes into service, as each does at the start.
        SubsystemComes = "subsystem-comes",
        /// The subsystem goes out of service.
        SubsystemGoes = "subsystem-goes",
        /// The point lets traffic of users use the link again.
        Uninhibit = "uninhibit",
    }
}

/// Need of an action for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    May,
    Must,
    MustNot,
}

impl SignallingAction {
    /// Needs of the action for `link`, `point` and `subsystem`.
    pub(crate) const fn needs(self) -> [Need; 3] {
        use Need::{May, Must, MustNot};
        match self {
            Self::Activate | Self::Deactivate | Self::Fail | Self::Restore => [Must, MustNot, MustNot],
            Self::Emergency | Self::EmergencyCeases | Self::Inhibit | Self::Uninhibit => {
                [Must, Must, MustNot]
            }
            Self::ProcessorOutage | Self::ProcessorRecovered => [May, Must, MustNot],
            Self::Restart => [MustNot, Must, MustNot],
            Self::SubsystemAsks | Self::SubsystemComes | Self::SubsystemGoes => [MustNot, Must, Must],
        }
    }
}
