//! Programs that measure a path: [`LoadClient`] sends messages and says what became of them, and [`Echo`] sends them
//! back.
//!
//! Both are programs of a host ([`slantpath_live::Program`]), and know neither clock nor socket. Over
//! [`slantpath_live::Live`] they measure a real network. Seated at the ends of a simulated flow they measure the
//! network of a scenario, with the same report: `slantpath load --like` is that.
//!
//! # Map
//!
//! - [`load`][]: the client. `caller` is one of its associations, `stamp` names each message in its bytes, `measure`
//!   keeps the report, and `ending` looks at associations when they are closed.
//! - [`echo`][]: the server.
//! - [`news`][]: events of SCTP in words, as both tell them.

mod echo;
mod load;
mod news;

pub use echo::{Echo, EchoConfig, EchoMode, EchoReport};
pub use load::{KindReport, LoadClient, LoadClientConfig, LoadReport, PathReport};
pub use slantpath_applications::{MessageClass, WhenBlocked, Workload};
