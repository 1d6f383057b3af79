//! First in, first out: before a transmitter that finds out what a packet takes, or when it may leave, as it is sent.

use slantpath_base::Instant;

use crate::link::admission::QueueLimit;
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::parcel::Parcel;

#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo(Class);

impl QueueDiscipline for Fifo {
    type Config = QueueLimit;

    fn new(_: &QueueLimit, _: &PortTerms<'_>) -> Self {
        Self::default()
    }

    fn limit(limit: &QueueLimit) -> QueueLimit {
        *limit
    }

    fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        self.0.admits(limit, held, parcel)
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        self.0.push(now, parcel);
    }

    fn pop(&mut self, _: Instant, _: &mut Outlet<'_>) -> Option<Parcel> {
        self.0.pop().map(|(_, parcel)| parcel)
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.0.take().collect()
    }
}
