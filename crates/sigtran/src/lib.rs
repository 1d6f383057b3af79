//! SIGTRAN adaptation layers: M2PA, M3UA, M2UA, SUA and IUA, each a codec and a state machine.
//!
//! They speak association, stream, payload protocol identifier and bytes to whatever carries ordered messages below
//! them; that it is SCTP is for the layer above to know.

mod affected;
pub mod asp;
pub mod common;
pub mod drops;
pub mod interface;
pub mod iua;
pub mod m2pa;
pub mod m2ua;
pub mod m3ua;
pub mod message;
pub mod queue;
pub mod sua;
pub mod transport;
