//! `requests` of a table of sessions: what their openers ask for, instead of sending.

mod count;
mod think;

use slantpath_applications::{REQUEST_HEADER_LEN, RequestsConfig};
use slantpath_base::DataSize;
use slantpath_reader::{Fault, Faults, OneOf, Setting, section};

use crate::bounds::MESSAGE;

use count::Count;
use think::Think;

section! {
    /// Requests of the opener of each session. A request is answered with as much as `sizes` draws for it; some time
    /// after the last byte of the answer the next request follows, over the same association or connection.
    pub struct Requests {
        /// Number of requests that a session makes.
        count: OneOf<Count>;
        /// The length of a request: over SCTP a message.
        size: Setting<DataSize> = DataSize::from_bytes(400), at most MESSAGE;
        /// From the last byte of an answer to the next request.
        think: OneOf<Think>;
    }
}

impl Requests {
    /// Reports what no session can ask.
    pub(super) fn check(&self, faults: &mut Faults) {
        self.count.0.check(faults);
        self.think.0.check(faults);
        if self.size.as_bytes() < REQUEST_HEADER_LEN as u64 {
            let message =
                format!("a request of {} does not hold how much it asks for and its own length", *self.size);
            let help = format!("let it have {REQUEST_HEADER_LEN} B or more");
            faults.report(self.size.place(), Fault::new(message).help(help));
        }
    }

    /// Mean number of requests that a session makes.
    pub fn mean_count(&self) -> f64 {
        self.count.0.mean()
    }

    /// Configuration of it in `host`.
    pub(super) fn config(&self) -> RequestsConfig {
        RequestsConfig { count: self.count.0.config(), size: *self.size, think: self.think.0.config() }
    }
}
