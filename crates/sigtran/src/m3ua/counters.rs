//! Counts of messages by outcome, with the reasons.

/// Why a user part's message goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The ASP that sent it, or that it came to, is not active.
    AspNotActive,
    /// Message whose destination cannot be reached, or never could.
    DestinationUnavailable,
    /// Message whose network appearance is not configured.
    InvalidNetworkAppearance,
    /// Service indicator, network indicator or priority do not fit their bits.
    InvalidProtocolData,
    /// Message whose routing context is not configured.
    InvalidRoutingContext,
    /// Message that came on stream 0.
    InvalidStream,
    /// Message of MTP3's own management, which M3UA does not carry.
    ManagementMessage,
    /// The application server that it is for has no active ASP, and T(r) does not run.
    NoActiveAsp,
    /// The association has no stream but 0, which DATA must not take.
    NoDataStream,
    /// No routing key matches it.
    NoRoutingKey,
    /// The queue of messages that wait for an ASP is full.
    QueueFull,
    /// No ASP became active before T(r) expired.
    RecoveryExpired,
    /// A screening rule or a rate refused it.
    Screened,
}

impl DropReason {
    /// Gives the name of the reason in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AspNotActive => "asp-not-active",
            Self::DestinationUnavailable => "destination-unavailable",
            Self::InvalidNetworkAppearance => "invalid-network-appearance",
            Self::InvalidProtocolData => "invalid-protocol-data",
            Self::InvalidRoutingContext => "invalid-routing-context",
            Self::InvalidStream => "invalid-stream",
            Self::ManagementMessage => "management-message",
            Self::NoActiveAsp => "no-active-asp",
            Self::NoDataStream => "no-data-stream",
            Self::NoRoutingKey => "no-routing-key",
            Self::QueueFull => "queue-full",
            Self::RecoveryExpired => "recovery-expired",
            Self::Screened => "screened",
        }
    }

    /// List of all reasons.
    pub const ALL: [Self; 13] = [
        Self::AspNotActive,
        Self::DestinationUnavailable,
        Self::InvalidNetworkAppearance,
        Self::InvalidProtocolData,
        Self::InvalidRoutingContext,
        Self::InvalidStream,
        Self::ManagementMessage,
        Self::NoActiveAsp,
        Self::NoDataStream,
        Self::NoRoutingKey,
        Self::QueueFull,
        Self::RecoveryExpired,
        Self::Screened,
    ];
}

/// Counts of messages by outcome since the object was made. `received`, `requested` and `returned` together are
/// `forwarded`, `indicated`, dropped for any reason, and what waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// DATA that came from peers.
    pub received: u64,
    /// MTP-TRANSFER requests of the user.
    pub requested: u64,
    /// Messages that were forwarded, and came back unsent from an association that was lost: they begin anew.
    pub returned: u64,
    /// Messages that went to one peer or several.
    pub forwarded: u64,
    /// DATA that went out: in broadcast mode more than `forwarded`.
    pub data_sent: u64,
    /// MTP-TRANSFER indications to the user.
    pub indicated: u64,
    /// ERR that went out.
    pub errors_sent: u64,
    /// ERR that came in.
    pub errors_received: u64,
    /// Messages that could not be read, each answered by an ERR.
    pub malformed: u64,
    /// Messages that the transport says are another protocol's, thrown away in silence.
    pub wrong_payload_protocol: u64,
    /// Messages that the state does not allow and that are passed over in silence.
    pub ignored: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl Counters {
    /// Gives the number of messages that were dropped for that reason.
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Gives the number of messages that were dropped for any reason.
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(super) const fn drop(&mut self, reason: DropReason) {
        self.dropped[reason as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_counts_by_itself() {
        let mut counters = Counters::default();
        for (count, reason) in DropReason::ALL.into_iter().enumerate() {
            (0..count).for_each(|_| counters.drop(reason));
        }
        for (count, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(counters.dropped(reason), count as u64, "{reason:?}");
        }
        assert_eq!(counters.dropped_in_all(), 78);
    }
}
