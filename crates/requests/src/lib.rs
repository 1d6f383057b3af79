//! Words between a program's SCTP descriptor and the daemon that serves it.
//!
//! A descriptor is one end of a Unix SEQPACKET pair; the daemon has the other end. Each piece that crosses the pair is
//! one of these, with a header in band, since a pair throws control messages of SCTP away:
//!
//! - from the program, an [`FromProgram`]: bytes of a message, a [`Request`], or a mark that the program closes it;
//! - to the program, an [`ToProgram`]: bytes of a message or notification, or a descriptor that has been accepted.
//!
//! A request brings the descriptor to which its [`Reply`] is written. Whoever has the descriptor may ask, and nobody
//! else: there is no name to guess, and what is forked, executed, duplicated or passed on works as it is.
//!
//! Options and their values travel as the bytes that Linux has in them; who serves them reads them. Any bytes give a
//! piece or a [`Malformed`]. The crate makes no system call.
//!
//! # Map
//!
//! - [`piece`][]: what crosses a pair. [`request`][]: what is asked, and answered. [`open`][]: how a pair is had.
//! - [`address`][]: addresses with ports. [`fields`][]: numbers in bytes. [`errno`][]: errors as Linux numbers them.

mod address;
mod errno;
mod fields;
mod open;
mod piece;
mod request;

pub use errno::Errno;
pub use fields::Malformed;
pub use open::{Family, OpenRequest, Style};
pub use piece::{FromProgram, HEADER_LEN, MessageInfo, PIECE_MAX, SendInfo, ToProgram};
pub use request::{Half, OPTION_MAX, Reply, Request};
