//! `shaper` of a direction: packets wait until a bucket has their tokens.

use slantpath_base::{DataRate, DataSize};
use slantpath_net as net;
use slantpath_reader::{Fault, Faults, Setting, section};

use crate::bounds::{BURST, RATE};

section! {
    /// A shaper (RFC 2475): packets are sent in their turn, and not before a bucket has a token for each of their
    /// bytes. What waits for tokens waits in the queue, by its discipline.
    pub struct Shaper {
        /// Rate at which tokens come, counted as bytes of IP packets.
        rate: Setting<DataRate>, at most RATE;
        /// Size of the bucket: as much may be sent at once, at the link's own rate.
        burst: Setting<DataSize>, at most BURST;
    }
}

impl Shaper {
    /// Reports a bucket that never lets a packet of `mtu` pass, and a queue that cannot wait for it; warns of one that
    /// is always full.
    pub(crate) fn check(&self, mtu: DataSize, link_rate: Option<Setting<DataRate>>, faults: &mut Faults) {
        if self.rate.as_bits_per_sec() == 0 {
            let fault = Fault::new("without tokens nothing is ever sent");
            faults.report(self.rate.place(), fault.help("let `rate` be what is to pass"));
        }
        if *self.burst < mtu {
            let message = format!("a packet of {mtu} never has its tokens in a bucket of {}", *self.burst);
            let help = format!("let `burst` be {mtu} or more");
            faults.report(self.burst.place(), Fault::new(message).help(help));
        }
        if let Some(link_rate) = link_rate.filter(|link_rate| *self.rate >= **link_rate) {
            let message = format!("a link of {} never sends more than {}", *link_rate, *self.rate);
            let help = "let the shaper's `rate` be less than the link's, or leave it out";
            faults.warn(self.rate.place(), Fault::new(message).help(help));
        }
    }

    /// Reports that a link does `feature`, too, which changes how much it sends.
    pub(crate) fn not_with(&self, feature: &str, faults: &mut Faults) {
        let fault = Fault::new(format!("a link with `{feature}` shapes nothing"));
        faults.report(self.rate.place(), fault.help("leave one of them out, or shape on the link before"));
    }

    /// Configuration of it in `net`.
    pub(crate) fn config(&self) -> net::ShaperConfig {
        net::ShaperConfig { rate: *self.rate, burst: *self.burst }
    }
}
