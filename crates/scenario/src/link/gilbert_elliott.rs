//! `gilbert_elliott` of a direction: errors in bursts of time.

use slantpath_base::{Duration, Probability};
use slantpath_net as net;
use slantpath_reader::{Fault, Faults, Nested, Setting, section};

use crate::bounds::RUN;

/// Each state is drawn, and nobody waits for a million of them in a second.
const LEAST_MEAN: Duration = Duration::from_micros(1);

section! {
    /// A channel that changes between two states at random instants, whatever is sent (Gilbert and Elliott).
    pub struct GilbertElliott {
        /// The state between bursts.
        good: Nested<ChannelState>;
        /// The state in a burst.
        bad: Nested<ChannelState>;
    }
}

section! {
    /// One state of a channel.
    pub struct ChannelState {
        /// Mean time that it lasts; a single time is drawn from the exponential distribution.
        mean: Setting<Duration>, at most RUN;
        /// Probability that a packet is lost whose last bit is sent in it.
        loss: Setting<Probability> = Probability::NEVER;
        /// Probability that a bit arrives wrong that is sent in it.
        bit_error_rate: Setting<Probability> = Probability::NEVER;
    }
}

impl GilbertElliott {
    /// Reports states that are too short, or that harm nothing.
    pub(crate) fn check(&self, faults: &mut Faults) {
        for state in [&self.good.0, &self.bad.0] {
            if *state.mean < LEAST_MEAN {
                let message =
                    format!("a state of a channel that lasts {} on average is too short", *state.mean);
                let help = format!(
                    "let it last {LEAST_MEAN} at least; use `loss` for errors that are not in bursts"
                );
                faults.report(state.mean.place(), Fault::new(message).help(help));
            }
        }
        let bad = &self.bad.0;
        if bad.loss.is_never() && bad.bit_error_rate.is_never() {
            let fault = Fault::new("the bad state of the channel does no harm");
            faults.report(bad.mean.place(), fault.help("write `loss` or `bit_error_rate` beside its `mean`"));
        }
    }

    /// Configuration of it in `net`.
    pub(crate) fn config(&self) -> net::GilbertElliott {
        let state = |state: &ChannelState| net::ChannelState {
            mean: *state.mean,
            loss: *state.loss,
            bit_errors: *state.bit_error_rate,
        };
        net::GilbertElliott { good: state(&self.good.0), bad: state(&self.bad.0) }
    }
}
