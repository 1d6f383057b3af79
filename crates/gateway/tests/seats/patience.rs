//! Room and time for messages that wait.

use slantpath_base::Duration;
use slantpath_sctp::SctpConfig;
use slantpath_sigtran::m2pa;

/// Settings of M2PA and SCTP for what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Buffers for what comes until a failure has been detected, and a T7 that is longer.
    Long,
    /// Messages wait above SCTP, whose buffer is small. M2PA is as it is without settings.
    Short,
}

impl Patience {
    pub(crate) fn m2pa(self) -> m2pa::LinkConfig {
        let plain = m2pa::LinkConfig { proving: m2pa::Proving::Omitted, ..m2pa::LinkConfig::default() };
        match self {
            Self::Long => m2pa::LinkConfig {
                timers: m2pa::Timers { t7: Duration::from_secs(30), ..plain.timers },
                ranges: m2pa::TimerRanges::Free,
                outstanding_max: 1 << 16,
                buffer_max: 1 << 17,
                congestion: vec![m2pa::CongestionThreshold { onset: 100_000, abatement: 50_000 }],
                held_max: 1 << 17,
                ..plain
            },
            Self::Short => plain,
        }
    }

    pub(crate) fn sctp(self) -> Box<SctpConfig> {
        let send_buffer_bytes = match self {
            Self::Long => 4 << 20,
            Self::Short => 64 << 10,
        };
        Box::new(SctpConfig {
            outbound_streams: 17,
            rto_initial: Duration::from_millis(200),
            rto_min: Duration::from_millis(60),
            path_max_retrans: 1,
            association_max_retrans: 3,
            heartbeat_interval: Some(Duration::from_millis(500)),
            send_buffer_bytes,
            ..SctpConfig::default()
        })
    }
}
