//! One queue before which packets are dropped early: [`Red`] where the transmitter is event-driven.

use slantpath_base::Instant;

use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::link::queue::red::{Red, RedConfig};
use crate::link::service::Service;
use crate::parcel::Parcel;

#[derive(Clone, Debug)]
pub(crate) struct RedQueue {
    red: Box<Red>,
    class: Class,
}

impl QueueDiscipline for RedQueue {
    type Config = RedConfig;

    const IS_MANAGED: bool = true;
    const DECIDES_EARLY: bool = true;

    fn new(config: &RedConfig, port: &PortTerms<'_>) -> Self {
        Self { red: Box::new(Red::of(*config, port.seed, port.path)), class: Class::default() }
    }

    /// No limit: it has one of its own.
    fn limit(_: &RedConfig) -> QueueLimit {
        QueueLimit::Unlimited
    }

    fn signal(config: &RedConfig) -> CongestionSignal {
        config.signal
    }

    fn admit(
        &mut self,
        now: Instant,
        parcel: Parcel,
        waiting: Waiting,
        service: &Service,
        _: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        self.red.admit(now, parcel, waiting, service)
    }

    fn has_room(&mut self, _: QueueLimit, _: Parcel, _: Option<Parcel>) -> bool {
        true
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        self.class.push(now, parcel);
    }

    fn pop(&mut self, _: Instant, _: &mut Outlet<'_>) -> Option<Parcel> {
        self.red.note_departure();
        self.class.pop().map(|(_, parcel)| parcel)
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.red.forget_waiting();
        self.class.take().collect()
    }
}
