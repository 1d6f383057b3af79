//! FQ-CoDel (RFC 8290): flows are hashed to queues, each with CoDel, which share the transmitter by deficit round
//! robin; a flow that has just begun, or sends little, goes first.

use core::hash::{Hash, Hasher};
use std::collections::VecDeque;

use rustc_hash::FxHasher;
use slantpath_base::Instant;

use crate::address_names::AddressNames;
use crate::conditioner::{FlowKey, Recent};
use crate::link::admission::{CongestionSignal, QueueLimit};
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::codel::{CoDel, CoDelConfig};
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::parcel::Parcel;

/// An FQ-CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// The law of each queue. Its limit is that of all queues together.
    pub codel: CoDelConfig,
    /// Number of bytes that a queue may send in a turn; not zero.
    pub quantum_bytes: u32,
    /// Number of queues; not zero.
    pub queues: u16,
}

/// The queues with what waits in them.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    queues: Box<[FlowQueue]>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    quantum_bytes: i64,
    signal: CongestionSignal,
    salt: u64,
    names: AddressNames,
    /// Numbers of the queues that flows were hashed to.
    places: Recent<Option<FlowKey>, u16>,
}

#[derive(Clone, Debug)]
struct FlowQueue {
    class: Class,
    law: CoDel,
    credits_bytes: i64,
    list: List,
}

/// On which list a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    New,
    None,
    Old,
}

//= https://www.rfc-editor.org/rfc/rfc8290#section-4.1
//# If the limit is
//# exceeded (which can happen since a packet was just enqueued), the
//# queue with the largest current byte count is selected and half the
//# number of packets from this queue (up to a maximum of 64 packets) are
//# dropped from the head of that queue.
const DROPPED_AT_ONCE_MAX: u64 = 64;

impl FqCoDel {
    //= https://www.rfc-editor.org/rfc/rfc8290#section-4.1
    //# The hash is salted by modulo addition of a random
    //# value selected at initialisation time to prevent possible DoS attacks
    //# if the hash is predictable ahead of time (see Section 8).
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of queues")]
    fn place_of(&mut self, flow: Option<FlowKey>) -> u16 {
        let Self { queues, salt, names, places, .. } = self;
        *places.entry(flow, || {
            let mut hasher = FxHasher::default();
            (flow.map(|flow| names.named(flow)), *salt).hash(&mut hasher);
            ((u128::from(hasher.finish()) * queues.len() as u128) >> 64) as u16
        })
    }
}

impl QueueDiscipline for Box<FqCoDel> {
    type Config = FqCoDelConfig;

    const IS_MANAGED: bool = true;
    const TELLS_FLOWS_APART: bool = true;
    const MAKES_ROOM: bool = true;
    const DROPS_WAITING: bool = true;

    fn new(config: &FqCoDelConfig, port: &PortTerms<'_>) -> Self {
        let mut stream = port.seed.stream(&format!("{}/fq-codel", port.path));
        let queue = FlowQueue {
            class: Class::default(),
            law: CoDel::new(&config.codel, port.mtu_bytes),
            credits_bytes: 0,
            list: List::None,
        };
        Self::new(FqCoDel {
            queues: vec![queue; usize::from(config.queues.max(1))].into(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum_bytes: i64::from(config.quantum_bytes.max(1)),
            signal: config.codel.signal,
            salt: stream.next_u64(),
            names: AddressNames::default(),
            places: Recent::default(),
        })
    }

    fn limit(config: &FqCoDelConfig) -> QueueLimit {
        config.codel.limit
    }

    fn signal(config: &FqCoDelConfig) -> CongestionSignal {
        config.codel.signal
    }

    /// True: it makes room by dropping what waits.
    fn has_room(&mut self, _: QueueLimit, _: Parcel, _: Option<Parcel>) -> bool {
        true
    }

    fn push(&mut self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>) {
        let place = self.place_of(FlowKey::of_parcel(parcel, outlet.packets.packet(parcel.packet())));
        let queue = &mut self.queues[usize::from(place)];
        queue.class.push(now, parcel);
        if queue.list == List::None {
            (queue.list, queue.credits_bytes) = (List::New, self.quantum_bytes);
            self.new.push_back(place);
        }
    }

    /// Packets from the head of the longest queue, for others to have room: half of them, or as many as may be dropped
    /// at once.
    fn take_excess(&mut self) -> Vec<Parcel> {
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| queue.class.bytes()) else {
            return Vec::new();
        };
        let count = longest.class.packets().div_ceil(2).min(DROPPED_AT_ONCE_MAX);
        (0..count).filter_map(|_| longest.class.pop()).map(|(_, parcel)| parcel).collect()
    }

    fn pop(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        loop {
            let (list, place) = match (self.new.front(), self.old.front()) {
                (Some(&place), _) => (&mut self.new, place),
                (None, Some(&place)) => (&mut self.old, place),
                (None, None) => return None,
            };
            let queue = &mut self.queues[usize::from(place)];
            //= https://www.rfc-editor.org/rfc/rfc8290#section-4.2
            //# for the queue at the head of that list, if that queue has a
            //# negative number of credits (i.e., it has already dequeued at least a
            //# quantum of bytes), it is given an additional quantum of credits, the
            //# queue is put onto _the end of_ the list of old queues, and the
            //# routine selects the next queue and starts again.
            if queue.credits_bytes <= 0 {
                queue.credits_bytes += self.quantum_bytes;
                queue.list = List::Old;
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            if let Some(parcel) = queue.class.pop_by(&mut queue.law, self.signal, at, outlet) {
                queue.credits_bytes -= i64::from(parcel.length());
                return Some(parcel);
            }
            //= https://www.rfc-editor.org/rfc/rfc8290#section-4.2
            //# If
            //# the queue selected for dequeue came from the list of new queues, it
            //# is moved to _the end of_ the list of old queues.  If instead it came
            //# from the list of old queues, that queue is removed from the list, to
            //# be added back (as a new queue) the next time a packet arrives that
            //# hashes to that queue.
            list.pop_front();
            if queue.list == List::New {
                queue.list = List::Old;
                self.old.push_back(place);
            } else {
                queue.list = List::None;
            }
        }
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.new.clear();
        self.old.clear();
        let empty = |queue: &mut FlowQueue| {
            queue.list = List::None;
            queue.class.take()
        };
        self.queues.iter_mut().flat_map(empty).collect()
    }

    /// Has flows hashed by what these call their addresses.
    fn name_addresses(&mut self, names: &AddressNames) {
        self.names = names.clone();
        self.places = Recent::default();
    }
}
