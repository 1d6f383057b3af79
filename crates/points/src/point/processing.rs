//! `[signalling.points.<name>.processing]`: the processor of a point.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Pair, Setting, section};
use slantpath_signalling::{ProcessorConfig, ProcessorError};

use crate::bounds::{DELAY, MESSAGES, MESSAGES_A_SECOND};

section! {
    /// Time and capacity that a point needs to process the messages of user parts that links bring to it. Messages of
    /// MTP3's management take no time.
    pub struct Processing {
        /// Time that each message takes besides.
        delay: Setting<Duration> = Duration::ZERO, at most DELAY;
        /// Messages a second; as many as come if absent.
        capacity: Option<Setting<u32>>, at most MESSAGES_A_SECOND;
        /// Messages that may wait for the processor; what comes beyond is thrown away and counted.
        queue: Setting<u32> = 1_000, at most MESSAGES;
        /// Numbers of queued messages at which congestion begins and ends: the points that send are told by transfer
        /// controlled.
        congestion: Setting<Pair<u32>> = Pair(500, 250), at most MESSAGES;
    }
}

impl Processing {
    pub(crate) fn config(&self) -> ProcessorConfig {
        let per_second = self.capacity.map_or(0, |capacity| u64::from(*capacity));
        ProcessorConfig {
            delay: *self.delay,
            per_message: Duration::from_nanos(1_000_000_000_u64.checked_div(per_second).unwrap_or(0)),
            waiting_max: *self.queue,
            congestion_onset: self.congestion.0,
            congestion_abatement: self.congestion.1,
        }
    }

    pub(crate) fn check(&self, name: &str, faults: &mut Faults) {
        if let Some(capacity) = self.capacity.filter(|capacity| **capacity == 0) {
            let fault = Fault::new(format!("`{name}` processes no message at all"));
            faults.report(
                capacity.place(),
                fault.help("5000 messages a second are usual; leave it out for no limit"),
            );
        }
        if let Err(error) = self.config().check() {
            let help = match error {
                ProcessorError::Abatement { .. } => {
                    "write where it begins and where it ends, like `[500, 250]`"
                }
                ProcessorError::Onset { .. } => "let `queue` hold more, or `congestion` begin earlier",
            };
            faults.report(self.congestion.place(), Fault::new(format!("`{name}`: {error}")).help(help));
        }
    }
}
