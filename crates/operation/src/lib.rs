//! Operation of a program that runs: sockets by which it is controlled, watched and supervised, whatever it runs.
//!
//! All of them are looked at between two turns of the program. None of them waits, and each holds a bounded amount for
//! whoever is at the other end: a client that is slow or hostile loses its own connection and nothing else.
//!
//! # Map
//!
//! On Linux:
//!
//! - [`control_socket`][]: clients by whom the program is asked and changed, in the words of `slantpath_control`.
//! - [`scraped`][]: figures for Prometheus, over HTTP.
//! - [`supervisor`][]: what systemd is told.

#[cfg(target_os = "linux")]
mod control_socket;
#[cfg(target_os = "linux")]
mod scraped;
#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(target_os = "linux")]
pub use control_socket::{ControlError, ControlSocket};
#[cfg(target_os = "linux")]
pub use scraped::ScrapeSocket;
#[cfg(target_os = "linux")]
pub use supervisor::Supervisor;
