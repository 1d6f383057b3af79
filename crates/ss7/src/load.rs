//! Signalling load: what a traffic generator for SS7 links sends, and the account of what became of it.
//!
//! [`Generator`] gives messages for a number of signalling links, each at so many Erlang; whoever carries them (MTP3
//! over MTP2 or M2PA, or M3UA) sees ordinary transfers. [`Account`] knows what was sent and reads what arrives: every
//! message is delivered, late, lost or outstanding, arrivals may be repeated or out of sequence, each delivery has a
//! delay. [`Report::compare`] puts the outcome beside the limits of Q.706.

mod account;
mod arrivals;
mod generator;
mod length;
mod limits;
mod profile;
mod routing;
mod runs;
mod stamp;

pub use account::{Account, Delivery, Report};
pub use arrivals::{Arrivals, TracedArrival};
pub use generator::{Generator, GeneratorConfig, GeneratorError, Message, Selection};
pub use length::Lengths;
pub use limits::{Comparison, Limit, Verdict};
pub use profile::LoadStep;
pub use routing::{ByCode, ByTitle, Routing};
pub use stamp::{LinkNumber, LoadStamp};
