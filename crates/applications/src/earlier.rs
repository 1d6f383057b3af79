//! The earlier of two deadlines.

use slantpath_base::Instant;

/// The earlier of two deadlines, where none is later than all.
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
