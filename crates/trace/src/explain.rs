//! Explanation of a trace: [`story`] follows its records, [`text`] and [`json`] write what it has found.

mod follow;
mod json;
pub(crate) mod story;
pub(crate) mod text;
