//! M2PA (RFC 4165): a signalling link of SS7 over an association instead of a wire.
//!
//! [`Link`] gives MTP3 the service of MTP2 ([`slantpath_ss7::link`]) and speaks [`Message`]s to its peer: alignment
//! and proving, 24-bit sequence numbers and acknowledgements, processor outage, flow control, retrieval for
//! changeover. Which addresses and ports carry the link, and bringing the association up again after it was lost,
//! are left to whoever drives it.

mod alignment;
mod config;
mod counters;
mod link;
mod message;
mod outage;
mod path;
mod reception;
mod sequence;
mod state;
mod transmission;

pub use alignment::{ALIGNMENT_MACHINE, AlignmentAction, AlignmentInput, AlignmentState};
pub use config::{
    ConfigError, CongestionThreshold, LinkConfig, Proving, T7From, TimerName, TimerRanges, Timers,
};
pub use counters::{Counters, Discarded};
pub use link::{Link, Output};
pub use message::{
    Body, HEADER_LEN, LinkStatus, Message, MessageError, PAYLOAD_PROTOCOL, Priority, SHORTEST_MSU, UserData,
};
pub use outage::{OUTAGE_MACHINE, OutageAction, OutageInput, OutageState};
pub use path::{PathFault, PathFinding, PathTiming, WaitingTimer, check_path};
pub use sequence::SequenceNumber;
pub use state::{LINK_MACHINE, LinkAction, LinkInput, LinkState};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_of_the_tables_is_ambiguous_and_no_state_unreachable() {
        assert_eq!((LINK_MACHINE.ambiguous(), LINK_MACHINE.unreachable()), (None, vec![]));
        assert_eq!((ALIGNMENT_MACHINE.ambiguous(), ALIGNMENT_MACHINE.unreachable()), (None, vec![]));
        assert_eq!((OUTAGE_MACHINE.ambiguous(), OUTAGE_MACHINE.unreachable()), (None, vec![]));
    }
}
