//! Strict priority by the upper three bits of the DSCP.

use slantpath_base::Instant;

use crate::link::admission::QueueLimit;
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::parcel::Parcel;

/// The classes with what waits in them, the lowest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Priority(Box<[Class; CLASSES]>);

/// The upper three bits of the DSCP tell so many classes apart.
const CLASSES: usize = 8;

impl QueueDiscipline for Priority {
    type Config = QueueLimit;

    fn new(_: &QueueLimit, _: &PortTerms<'_>) -> Self {
        Self::default()
    }

    /// Limit of each class.
    fn limit(limit: &QueueLimit) -> QueueLimit {
        *limit
    }

    fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        let priority = priority_of(parcel);
        let held = held.filter(|held| priority_of(*held) == priority);
        self.0[priority].admits(limit, held, parcel)
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        self.0[priority_of(parcel)].push(now, parcel);
    }

    fn pop(&mut self, _: Instant, _: &mut Outlet<'_>) -> Option<Parcel> {
        self.0.iter_mut().rev().find_map(|class| class.pop().map(|(_, parcel)| parcel))
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.0.iter_mut().rev().flat_map(Class::take).collect()
    }
}

//= https://www.rfc-editor.org/rfc/rfc2474#section-4.2.2.2
//# SHOULD give packets a probability of timely forwarding that is not
//# lower than that given to packets marked with a Class Selector
//# codepoint of lower relative order
fn priority_of(parcel: Parcel) -> usize {
    usize::from(parcel.traffic_class() >> 5)
}
