//! Header compression as a model of a link: packets take fewer bytes on it, and need what was sent before them.
//!
//! Of each flow both ends keep a context. A full header sets it up and refreshes it, and is as long as the headers
//! were; a compressed one takes its place in between, and tells only what changes. What an error hits is dropped by the
//! decompressor, whose link checks frames. Once more packets in a row are lost than the compression survives, the
//! context is lost with them, and compressed headers are of no use until the next full one.
//!
//! Since a link keeps its packets in order, all of this is known as a packet is sent.

use slantpath_base::{Duration, Instant};
use slantpath_wire::Packet;
use slantpath_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN, protocol};

use crate::link::flight::Transit;
use crate::link::lane::Outlet;
use crate::link::service::Transmission;
use crate::parcel::{Fate, Parcel};

/// Settings of a link that compresses headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderCompression {
    /// Bytes of the headers that are compressed. A full header is as long; a packet that is shorter stays as it is.
    pub header_bytes: u32,
    /// Bytes that take their place; fewer.
    pub compressed_bytes: u32,
    /// Compressed headers of a flow in a row after which a full one is sent.
    pub refresh_packets: u32,
    /// The time after which a full one is sent.
    pub refresh_interval: Duration,
    /// Number of packets of a flow in a row that may be lost before its context is: none where a header tells what has
    /// changed since the one before (RFC 2507 for TCP), some where it tells enough to bridge gaps (RFC 5225).
    pub losses_survived: u32,
    /// Number of flows that have a context; not zero. The one that has been silent for longest makes room.
    pub contexts: u32,
}

/// The headers of a packet as they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Compressed,
    Full,
    /// The packet has no flow, or no room for headers.
    Untouched,
}

/// A packet as it is sent. It belongs to the flow that was seen last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    form: Form,
    /// Number of bytes that it has on the link.
    pub(crate) bytes: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Compressor {
    config: HeaderCompression,
    /// The flow that was seen last comes first.
    contexts: Vec<Context>,
}

/// State that both ends keep of a flow.
#[derive(Clone, Copy, Debug)]
struct Context {
    flow: Flow,
    refreshed: Instant,
    /// Compressed headers since.
    compressed: u32,
    decompressor: Decompressor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decompressor {
    /// The decompressor can read the next compressed header, with so many packets lost in a row.
    Following { lost: u32 },
    /// The decompressor waits for a full header.
    Lost,
}

/// Fields that tell flows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    addresses: [u128; 2],
    protocol: u8,
    ports: [u8; 4],
}

impl Compressor {
    pub(crate) fn new(config: HeaderCompression) -> Self {
        Self { config, contexts: Vec::new() }
    }

    /// Forgets all contexts: both ends begin anew, or the far end is another one.
    pub(crate) fn reset(&mut self) {
        self.contexts.clear();
    }

    /// Says how a packet is sent whose transmission starts now. Of a frame no header is compressed.
    pub(crate) fn encode(&mut self, now: Instant, packet: &Packet, parcel: Parcel) -> Encoded {
        let (config, length) = (self.config, parcel.length());
        let is_untouched = length < config.header_bytes || parcel.is_frame();
        let flow = if is_untouched { None } else { flow_of(packet) };
        let Some(flow) = flow else { return Encoded { form: Form::Untouched, bytes: length } };
        let is_known = self.find(now, flow);
        let context = &mut self.contexts[0];
        let is_due = context.compressed >= config.refresh_packets
            || now - context.refreshed >= config.refresh_interval;
        if is_known && !is_due {
            context.compressed += 1;
            return Encoded {
                form: Form::Compressed,
                bytes: length - config.header_bytes + config.compressed_bytes,
            };
        }
        (context.refreshed, context.compressed) = (now, 0);
        Encoded { form: Form::Full, bytes: length }
    }

    /// Brings the context of a flow to the front; makes one if it has none. Returns whether it had.
    fn find(&mut self, now: Instant, flow: Flow) -> bool {
        let known = self.contexts.iter().position(|context| context.flow == flow);
        if let Some(place) = known {
            self.contexts[..=place].rotate_right(1);
            return true;
        }
        let context = Context { flow, refreshed: now, compressed: 0, decompressor: Decompressor::Lost };
        self.contexts.truncate(self.config.contexts as usize - 1);
        self.contexts.insert(0, context);
        false
    }

    /// Sends a packet as it was [encoded](Self::encode) just now.
    pub(crate) fn send(
        &mut self,
        encoded: Encoded,
        transmission: Transmission,
        parcel: Parcel,
        outlet: &mut Outlet<'_>,
    ) -> Fate {
        let attempt = outlet.lane.attempt(transmission, parcel.with_length(encoded.bytes));
        let fate = match (encoded.form, attempt.is_hit) {
            (Form::Untouched, true) => Fate::Lost,
            (Form::Untouched, false) => Fate::Arrives,
            (form, is_hit) => self.contexts[0].receive(form, is_hit, self.config.losses_survived),
        };
        if fate == Fate::Arrives && encoded.form == Form::Compressed {
            outlet.counters.compressed.add(parcel.length() - encoded.bytes);
        }
        let parcel = parcel.with_fate(fate);
        outlet.packets.note_hop(parcel, transmission, attempt.arrival);
        outlet.lane.land(Transit { arrival: attempt.arrival, departure: transmission.end, parcel });
        fate
    }
}

impl Context {
    /// Takes a packet to the decompressor, and gives its fate there.
    fn receive(&mut self, form: Form, is_hit: bool, losses_survived: u32) -> Fate {
        self.decompressor = match (self.decompressor, form, is_hit) {
            (_, Form::Full, false) | (Decompressor::Following { .. }, _, false) => {
                Decompressor::Following { lost: 0 }
            }
            (Decompressor::Following { lost }, _, true) if lost < losses_survived => {
                Decompressor::Following { lost: lost + 1 }
            }
            (Decompressor::Following { .. }, _, true) | (Decompressor::Lost, ..) => Decompressor::Lost,
        };
        match (is_hit, self.decompressor) {
            (true, _) => Fate::Lost,
            (false, Decompressor::Following { .. }) => Fate::Arrives,
            (false, Decompressor::Lost) => Fate::Undecodable,
        }
    }
}

/// The flow of an IP packet: its addresses, its protocol, and the ports of a transport that has them.
fn flow_of(packet: &Packet) -> Option<Flow> {
    let (head, tail) = (packet.head(), packet.tail());
    let byte = |place: usize| head.get(place).or_else(|| tail.get(place - head.len())).copied();
    let number = |places: core::ops::Range<usize>| {
        places.map(byte).try_fold(0, |number: u128, byte| Some(number << 8 | u128::from(byte?)))
    };
    let (addresses, protocol, transport) = match byte(0)? >> 4 {
        4 => {
            // A fragment but the first has no ports.
            let offset = number(6..8)? % (1 << 13);
            let is_first = offset == 0;
            let transport = is_first.then_some(usize::from(byte(0)? & 0xf) * 4);
            ([number(12..16)?, number(16..20)?], byte(9)?, transport.filter(|&at| at >= IPV4_HEADER_LEN))
        }
        6 => ([number(8..24)?, number(24..40)?], byte(6)?, Some(IPV6_HEADER_LEN)),
        _ => return None,
    };
    let has_ports = [protocol::SCTP, protocol::TCP, protocol::UDP].contains(&protocol);
    let ports = match transport.filter(|_| has_ports) {
        Some(at) => [byte(at)?, byte(at + 1)?, byte(at + 2)?, byte(at + 3)?],
        None => [0; 4],
    };
    Some(Flow { addresses, protocol, ports })
}
