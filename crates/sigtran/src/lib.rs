//! SIGTRAN adaptation layers, each a codec and a state machine: M2PA and M3UA, and behind features of their names M2UA,
//! SUA and IUA, which no scenario uses yet.
//!
//! They speak association, stream, payload protocol identifier and bytes to whatever carries ordered messages below
//! them; that it is SCTP is for the layer above to know.

mod affected;
pub mod asp;
pub mod common;
#[cfg(any(feature = "iua", feature = "m2ua", feature = "sua"))]
pub mod drops;
#[cfg(any(feature = "iua", feature = "m2ua"))]
pub mod interface;
#[cfg(feature = "iua")]
pub mod iua;
pub mod m2pa;
#[cfg(feature = "m2ua")]
pub mod m2ua;
pub mod m3ua;
#[cfg(any(feature = "iua", feature = "m2ua", feature = "sua"))]
pub mod message;
pub mod queue;
#[cfg(feature = "sua")]
pub mod sua;
pub mod transport;
