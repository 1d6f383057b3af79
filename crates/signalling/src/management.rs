//! Requests of management to points and processes, and reports of a point to management.

use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{InhibitError, Mtp3LinkId};
use slantpath_ss7::sccp::Ssn;

/// Requests of management to a signalling point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementRequest {
    /// To do something to the point's end of a link.
    Link(Mtp3LinkId, LinkEndChange),
    /// To do something to the point.
    Point(PointChange),
    /// To do something, at a gateway, to the process at the far end of an association.
    Process(AssociationNumber, ProcessLock),
}

/// Something that is done to one end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEndChange {
    /// Management brings it into service.
    Activate,
    /// Management takes it out of service: traffic changes over in order.
    Deactivate,
    /// Management wants the emergency proving period whenever it aligns.
    Emergency,
    /// Management leaves the proving period to the link set.
    EmergencyCeases,
    /// Management wants it free of users' traffic.
    Inhibit,
    /// Level 3 cannot serve it any more.
    ProcessorOutage,
    /// Level 3 can serve it again.
    ProcessorRecovered,
    /// Management lets users' traffic use it again.
    Uninhibit,
}

/// Something that is done to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointChange {
    /// All links of the point stop, so that it is cut off, and start again.
    Restart,
    /// A subsystem asks its backup to take over, before it goes.
    SubsystemAsks(Ssn),
    /// A subsystem comes into service.
    SubsystemComes(Ssn),
    /// A subsystem goes out of service.
    SubsystemGoes(Ssn),
}

/// Something that a gateway does to a process (RFC 4666, section 4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLock {
    /// Management takes it out of service: it may not come up before it is let.
    Locked,
    /// Management lets it come up again, which is for the process to try.
    Unlocked,
}

/// Something that is done to an application server process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessChange {
    /// Management lets it take its traffic (ASP Active).
    Activate,
    /// Management takes its traffic away (ASP Inactive).
    Deactivate,
    /// The process dies, and its associations with it: nobody opens them.
    Fail,
    /// The process is started again.
    Restore,
}

/// Something that happened at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointEvent {
    /// To which link; none if it happened to the point.
    pub link: Option<Mtp3LinkId>,
    /// Kind of the event.
    pub kind: PointEventKind,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointEventKind {
    /// The link is in service and tested: traffic may use it.
    Available,
    /// Traffic came back to it by time: the far end did not acknowledge the changeback.
    ChangebackUnacknowledged,
    /// Traffic left it without the far end's number: messages may be lost.
    ChangeoverWithoutSequence,
    /// Congestion status, 0 to 3.
    Congestion(u8),
    /// The backup of this subsystem takes over: it may go.
    CoordinatedChangeGranted(Ssn),
    /// The backup of this subsystem has not answered, or it cannot go now.
    CoordinatedChangeRefused(Ssn),
    /// The far end does not let the link be inhibited: somebody would be cut off there.
    InhibitionDenied,
    /// This end does not let the link be inhibited.
    InhibitionRefused(InhibitError),
    /// The far end does not answer about the link's inhibition.
    InhibitionUnanswered,
    /// The link is kept free of users' traffic.
    Inhibited,
    /// The link set to that point has its first available link.
    LinkSetAvailable(PointCode),
    /// The link set to that point has no available link any more.
    LinkSetUnavailable(PointCode),
    /// The point restarts: no traffic yet.
    RestartBegun,
    /// The restart is over: traffic flows.
    RestartOver,
    /// The test of the link failed twice.
    TestFailed,
    /// The first message that the link would have carried has been handed to another one.
    TrafficDiverted {
        /// Link of this point that carries the message.
        to: Mtp3LinkId,
    },
    /// The link is open to users' traffic again.
    Uninhibited,
    /// The link has failed or was deactivated.
    Unavailable,
}

impl PointEventKind {
    /// Gives the name of the event in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::ChangebackUnacknowledged => "changeback-unacknowledged",
            Self::ChangeoverWithoutSequence => "changeover-without-sequence",
            Self::Congestion(_) => "congestion",
            Self::CoordinatedChangeGranted(_) => "coordinated-change-granted",
            Self::CoordinatedChangeRefused(_) => "coordinated-change-refused",
            Self::InhibitionDenied => "inhibition-denied",
            Self::InhibitionRefused(_) => "inhibition-refused",
            Self::InhibitionUnanswered => "inhibition-unanswered",
            Self::Inhibited => "inhibited",
            Self::LinkSetAvailable(_) => "link-set-available",
            Self::LinkSetUnavailable(_) => "link-set-unavailable",
            Self::RestartBegun => "restart-begun",
            Self::RestartOver => "restart-over",
            Self::TestFailed => "test-failed",
            Self::TrafficDiverted { .. } => "traffic-diverted",
            Self::Uninhibited => "uninhibited",
            Self::Unavailable => "unavailable",
        }
    }
}
