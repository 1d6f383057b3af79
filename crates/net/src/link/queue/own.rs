//! Queues of a program's own: made elsewhere, declared to whoever reads files, and called through a table of functions.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;
use slantpath_base::{Declaration, Instant, OwnParameters, ParameterFault, ParameterValue, Stream};
use slantpath_wire::ip::Dscp;

use crate::address_names::AddressNames;
use crate::conditioner::FlowKey;
use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::link::service::Service;
use crate::parcel::Parcel;

/// A packet in a queue of a program's own.
#[derive(Clone, Debug)]
pub struct QueuedPacket {
    parcel: Parcel,
    came: Instant,
    flow: u64,
    /// True if it was marked here, while it waited.
    is_marked_here: bool,
}

impl QueuedPacket {
    /// Length in bytes, from the IP header on.
    pub const fn bytes(&self) -> u32 {
        self.parcel.length()
    }

    /// Instant at which it came.
    pub const fn came(&self) -> Instant {
        self.came
    }

    /// Number that packets of one flow have alike: of equal addresses, protocol and ports.
    pub const fn flow(&self) -> u64 {
        self.flow
    }

    /// Codepoint in its header.
    pub fn dscp(&self) -> Dscp {
        Dscp::new(self.parcel.traffic_class() >> 2).expect("six bits are left")
    }

    /// Marks it (RFC 3168), if its transport understands marks. `false` if not: then it may be dropped.
    pub const fn mark(&mut self) -> bool {
        if self.parcel.is_ecn_capable() {
            self.is_marked_here |= !self.parcel.is_marked();
            self.parcel = self.parcel.marked();
        }
        self.parcel.is_ecn_capable()
    }
}

/// State of a queue that a packet finds as it comes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct QueueState {
    /// Number of packets that wait, without the one that is being transmitted.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
}

/// A queue that stands elsewhere. It hands out each packet that it was given once, by [`pop`](Self::pop) or
/// [`take`](Self::take): to be sent, or to be dropped. A run panics if it loses one, or hands one out twice.
pub trait QueueControl: fmt::Debug + Send + Sync {
    /// Tells if a packet that finds room may [wait](Self::push); one that may not is dropped. It may be marked.
    fn admit(&mut self, _now: Instant, _packet: &mut QueuedPacket, _state: QueueState) -> bool {
        true
    }

    /// Has a packet wait.
    fn push(&mut self, now: Instant, packet: QueuedPacket);

    /// Takes out the packet that is sent next; none only if no other waits. Those that are put into `dropped` are
    /// dropped, but for one that finds the transmitter idle: it is [admitted](Self::admit) or not, and sent at once.
    fn pop(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Option<QueuedPacket>;

    /// Takes out all that waits, in order.
    fn take(&mut self) -> Vec<QueuedPacket>;

    /// A copy in the same state.
    fn copied(&self) -> Box<dyn QueueControl>;
}

/// Makes the queue of a port; the stream is its source of chance.
type Make = dyn Fn(&OwnParameters, Stream) -> Box<dyn QueueControl> + Send + Sync;

/// A kind of queue of a program's own, as it is registered.
#[derive(Clone)]
pub struct OwnQueue {
    declaration: Declaration,
    make: Arc<Make>,
}

impl OwnQueue {
    /// A queue as files have it declared; `make` makes that of a port, with a source of chance.
    pub fn new<Q: QueueControl + 'static>(
        declaration: Declaration,
        make: impl Fn(&OwnParameters, Stream) -> Q + Send + Sync + 'static,
    ) -> Self {
        let make = Arc::new(move |parameters: &OwnParameters, stream| -> Box<dyn QueueControl> {
            Box::new(make(parameters, stream))
        });
        Self { declaration, make }
    }

    /// Name, words and parameters of it.
    pub const fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// The queue as a file chooses it, with such parameters.
    pub fn chosen(&self, given: &[(String, ParameterValue)]) -> Result<ChosenQueue, ParameterFault> {
        let parameters = self.declaration.completed(given)?;
        Ok(ChosenQueue { queue: self.clone(), parameters })
    }
}

impl fmt::Debug for OwnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnQueue").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}

/// A queue of a program's own with its parameters.
#[derive(Clone, Debug)]
pub struct ChosenQueue {
    queue: OwnQueue,
    parameters: OwnParameters,
}

impl ChosenQueue {
    /// Name, words and parameters of the queue.
    pub const fn declaration(&self) -> &Declaration {
        &self.queue.declaration
    }

    /// Values of the parameters.
    pub const fn parameters(&self) -> &OwnParameters {
        &self.parameters
    }
}

/// Equal if one registered queue was chosen with the same parameters.
impl PartialEq for ChosenQueue {
    fn eq(&self, other: &Self) -> bool {
        self.declaration() == other.declaration() && self.parameters == other.parameters
    }
}

/// Configuration of a queue of a program's own.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnQueueConfig {
    /// Limit of what waits.
    pub limit: QueueLimit,
    /// The queue that a file has chosen.
    pub chosen: ChosenQueue,
}

/// A queue of a program's own before a transmitter.
#[derive(Debug)]
pub(crate) struct Own {
    name: String,
    queue: Box<dyn QueueControl>,
    packets: u64,
    bytes: u64,
    names: AddressNames,
}

impl Clone for Own {
    fn clone(&self) -> Self {
        let Self { ref name, ref queue, packets, bytes, ref names } = *self;
        Self { name: name.clone(), queue: queue.copied(), packets, bytes, names: names.clone() }
    }
}

impl Own {
    /// The packet with the number of its flow.
    fn queued(&self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>) -> QueuedPacket {
        let flow = FlowKey::of_parcel(parcel, outlet.packets.packet(parcel.packet()));
        let mut hasher = FxHasher::default();
        flow.map(|flow| self.names.named(flow)).hash(&mut hasher);
        QueuedPacket { parcel, came: now, flow: hasher.finish(), is_marked_here: false }
    }

    fn left(&mut self, parcel: Parcel) {
        let left = (self.packets.checked_sub(1), self.bytes.checked_sub(u64::from(parcel.length())));
        let (Some(packets), Some(bytes)) = left else {
            panic!("the queue `{}` hands a packet out that it does not have", self.name)
        };
        (self.packets, self.bytes) = (packets, bytes);
    }
}

impl QueueDiscipline for Box<Own> {
    type Config = OwnQueueConfig;

    const IS_MANAGED: bool = true;
    const TELLS_FLOWS_APART: bool = true;
    const DECIDES_EARLY: bool = true;
    const DROPS_WAITING: bool = true;

    fn new(config: &OwnQueueConfig, port: &PortTerms<'_>) -> Self {
        let ChosenQueue { queue, parameters } = &config.chosen;
        // Apart from the streams of the link itself: a queue may be called `loss`.
        let name = &queue.declaration.name;
        let stream = port.seed.stream(&format!("{}/queue/{name}", port.path));
        Self::new(Own {
            name: name.clone(),
            queue: (queue.make)(parameters, stream),
            packets: 0,
            bytes: 0,
            names: AddressNames::default(),
        })
    }

    fn limit(config: &OwnQueueConfig) -> QueueLimit {
        config.limit
    }

    fn signal(_: &OwnQueueConfig) -> CongestionSignal {
        CongestionSignal::Mark
    }

    fn admit(
        &mut self,
        now: Instant,
        parcel: Parcel,
        waiting: Waiting,
        _: &Service,
        outlet: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        let mut packet = self.queued(now, parcel, outlet);
        let state = QueueState { packets: waiting.packets, bytes: waiting.bytes };
        if self.queue.admit(now, &mut packet, state) { Ok(packet.parcel) } else { Err(DropReason::Early) }
    }

    fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        let held_bytes = held.map_or(0, |held| u64::from(held.length()));
        let packets = self.packets + u64::from(held.is_some());
        limit.admits(packets, self.bytes + held_bytes, parcel.length())
    }

    fn push(&mut self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>) {
        self.packets += 1;
        self.bytes += u64::from(parcel.length());
        let packet = self.queued(now, parcel, outlet);
        self.queue.push(now, packet);
    }

    fn pop(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        if self.packets == 0 {
            return None;
        }
        let mut dropped = Vec::new();
        let packet = self.queue.pop(at, &mut dropped);
        for QueuedPacket { parcel, .. } in dropped {
            self.left(parcel);
            outlet.drop_accepted(at, parcel, DropReason::Early);
        }
        let Some(QueuedPacket { parcel, is_marked_here, .. }) = packet else {
            // The transmitter would ask for ever.
            assert!(self.packets == 0, "the queue `{}` sends nothing, and packets wait in it", self.name);
            return None;
        };
        self.left(parcel);
        if is_marked_here {
            outlet.counters.marked.add(parcel.length());
        }
        Some(parcel)
    }

    fn take(&mut self) -> Vec<Parcel> {
        let taken: Vec<Parcel> = self.queue.take().into_iter().map(|packet| packet.parcel).collect();
        for &parcel in &taken {
            self.left(parcel);
        }
        assert!(self.packets == 0, "the queue `{}` does not hand out all that waits in it", self.name);
        taken
    }

    fn name_addresses(&mut self, names: &AddressNames) {
        self.names = names.clone();
    }
}
