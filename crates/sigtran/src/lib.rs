//! SIGTRAN adaptation layers, each a codec and a state machine: M2PA and M3UA, and behind features of their names M2UA,
//! SUA and IUA, which no scenario uses yet.
//!
//! They speak association, stream, payload protocol identifier and bytes to whatever carries ordered messages below
//! them; that it is SCTP is for the layer above to know.
//!
//! # Map
//!
//! - `asp`: what M3UA and the other layers with ASPs share: three state tables, `Gateway` for the side that serves,
//!   `Process` for the side of the ASP. Both are generic over what a layer's messages concern (`Adaptation`).
//! - `m3ua`: adds DATA, destinations and routing keys. `Sgp` (`sgp/`: distribution, network, registration), `Asp`
//!   (`asp/`: traffic, network, registration), `Ipsp`, which is one of each.
//! - `m2pa`: a codec of its own and one link object: three tables (`state`, `alignment`, `outage`), two buffers
//!   (`transmission`, `reception`), and `path`, which holds timers against a round trip.
//! - `message` (behind the features): the codec of M2UA, SUA and IUA. A layer is a vocabulary beside the messages of
//!   `asp`: its parameters, and a table of its messages with what each must and may have.
//! - `m2ua`, `sua`, `iua` (features): each a `SignallingGateway` and a process over `asp::Gateway` and
//!   `asp::Process`, with a table for a link, a connection, a data link. They speak the primitives of
//!   `slantpath_ss7::link`, of SCCP and of Q.921.
//! - `drops` (with them): counts what they throw away, by reason.
//! - `common`: `Layout` writes a message as it was read.
//! - `transport`: the words that all of them speak to whatever carries them. None knows SCTP.

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
