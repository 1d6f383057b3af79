//! SIGTRAN adaptation layers that no scenario uses yet, each a codec and a state machine: M2UA, SUA and IUA.
//!
//! They stand on what `slantpath_sigtran` shares with M3UA: ASPs, the common format, the words of the transport. The
//! crate is outside the default build, until a layer has a user.
//!
//! # Map
//!
//! - `message`: the codec of all three. A layer is a vocabulary beside the messages of `asp`: its parameters, and a
//!   table of its messages with what each must and may have.
//! - `m2ua`, `sua`, `iua`: each a `SignallingGateway` and a process over `asp::Gateway` and `asp::Process`, with a
//!   table for a link, a connection, a data link. They speak the primitives of `slantpath_ss7::link`, of SCCP and of
//!   Q.921.
//! - `interface`: Interface Identifiers, which M2UA and IUA have in place of routing contexts.
//! - `drops`: counts what they throw away, by reason.

pub mod drops;
pub mod interface;
pub mod iua;
pub mod m2ua;
pub mod message;
pub mod sua;
