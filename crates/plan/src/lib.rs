//! Settings with which signalling crosses a satellite, worked out from formulas: no simulator is needed.
//!
//! [`window`] holds the relations of "SS7 over IP over satellite" (equations 1 to 7) between load, window, round trip
//! and the time that capacity takes to be allocated, and the bounds that follow for a window that is repeated whole.
//! [`bursts`] bounds how many messages that come at random are under way at once.
//! [`framing`] counts the octets that a message takes on Ethernet, in place of an overhead that somebody enters.
//! [`Question`] is what an engineer knows; [`plan`] answers it with an [`Answer`]: the working case, settings with
//! bounds, margins, reasons and sensitivities, and what cannot be met. [`mod@print`] writes the answer as people
//! configure it.
//!
//! ```
//! use slantpath_base::{DataRate, DataSize, Duration};
//! use slantpath_plan::window::{injected_most, working_case, Band, WorkingCase};
//!
//! // Section 4.1 of the paper: 154,000 bytes, 270-byte messages, which take 1.16 octets of Ethernet each.
//! let cwnd = DataSize::from_bytes(154_000);
//! let most = injected_most(cwnd, Duration::from_millis(750));
//! assert_eq!(most.as_bits_per_sec() / 1_000, 1_642);
//! let band = Band { permanent: DataRate::from_bits_per_sec(2_048_000), on_demand: DataRate::from_bits_per_sec(0) };
//! assert_eq!(working_case(most, 1.16, band), WorkingCase::B);
//! ```
//!
//! # Map
//!
//! [`question`] is the file, [`answer`] puts settings, bounds, reasons and sensitivities together. [`framing`] counts
//! octets; [`window`] holds the paper's equations; [`course`] follows the load through queue and window. [`failover`]
//! and [`timers`] say what waits for what. [`mod@print`] writes text, JSON, a scenario and equipment's
//! settings.
//!
//! No protocol and no simulator is imported: whoever verifies an answer runs the scenario that it prints.

mod answer;
pub mod bursts;
mod course;
mod failover;
pub mod framing;
pub mod print;
mod question;
mod timers;
pub mod window;

pub use answer::{
    Answer, Impossible, LargestStep, Measure, Promise, PromiseStanding, Range, Recommendation, Unit, plan,
};
pub use question::{
    Band as BandTable, CarriedSignalling, GatewayNames, GatewayPath, Limits, MessageCarrier, Question,
    json_schema,
};
