//! `arq` of a direction: the link itself repeats what an error hits.

use slantpath_net::{ArqConfig, ArqOrder};
use slantpath_reader::{Fault, Faults, Setting, section};

use crate::bounds::REPETITIONS;

section! {
    /// Repetition by the link (selective repeat). A packet that an error hits is retransmitted a round trip later,
    /// before what waits.
    pub struct Arq {
        /// Number of times that a packet is sent at most before it is given up.
        tries: Setting<u32>, at most REPETITIONS;
        /// Holds back packets that come behind one that is repeated, as most links do for TCP's sake.
        in_order: Setting<bool> = true;
    }
}

impl Arq {
    /// Reports a link that never sends.
    pub(crate) fn check(&self, faults: &mut Faults) {
        if *self.tries == 0 {
            let fault = Fault::new("a packet that is tried no time is never sent");
            faults.report(self.tries.place(), fault.help("write 1 for a link that drops what an error hits"));
        }
    }

    /// Configuration of it in `net`.
    pub(crate) fn config(&self) -> ArqConfig {
        let order = if *self.in_order { ArqOrder::InOrder } else { ArqOrder::AsReceived };
        ArqConfig { tries: *self.tries, order }
    }
}
