//! `delay_trace` and `fade_trace`: files that a link follows.

use std::sync::Arc;

use slantpath_reader::{Later, Resolved, Setting, choice, section};

use super::fade_step::FadeStep;

section! {
    /// A delay that follows a file, in straight lines from point to point. Before the first and after the last it stays
    /// as it is there.
    pub struct DelayTrace<S> {
        /// The file, relative to the scenario: lines of `at,delay` such as `30 s,27.3 ms`, in order of time.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Later<S, Setting<String>>;
    }
}

section! {
    /// A rate, a loss and a bit error rate that follow a file, in steps. Before the first line, and where a line leaves
    /// a place empty, it stays as it was.
    pub struct FadeTrace<S> {
        /// The file, relative to the scenario: lines of `at,rate,loss,bit_error_rate` such as
        /// `30 s,1.5 Mbit/s,1 %,1e-6` or `40 s,,,1e-5`, in order of time.
        file: Setting<String>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Later<S, Setting<String>>;
        /// Format of the file; `steps` if absent.
        format: Option<Setting<TraceFormat>>;
        /// Steps that the file lists.
        steps: Later<S, Resolved<Arc<[FadeStep]>>>;
    }
}

choice! {
    /// Format of a file of rates.
    pub enum TraceFormat {
        /// A whole number of milliseconds a line, at which a packet of 1,504 bytes may leave, and all of it repeated
        /// until the run ends. Between two such instants the rate is what these packets make of it.
        Mahimahi = "mahimahi",
        /// Lines of a time, a rate, a loss and a bit error rate.
        Steps = "steps",
    }
}
