//! RFC 6458's sockets of programs, as Linux has them, over the associations of one host.
//!
//! [`Sockets`] is a program of a host ([`slantpath_live::Program`]): it serves what doors ask about descriptors
//! ([`slantpath_requests`]), and makes no system call. Its user moves pieces between it and the pairs of the programs,
//! claims ports for it, and asks it for news after everything that it hands in.
//!
//! # Map
//!
//! - [`sockets`][]: all sockets and associations, and the program of the host. [`socket`][]: state of one socket.
//!   [`association`][]: state of one association.
//! - [`requests`][]: what programs ask; [`binding`][]: addresses and ports; [`ports`][]: those of the machine;
//!   [`connecting`][]: associations that programs begin; [`sending`][]: messages of programs; [`closing`][]: ends of
//!   sockets.
//! - [`events`][]: what becomes of associations, told as ends, errors and notifications. [`receiving`][]: messages that
//!   come. [`inbox`][]: what a program has not read.
//! - [`options`][]: options, each declared once in its table. [`layout`][]: structs of Linux as bytes.
//!   [`notifications`][]: those of RFC 6458.
//! - [`outcome`][]: Linux's numbers for what becomes of associations. [`told`][]: log of what they are told, to be
//!   repeated.

mod association;
mod binding;
mod closing;
mod connecting;
mod events;
mod inbox;
mod layout;
mod news;
mod notifications;
mod options;
mod outcome;
mod ports;
mod receiving;
mod requests;
mod sending;
mod socket;
mod sockets;
mod told;

pub use closing::Closing;
pub use inbox::ForProgram;
pub use news::{Answered, News, SocketNumber, Token};
pub use options::{DeclaredOption, OptionAccess, declared_options};
pub use sending::Taken;
pub use sockets::Sockets;

#[cfg(test)]
mod tests;
