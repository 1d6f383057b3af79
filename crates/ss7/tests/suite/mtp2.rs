//! Two terminals and the line between them.
mod capture;
mod delay;
pub(crate) mod line;
mod page;
mod procedures;
mod repeats;
