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
        /// How long a frame is.
        frame: Setting<Duration>, at most TIMER;
        /// Slots of a frame.
        slots: Setting<u32>, at most SLOTS;
        /// What a carrier sends in a slot, after what is lost at its beginning.
        carrier_rate: Setting<DataRate>, at most RATE;
        /// How many carriers there are. A terminal sends on one at a time.
        carriers: Setting<u32> = 1, at most CARRIERS;
        /// The time at the beginning of each slot in which no packets are sent: guard time, preamble, headers.
        slot_overhead: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// From a terminal to the controller, and back: over a geostationary satellite 240 to 280 ms.
        hop: Setting<Duration>, at most DELAY;
        /// How often a terminal looks at what it has to send, and may ask. Terminals do so in turn.
        ask_every: Setting<Duration> = Duration::from_millis(500), at most TIMER;
        /// How often the controller makes a plan, if something has been asked for.
        plan_every: Setting<Duration> = Duration::from_millis(500), at most TIMER;
        /// What it takes to make one.
        processing: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// How long terminals have a plan before it holds. It does from the beginning of a frame on.
        lead: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// How requests come to the controller. With room of their own if absent.
        requests: Option<OneOf<RequestChannel>>;
        /// Whether slots that nobody has asked for are given to all terminals in turn, up to what each has at most: FCA
        /// of DVB-RCS2.
        free_capacity: Setting<bool> = false;
    }
}

tagged! {
    /// How requests come to the controller.
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
        /// How many slots they take, in front of the frame of the first carrier.
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
        /// Which carriers: `[access.<system>]`.
        system: Setting<String>;
        /// What it has for good (PAMA; CRA in DVB-RCS2): rounded up to whole slots of a frame.
        permanent: Setting<DataRate> = DataRate::from_bits_per_sec(0), at most RATE;
        /// What it has at most, rounded up alike. All slots of a carrier if absent.
        most: Option<Setting<DataRate>>, at most RATE;
        /// What it asks for.
        ask: Setting<AskFor> = AskFor::Rbdc;
        /// With `ask = "rbdc"`: in which time the backlog is to be sent beside what comes.
        drain: Setting<Duration> = DRAIN, at most TIMER;
        /// With `ask = "rbdc"`: how long it needs less before it asks for less.
        release_after: Setting<Duration> = Duration::ZERO, at most TIMER;
        /// How long it sends nothing from when on its number of slots is another.
        interruption: Setting<Duration> = Duration::ZERO, at most TIMER;
    }
}

choice! {
    /// What a terminal asks for beyond what it has for good (DAMA).
    pub enum AskFor {
        /// Nothing.
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
    pub(crate) fn frame_config(&self) -> Option<FrameConfig> {
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

/// What so many slots of each frame carry.
pub(crate) fn rate_of(frame: &FrameConfig, slots: u32) -> DataRate {
    let bits = u128::from(slots) * u128::from(frame.slot_payload_bytes) * 8 * 1_000_000_000;
    let rate = bits / u128::from(frame.length.as_nanos().max(1));
    DataRate::from_bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX))
}
