//! System calls of a program that another process answers: a filter of numbers, and its listener.
//!
//! A [`CallFilter`] names the calls that are notified; all others run as they are. [`start()`] starts a program behind
//! one, whatever it is and without any right, and gives the [`Listener`] at which those calls arrive. Its process and
//! all that it starts wait there until they are answered. A [`Task`] is the program's side of a call: its memory, its
//! descriptors and the signals that wait for it.
//!
//! A call of another architecture than the kernel's own, as of a 32-bit program, passes the filter.

mod filter;
mod listener;
mod start;
mod task;

pub use filter::{CallFilter, CallTest};
pub use listener::{CallAnswer, Listener, NotifiedCall};
pub use start::{NotifiedProgram, START_MARK, StartedProgram, start};
pub(crate) use task::field;
pub use task::{PendingSignals, Task};
