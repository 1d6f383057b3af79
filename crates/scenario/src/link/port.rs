//! Queue before a transmitter, and what is put around it. Links of the network and of a sky have the same keys.

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::{DirectionConfig, QueueConfig};
use slantpath_reader::{
    Awaited, Fault, Faults, Later, OneOfOrOwn, Place, Resolved, Setting, Tables, Written, section,
};

use super::conditioner::Conditioner;
use super::own_discipline::AnyDiscipline;
use super::queue_size::QueueSize;
use crate::bounds::{PACKET, QUEUE};

section! {
    /// Queue before a transmitter.
    pub struct Port<S> {
        /// Bytes that the link puts around each packet. They take time to send; queues, counters and `mtu` know the IP
        /// packet only. None if absent.
        link_overhead: Option<Setting<DataSize>>, at most PACKET;
        /// Rules by which packets are conditioned before they are queued. None if absent.
        conditioners: Tables<Conditioner>;
        /// Most that is queued for the transmitter; beyond it, arrivals are dropped. 100 packets if absent.
        queue: Later<S, Setting<QueueSize>>, at most QUEUE;
        /// Order in which queued packets are sent, and rule by which some are dropped early. First in, first out, and
        /// none, if absent.
        discipline: Option<OneOfOrOwn<AnyDiscipline>>;
        /// Highest rate of the transmitter: the one that is written beside, or that of its slots.
        top_rate: Later<S, Resolved<DataRate>>;
    }
}

impl Port<Written> {
    /// Gives the values that one direction sets itself, or else those that are set for both, or the default.
    pub(crate) fn completed(&self, both: &Self, place: Place) -> Self {
        let conditioners = if self.conditioners.iter().len() == 0 { both } else { self };
        Self {
            link_overhead: self.link_overhead.or(both.link_overhead),
            conditioners: conditioners.conditioners.clone(),
            queue: self.queue.or(both.queue).or(Setting::default(QueueSize::DEFAULT, place).into()),
            discipline: self.discipline.clone().or_else(|| both.discipline.clone()),
            top_rate: Awaited::open(),
        }
    }

    /// A queue that holds something, and a transmitter of packets up to `mtu` that sends, if it has a rate of its own;
    /// `cure` is what to do in place of a rate of zero.
    pub(crate) fn check(
        &self,
        rate: Option<Setting<DataRate>>,
        mtu: DataSize,
        cure: &str,
        faults: &mut Faults,
    ) {
        if let Some(discipline) = &self.discipline {
            discipline.check(self.queue.map_or(Place::default(), |queue| queue.place()), mtu, faults);
        }
        if let Some(rate) = rate.filter(|rate| rate.as_bits_per_sec() == 0) {
            faults.report(rate.place(), Fault::new("a link of rate zero never sends").help(cure));
        }
        if let Some(queue) = self.queue.filter(|queue| queue.is_zero()) {
            let help = "a packet waits for the transmitter in the queue: let it hold one at least";
            faults.report(
                queue.place(),
                Fault::new("a queue of zero lets no packet wait: of two that meet, one is dropped")
                    .help(help),
            );
        }
    }
}

impl Port {
    /// A direction of this port whose link carries packets of at most `mtu_bytes`, with nothing else known of it, its
    /// conditioners among that.
    pub(crate) fn direction(&self, mtu_bytes: u32) -> DirectionConfig {
        let limit = self.queue.0;
        let queue = match &self.discipline {
            Some(discipline) => discipline.0.config(limit),
            None => QueueConfig::DropTail(limit),
        };
        let mut config = DirectionConfig::new(*self.top_rate, Duration::ZERO, queue);
        config.overhead_bytes =
            self.link_overhead.map_or(0, |overhead| u32::try_from(overhead.as_bytes()).unwrap_or(u32::MAX));
        config.mtu_bytes = mtu_bytes;
        config
    }
}
