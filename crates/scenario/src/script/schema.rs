//! `[[script]]`: what happens to links while the scenario runs.

use slantpath_base::{DataRate, Duration, Probability};
use slantpath_reader::{Setting, choice, section};

use crate::bounds::{DELAY, RATE, RUN};

section! {
    /// Something that happens to a link.
    pub struct Event {
        /// Time of the event, from the start of the run.
        at: Setting<Duration>, at most RUN;
        /// The link that it happens to; under a sky an antenna, or a link between satellites, too.
        link: Setting<String>;
        /// Directions of the link that it happens to.
        direction: Setting<Which> = Which::Both;
        /// Change that happens to the link.
        action: Setting<Action>;
        /// With `set`: the rate from now on.
        rate: Option<Setting<DataRate>>, at most RATE;
        /// With `set`: the propagation delay from now on; what is in flight keeps the one it was sent with.
        delay: Option<Setting<Duration>>, at most DELAY;
        /// With `set`: the probability of loss from now on.
        loss: Option<Setting<Probability>>;
        /// With `set`: the bit error rate from now on.
        bit_error_rate: Option<Setting<Probability>>;
        /// With `set`: the probability that a packet arrives twice from now on.
        duplicate: Option<Setting<Probability>>;
        /// With `set`: the probability that a packet is held back by `reorder_delay` from now on.
        reorder: Option<Setting<Probability>>;
        /// With `set` and `reorder`: how long a reordered packet is held back at most.
        reorder_delay: Option<Setting<Duration>>, at most DELAY;
    }
}

choice! {
    /// Change that happens to a link.
    pub enum Action {
        /// Fails the link: the packet in transmission is lost, and the rest is as `while_down` of the link says. What
        /// is in flight arrives.
        Down = "down",
        /// Changes parameters of the link.
        Set = "set",
        /// Brings the link up again.
        Up = "up",
    }
}

choice! {
    /// Directions of a link.
    pub enum Which {
        /// Both directions of the link.
        Both = "both",
        /// From the first end to the second.
        Forward = "forward",
        /// From the second end to the first.
        Reverse = "reverse",
    }
}
