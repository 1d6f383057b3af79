//! Failovers of an association that carries messages for a layer above, and arrivals of messages behind them.

use slantpath_base::Instant;
use slantpath_host::MessagePlace;

use crate::failover::Failover;

/// Records of one end of an association, which are kept if they are [asked for](crate::Associations::keep_records).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarrierRecords {
    /// Failovers in order of time, each with the place of its first message.
    pub failovers: Vec<(Failover, Option<MessagePlace>)>,
    /// Messages that have come, in order of time: each by its place. `None`: the association has begun anew, and
    /// numbers its messages from zero.
    pub deliveries: Vec<(Instant, Option<MessagePlace>)>,
}
