//! User parts of Signalling System No. 7 that no scenario uses yet: ISUP above MTP3, and TCAP above SCCP.
//!
//! Nothing here knows IP. Codecs are total: any bytes give a value or a typed error. The crate is outside the default
//! build, until a user part has a user.
//!
//! # Map
//!
//! - `isup`: `message` and `layout` are octets, of every message of basic call control. `circuit` is the life of one
//!   circuit, by its table in `circuit_state`; `basic_call` has the contents of its messages.
//! - `tcap`: `ber`, `component` and `message` are octets. `dialogues` keeps the transactions of one user by the table
//!   in `transaction`, with an invocation's timer each. Parameters stay octets. There are no more dialogues than
//!   configured.

pub mod isup;
pub mod tcap;
