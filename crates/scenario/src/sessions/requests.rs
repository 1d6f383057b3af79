//! `requests` of a table of sessions: what their openers ask for, instead of sending.

mod count;
mod think;

use slantpath_base::DataSize;
use slantpath_host::{REQUEST_HEADER_LEN, RequestsConfig};
use slantpath_reader::{Fault, Faults, OneOf, Setting, section};

use super::schema::{Arrivals, Sessions};
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
    pub(super) fn check(&self, sessions: &Sessions, faults: &mut Faults) {
        self.count.0.check(faults);
        self.think.0.check(faults);
        if self.size.as_bytes() < REQUEST_HEADER_LEN as u64 {
            let message =
                format!("a request of {} does not hold how much it asks for and its own length", *self.size);
            let help = format!("let it have {REQUEST_HEADER_LEN} B or more");
            faults.report(self.size.place(), Fault::new(message).help(help));
        }
        if let Arrivals::Trace(trace) = &sessions.arrivals.0 {
            let fault = Fault::new("a trace says what each session carries, and not what is asked");
            let help = "remove `requests`, or let arrivals be drawn";
            faults.report(trace.file.place(), fault.help(help));
        }
        let least = sessions.admission.as_ref().and_then(|admission| admission.0.min_throughput.as_ref());
        if let Some(least) = least {
            let fault = Fault::new("what an opener that asks has outstanding is its requests: no throughput");
            faults.report(least.place(), fault.help("admit by `max_sessions` or `max_round_trip`"));
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
