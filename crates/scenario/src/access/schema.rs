//! The keys of `[access.<name>]`, and of `access` of a direction.

use slantpath_base::{DataRate, Duration};
use slantpath_net::FrameConfig;
use slantpath_reader::{OneOf, Setting, choice, section, tagged};

use crate::bounds::{CARRIERS, DELAY, RATE, SLOTS, TIMER};

/// In which time a backlog is to be sent if a terminal does not say.
pub(super) const DRAIN: Duration = Duration::from_secs(1);

section! {
    /// Carriers of a satellite that terminals share by time (MF-TDMA), and the loop by which they are given capacity on
    /// demand. Directions of links whose `access` names it send on them.
    pub struct AccessSystem {
        /// Length of a frame.
        frame: Setting<Duration>, at most TIMER;
        /// Slots of a frame.
        slots: Setting<u32>, at most SLOTS;
        /// Rate of a carrier in a slot, after the overhead at the slot's beginning.
        carrier_rate: Setting<DataRate>, at most RATE;
        /// Number of carriers. A terminal sends on one at a time.
        carriers: Setting<u32> = 1, at most CARRIERS;
        /// The time at the beginning of each slot in which no packets are sent: guard time, preamble, headers.
        slot_overhead: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// From a terminal to the controller, and back: over a geostationary satellite 240 to 280 ms.
        hop: Setting<Duration>, at most DELAY;
        /// Interval at which a terminal looks at what it has to send, and may ask. Terminals do so in turn.
        ask_every: Setting<Duration> = Duration::from_millis(500), at most TIMER;
        /// Interval at which the controller makes a plan, if something has been asked for.
        plan_every: Setting<Duration> = Duration::from_millis(500), at most TIMER;
        /// Time that it takes to make a plan.
        processing: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// Time that terminals have a plan before it holds. It does from the beginning of a frame on.
        lead: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// Way by which requests come to the controller. With room of their own if absent.
        requests: Option<OneOf<RequestChannel>>;
        /// Gives slots that nobody has asked for to all terminals in turn, up to the most that each may have: FCA of
        /// DVB-RCS2.
        free_capacity: Setting<bool> = false;
    }
}

tagged! {
    /// Way by which requests come to the controller.
    pub enum RequestChannel {
        /// Each terminal has room for one whenever it looks, beside the frame.
        Assigned = "assigned",
        /// Terminals choose among rooms for requests at random, and two that choose the same one are not heard: slotted
        /// ALOHA.
        Contention = "contention",
        /// In the bursts that it sends: a terminal that has no slot cannot ask.
        Piggybacked = "piggybacked",
    }
}

section! {
    /// Room of its own for each terminal.
    pub struct Assigned {}
}

section! {
    /// Rooms for requests that terminals choose at random.
    pub struct Contention {
        /// For how many requests a frame has room.
        per_frame: Setting<u32>, at most SLOTS;
        /// Number of slots that the requests take, in front of the frame of the first carrier.
        slots: Setting<u32> = 1, at most SLOTS;
        /// Over how many frames a terminal spreads the repetition of a request that was not heard.
        backoff: Setting<u32> = 8, at most SLOTS;
    }
}

section! {
    /// Requests in bursts.
    pub struct Piggybacked {}
}

section! {
    /// The direction sends in slots of shared carriers, in place of a `rate`.
    pub struct TerminalAccess {
        /// System whose carriers it uses: `[access.<system>]`.
        system: Setting<String>;
        /// Rate that it has for good (PAMA; CRA in DVB-RCS2): rounded up to whole slots of a frame.
        permanent: Setting<DataRate> = DataRate::from_bits_per_sec(0), at most RATE;
        /// Rate that it has at most, rounded up alike. All slots of a carrier if absent.
        most: Option<Setting<DataRate>>, at most RATE;
        /// Kind of capacity that it asks for.
        ask: Setting<AskFor> = AskFor::Rbdc;
        /// With `ask = "rbdc"`: in which time the backlog is to be sent beside what comes.
        drain: Setting<Duration> = DRAIN, at most TIMER;
        /// With `ask = "rbdc"`: how long it needs less before it asks for less.
        release_after: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// Time for which it sends nothing after its number of slots has changed.
        interruption: Setting<Duration> = Duration::ZERO, at most TIMER;
    }
}

choice! {
    /// Capacity that a terminal asks for beyond what it has for good (DAMA).
    pub enum AskFor {
        /// No capacity on demand.
        Nothing = "nothing",
        /// The rate at which packets have come since it last looked, and what sends the backlog within `drain`. It
        /// holds until it asks for another.
        Rbdc = "rbdc",
        /// Capacity for what it has to send and has not asked for. It is used up.
        Vbdc = "vbdc",
        /// Capacity for all that it has to send, in place of what it has asked for before; not again before the answer
        /// must be there. It is used up.
        Avbdc = "avbdc",
    }
}

impl AccessSystem {
    /// The frame of its carriers; `None` if no bytes fit into a slot.
    pub fn frame_config(&self) -> Option<FrameConfig> {
        let slots = *self.slots;
        let slot = Duration::from_nanos(self.frame.as_nanos().checked_div(u64::from(slots))?);
        let sends = slot.saturating_sub(*self.slot_overhead);
        let slot_payload_bytes = u32::try_from(self.carrier_rate.size_in(sends).as_bytes()).ok()?;
        let slot_overhead = *self.slot_overhead;
        (slot_payload_bytes > 0).then_some(FrameConfig {
            length: *self.frame,
            slots,
            slot_overhead,
            slot_payload_bytes,
        })
    }
}

/// Slots of each frame that carry at least this rate.
pub(crate) fn slots_for(frame: &FrameConfig, rate: DataRate) -> u32 {
    let bits = u128::from(rate.as_bits_per_sec()) * u128::from(frame.length.as_nanos());
    let per_slot = u128::from(frame.slot_payload_bytes) * 8 * 1_000_000_000;
    u32::try_from(bits.div_ceil(per_slot)).unwrap_or(u32::MAX)
}

/// Rate that this many slots of each frame carry.
pub fn rate_of(frame: &FrameConfig, slots: u32) -> DataRate {
    let bits = u128::from(slots) * u128::from(frame.slot_payload_bytes) * 8 * 1_000_000_000;
    let rate = bits / u128::from(frame.length.as_nanos().max(1));
    DataRate::from_bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX))
}
