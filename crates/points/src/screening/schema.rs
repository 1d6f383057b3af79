//! `[[signalling.screening]]` and `[[signalling.rates]]`: what a point lets pass, and how much of it.

use slantpath_reader::{Setting, choice, section};
use slantpath_ss7::sccp::ReturnCause;

use crate::bounds::{MESSAGES, MESSAGES_A_SECOND};
use crate::point::schema::NetworkIndicatorChoice;

section! {
    /// A rule of gateway screening for what comes to a point. Rules are asked in the order of the file: the first that
    /// fits a message decides. What no rule fits passes.
    pub struct Screening {
        /// The point that screens.
        at: Setting<String>;
        /// Only messages of these link sets, by the adjacent points, or from these application servers.
        from: Setting<Vec<String>> = Vec::new();
        /// Only messages from these points (OPC): names, or point codes as the point writes them.
        opc: Setting<Vec<String>> = Vec::new();
        /// Only messages for these points (DPC): names, or point codes as the point writes them.
        dpc: Setting<Vec<String>> = Vec::new();
        /// Only these service indicators (SI), 3 to 15; any of them if it is empty. Management is named by `messages`.
        si: Setting<Vec<u8>> = Vec::new();
        /// Only this network indicator.
        network: Option<Setting<NetworkIndicatorChoice>>;
        /// Only these messages: of SCCP, like `UDT`, or of MTP3's management about destinations, like `TFP`.
        messages: Setting<Vec<String>> = Vec::new();
        /// Only called parties of these subsystems.
        called_subsystem: Setting<Vec<u8>> = Vec::new();
        /// Only calling parties of these subsystems.
        calling_subsystem: Setting<Vec<u8>> = Vec::new();
        /// Only called parties whose global title has these digits: `?` is any, a `*` at the end any more.
        called: Option<Setting<String>>;
        /// Action on the messages.
        action: Setting<ScreeningChoice>;
        /// Return cause with which SCCP answers what is rejected (Q.713, section 3.12); 7 is unqualified.
        cause: Setting<u8> = ReturnCause::UNQUALIFIED.0;
        /// A copy of each goes to whoever captures.
        copy: Setting<bool> = false;
    }
}

choice! {
    /// Action on a message that a rule fits.
    pub enum ScreeningChoice {
        /// Lets it pass.
        Allow = "allow",
        /// Throws it away, and counts it.
        Discard = "discard",
        /// Throws it away, and answers it where SCCP has an answer: UDTS and its like, or CREF.
        Reject = "reject",
    }
}

section! {
    /// A rate of messages that a point takes. What is beyond goes no further: its origin hears of congestion.
    pub struct SignallingRate {
        /// The point that takes them.
        at: Setting<String>;
        /// Only messages of this link set, by the adjacent point, or from this application server.
        from: Option<Setting<String>>;
        /// Only messages that leave by this link set, or for this application server, as they come to the point.
        to: Option<Setting<String>>;
        /// Only called parties whose global title has these digits.
        called: Option<Setting<String>>;
        /// Messages a second.
        rate: Setting<u32>, at most MESSAGES_A_SECOND;
        /// Messages that may come at once after a pause; those of a tenth of a second if absent.
        burst: Option<Setting<u32>>, at most MESSAGES;
    }
}
