//! The command as its users meet it: real invocations, their words, files and exit status.

mod errors;
mod place;
mod run;
mod sweep;
mod tutorial;
