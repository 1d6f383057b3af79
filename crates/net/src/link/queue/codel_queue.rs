//! One queue with the law of CoDel.

use slantpath_base::Instant;

use crate::link::admission::{CongestionSignal, QueueLimit};
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::codel::{CoDel, CoDelConfig};
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::parcel::Parcel;

#[derive(Clone, Debug)]
pub(crate) struct CoDelQueue {
    law: CoDel,
    signal: CongestionSignal,
    class: Class,
}

impl QueueDiscipline for CoDelQueue {
    type Config = CoDelConfig;

    const IS_MANAGED: bool = true;
    const DROPS_WAITING: bool = true;

    fn new(config: &CoDelConfig, port: &PortTerms<'_>) -> Self {
        Self { law: CoDel::new(config, port.mtu_bytes), signal: config.signal, class: Class::default() }
    }

    fn limit(config: &CoDelConfig) -> QueueLimit {
        config.limit
    }

    fn signal(config: &CoDelConfig) -> CongestionSignal {
        config.signal
    }

    fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        self.class.admits(limit, held, parcel)
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        self.class.push(now, parcel);
    }

    fn pop(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        self.class.pop_by(&mut self.law, self.signal, at, outlet)
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.class.take().collect()
    }
}
