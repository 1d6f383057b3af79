//! `[sctp.<profile>]`: a configuration of SCTP, named as in RFC 9260, section 16.

use slantpath_base::{DataSize, Duration};

use crate::section::{Setting, section};

section! {
    /// A configuration of SCTP. Names and defaults are those of RFC 9260, section 16.
    pub struct SctpProfile {
        /// RTO.Initial: the retransmission time-out before the first measurement.
        rto_initial: Setting<Duration> = Duration::from_secs(1);
        /// RTO.Min: the least retransmission time-out.
        rto_min: Setting<Duration> = Duration::from_secs(1);
        /// RTO.Max: the greatest retransmission time-out.
        rto_max: Setting<Duration> = Duration::from_secs(60);
        /// Max.Burst: packets that one event may send at most.
        max_burst: Setting<u32> = 4;
        /// Valid.Cookie.Life.
        valid_cookie_life: Setting<Duration> = Duration::from_secs(60);
        /// Association.Max.Retrans: time-outs in a row after which the association fails.
        association_max_retrans: Setting<u32> = 10;
        /// Path.Max.Retrans: time-outs in a row after which a path is inactive.
        path_max_retrans: Setting<u32> = 5;
        /// Max.Init.Retransmits: attempts at sending an INIT.
        max_init_retransmits: Setting<u32> = 8;
        /// HB.interval: pause between two HEARTBEATs on an idle path.
        hb_interval: Setting<Duration> = Duration::from_secs(30);
        /// HB.Max.Burst: HEARTBEATs at once at most.
        hb_max_burst: Setting<u32> = 1;
        /// SACK.Delay: how long an acknowledgement may be held back.
        sack_delay: Setting<Duration> = Duration::from_millis(200);
        /// Receiver window that is advertised.
        receive_buffer: Setting<DataSize> = DataSize::from_bytes(65_536);
        /// What the application may hand over before it is acknowledged.
        send_buffer: Setting<DataSize> = DataSize::from_bytes(65_536);
    }
}
