//! Reports that a transport makes besides those that the user of a socket must have.

/// Reports that a transport makes of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub enum MessageReports {
    /// No reports at all.
    #[default]
    Nothing,
    /// Acknowledgements of messages (SCTP).
    Acknowledged,
    /// Every transmission, and what is acknowledged.
    All,
}

impl MessageReports {
    /// All, if they are wanted.
    pub const fn all_if(is_wanted: bool) -> Self {
        if is_wanted { Self::All } else { Self::Nothing }
    }
}

/// Reports that a transport makes besides those that its user must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// Reports on the fates of messages.
    pub messages: MessageReports,
    /// True if the retransmission timer of each path is reported (SCTP).
    pub timers: bool,
    /// True if the content that each packet brings is reported.
    pub arrivals: bool,
    /// True if all that becomes of an association is told in SCTP's own words (SCTP): messages, and parts of those that
    /// are delivered in parts, too.
    pub verbatim: bool,
}
