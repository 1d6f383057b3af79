//! `[tcp.<profile>]`: a configuration of TCP.

use slantpath_base::{DataSize, Duration};

use crate::section::{Setting, section};

section! {
    /// A configuration of TCP.
    pub struct TcpProfile {
        /// The retransmission time-out before the first measurement (RFC 6298).
        rto_initial: Setting<Duration> = Duration::from_secs(1);
        /// The least retransmission time-out (RFC 6298).
        rto_min: Setting<Duration> = Duration::from_secs(1);
        /// The greatest retransmission time-out (RFC 6298).
        rto_max: Setting<Duration> = Duration::from_secs(60);
        /// Receiver window that is advertised.
        receive_buffer: Setting<DataSize> = DataSize::from_bytes(65_536);
        /// What the application may hand over before it is acknowledged.
        send_buffer: Setting<DataSize> = DataSize::from_bytes(65_536);
    }
}
