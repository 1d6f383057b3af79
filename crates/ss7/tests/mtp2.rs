//! Two terminals and the line between them.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "mtp2/capture.rs"]
mod capture;
#[path = "mtp2/delay.rs"]
mod delay;
#[path = "mtp2/line.rs"]
mod line;
#[path = "mtp2/page.rs"]
mod page;
#[path = "mtp2/procedures.rs"]
mod procedures;
