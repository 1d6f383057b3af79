//! Doors: the interfaces by which attached nodes are joined to a network, and the loop that keeps their pace.
//!
//! A turn waits for frames or for the network's next event. It takes the present, reads every door until it is empty,
//! and says that the network may run up to that present: what came before it has been read. A packet comes at the
//! instant at which the kernel received it. It leaves as soon as the network has it ready, whose instants are virtual:
//! so the lateness of one packet adds nothing to the delay of the next.

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::time;

use slantpath_base::{Duration, Instant};
use slantpath_system::SystemFailure;
use slantpath_system::clock::{
    TimerFd, monotonic, realtime, schedule_fifo, set_timer_slack, with_suspension,
};
use slantpath_system::packet::{DEFAULT_RING_BYTES, PacketSocket};
use slantpath_system::poll::Poll;

use crate::frames::{ETHERNET_HEADER_LEN, FrameKind, MacAddress, classify, ethernet};
use crate::instants::{ClockReading, Stamps, Suspension, SuspensionReading};
use crate::lateness::{DepartureLateness, DepartureSummary};
use crate::neighbours;
use crate::offload::{DeviceLayer, Offload, join, packets};

/// Why doors could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// A descriptor was refused.
    #[error(transparent)]
    Descriptor(#[from] io::Error),
    /// A door was refused.
    #[error(transparent)]
    Door(#[from] SystemFailure),
}

/// Both ends of a door.
#[derive(Clone, Debug)]
pub struct DoorConfig {
    /// Interface of this process that leads to the attached one.
    pub interface: String,
    /// Address that the network has there: its frames come from it.
    pub own: MacAddress,
    /// Address of the attached interface.
    pub attached: MacAddress,
    /// IP addresses of the attached interface.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet, in bytes.
    pub mtu_bytes: usize,
}

/// Counts of what passed a door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoorCounters {
    /// IP packets that came from the attached interface.
    pub packets_in: u64,
    /// Bytes of them.
    pub bytes_in: u64,
    /// IP packets that went to it.
    pub packets_out: u64,
    /// Bytes of them.
    pub bytes_out: u64,
    /// Packets that came when the network had gone on.
    pub overtaken: u64,
    /// Frames to all machines of a link.
    pub multicast: u64,
    /// Frames that are neither IP nor questions for neighbours, or whose packet is broken.
    pub unreadable: u64,
    /// Packets for which the interface had no room.
    pub refused: u64,
    /// Frames that the kernel dropped since they were not read in time.
    pub lost: u64,
}

/// Why a run says nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// A packet left too late.
    #[error("a packet left {late} later than at {at}")]
    Late {
        /// Instant at which it should have left.
        at: Instant,
        /// By how much it was late.
        late: Duration,
    },
    /// This process was stopped, or others had the processor.
    #[error("this process did not run for {time} from {at} on: it was stopped, or the machine was busy")]
    Stopped {
        /// Instant at which it was to go on.
        at: Instant,
        /// By how much later it did.
        time: Duration,
    },
    /// The machine was suspended.
    #[error("the machine was suspended for {time} before {at}")]
    Suspended {
        /// Instant at which it was found out, by a clock that suspension stops.
        at: Instant,
        /// Length of the suspension.
        time: Duration,
    },
    /// Frames were dropped before they were read.
    #[error("{frames} frames were dropped before they were read, up to {at}")]
    Lost {
        /// Instant at which it was found out.
        at: Instant,
        /// Number of them.
        frames: u64,
    },
}

/// Report of a door.
#[derive(Clone, Copy, Debug)]
pub struct DoorReport {
    /// Counts of what passed it.
    pub counters: DoorCounters,
    /// Lateness of what left by it, if anything did.
    pub lateness: Option<DepartureSummary>,
}

#[derive(Debug)]
struct Door {
    socket: PacketSocket,
    config: DoorConfig,
    counters: DoorCounters,
    lateness: DepartureLateness,
    /// Frames that leave together, one behind the other.
    leaving: Vec<u8>,
    /// Of each the end, and the instant at which it was to leave.
    leaving_ends: Vec<(usize, Instant)>,
}

/// All doors of an emulation, with its clock.
#[derive(Debug)]
pub struct Doors {
    all: Vec<Door>,
    poll: Poll,
    timer: TimerFd,
    /// Instant of the monotonic clock at which the run began.
    origin: time::Duration,
    stamps: Stamps,
    suspension: Suspension,
    /// Lateness beyond which the run is void.
    limit: Duration,
    void: Option<Void>,
    /// Instant at which drops were looked for last.
    drops_looked_for: Instant,
    priority_refused: Option<io::Error>,
    /// Instant at which others were to look for what has woken them last.
    others_looked: Instant,
    /// True if what others look at has ended the last wait.
    is_woken_by_other: bool,
    /// Buffer for packets that are cut out of a frame.
    cut: Vec<u8>,
    /// Frame that is joined of several.
    outgoing: Vec<u8>,
}

/// A packet that has come.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Number of the door, in the order in which they were opened.
    pub door: usize,
    /// Instant at which the kernel received it.
    pub at: Instant,
    /// From the IP header on, its checksums complete.
    pub packet: &'a [u8],
}

/// Frames that are read from a door before others have their turn.
const BUDGET: usize = 256;
/// Packets that leave together by a door, at most.
const TOGETHER: usize = 64;
/// Time after which others look for what has woken them, though nothing has.
const LOOK_AROUND: Duration = Duration::from_millis(100);
/// Longest time for which a turn waits. So a process that was stopped for 50 ms finds that out, though nothing was due.
const PULSE: Duration = Duration::from_millis(20);
/// Lateness of a turn from which on it says that the process was stopped, where packets may not be later than that.
const STOPPED_AT_LEAST: Duration = Duration::from_millis(25);
/// Time between two looks for frames that were dropped.
const DROPS_EVERY: Duration = Duration::from_millis(500);
/// Memory that is shared with the kernel for all doors, in bytes, and the least that a door has.
const RINGS_BYTES: usize = 512 << 20;
const LEAST_RING_BYTES: usize = 1 << 20;
/// Longest frame in that memory, in bytes, unless a packet may be longer.
const FRAME_BYTES: usize = 16_384;
/// Longest packet that an attached interface may join of several, in bytes: whole in that memory.
pub(crate) const JOINED_BYTES_MAX: u32 = 15_872;
/// Real-time priority of the calling thread, where it may have one: below those of the kernel's own threads.
const PRIORITY: i32 = 10;
/// Token of the timer, which is no door.
const TIMER: u64 = u64::MAX;
/// Token of what somebody else has to look at.
const OTHER: u64 = u64::MAX - 1;

impl Doors {
    /// Opens doors by these interfaces of the calling thread's network namespace. A packet that leaves later than by
    /// `limit` makes the run void.
    ///
    /// # Errors
    /// If an interface does not exist, or the system refuses what a door needs.
    pub fn open(configs: Vec<DoorConfig>, limit: Duration) -> Result<Self, DoorError> {
        let (poll, timer) = (Poll::new()?, TimerFd::new()?);
        poll.add(&timer, TIMER)?;
        // Thousands of doors share the memory that a few have.
        let ring_bytes = (RINGS_BYTES / configs.len().max(1)).clamp(LEAST_RING_BYTES, DEFAULT_RING_BYTES);
        let mut doors = Vec::new();
        for (config, token) in configs.into_iter().zip(0..) {
            let frame_bytes = FRAME_BYTES.max(config.mtu_bytes + ETHERNET_HEADER_LEN);
            let socket = PacketSocket::open(&config.interface, ring_bytes, frame_bytes, false)?;
            poll.add(&socket, token)?;
            let lateness = DepartureLateness::new(limit);
            let counters = DoorCounters::default();
            let (leaving, leaving_ends) = (Vec::new(), Vec::new());
            doors.push(Door { socket, config, counters, lateness, leaving, leaving_ends });
        }
        set_timer_slack(NonZeroU64::MIN)?;
        let priority = schedule_fifo(PRIORITY).err();
        let origin = monotonic();
        let stamps = Stamps::new(reading(origin), doors.len());
        let drops_looked_for = Instant::START;
        Ok(Self {
            all: doors,
            poll,
            timer,
            origin,
            stamps,
            suspension: Suspension::new(suspension_reading()),
            limit,
            void: None,
            drops_looked_for,
            priority_refused: priority,
            others_looked: Instant::START,
            is_woken_by_other: false,
            cut: Vec::new(),
            outgoing: Vec::new(),
        })
    }

    /// Has turns end, too, whenever there is something to read from `descriptor`.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn wake_by(&self, descriptor: impl AsFd) -> io::Result<()> {
        self.poll.add(descriptor, OTHER)
    }

    /// Why the calling thread has no real-time priority, if it has none: on a busy machine packets leave later then.
    pub const fn priority_refused(&self) -> Option<&io::Error> {
        self.priority_refused.as_ref()
    }

    /// Tells if it is time to look at what [wakes](Self::wake_by) turns: there is something to read, or nobody has
    /// looked for a while, in which no turn has waited.
    pub fn is_to_look(&mut self) -> bool {
        let now = self.now();
        let is_to_look =
            std::mem::take(&mut self.is_woken_by_other) || now >= self.others_looked + LOOK_AROUND;
        if is_to_look {
            self.others_looked = now;
        }
        is_to_look
    }

    /// Begins the run: this is its start. What has come before is dropped.
    pub fn start(&mut self) {
        for door in &mut self.all {
            while door.socket.receive().is_some() {}
        }
        self.origin = monotonic();
        self.stamps = Stamps::new(reading(self.origin), self.all.len());
        self.suspension = Suspension::new(suspension_reading());
    }

    /// Present instant of the run.
    pub fn now(&self) -> Instant {
        present(self.origin)
    }

    /// Reason for which the run says nothing any more: the first that there was.
    pub const fn void(&self) -> Option<Void> {
        self.void
    }

    /// Waits until a frame comes or `next` is due, reads what has come and gives it to `take`. Gives the instant up to
    /// which the network may run, whose present is `present`.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn turn(
        &mut self,
        network_now: Instant,
        next: Option<Instant>,
        take: &mut dyn FnMut(Incoming<'_>),
    ) -> io::Result<Instant> {
        for number in 0..self.all.len() {
            self.let_out(number)?;
        }
        let now = self.now();
        let due = next.unwrap_or(Instant::FAR_FUTURE).min(now + PULSE);
        if due > now {
            self.timer.set(self.origin + time::Duration::from_nanos(due.as_nanos()))?;
            self.is_woken_by_other |= self.poll.wait(None)?.contains(&OTHER);
            self.look_for_pauses(due);
        }
        // What was received before this instant is in the doors now.
        let before = reading(self.origin);
        let mut until = before.monotonic;
        self.stamps.handle_turn(before, before);
        for number in 0..self.all.len() {
            if let Some(last) = self.read(number, network_now, take) {
                until = until.min(last);
            }
        }
        if self.now() >= self.drops_looked_for + DROPS_EVERY {
            self.look_for_drops()?;
        }
        Ok(until.max(network_now))
    }

    /// Reads a door until it is empty. Gives the instant of the last frame if there may be more.
    fn read(
        &mut self,
        number: usize,
        network_now: Instant,
        take: &mut dyn FnMut(Incoming<'_>),
    ) -> Option<Instant> {
        let Door { socket, config, counters, .. } = &mut self.all[number];
        let mut last = None;
        for _ in 0..BUDGET {
            let frame = socket.receive()?;
            let nanos = i64::try_from(frame.stamp().as_nanos()).unwrap_or(i64::MAX);
            let at = self.stamps.instant(number, nanos);
            last = Some(at);
            let mut answer = None;
            let mut unreadable = 0;
            let each = |frame: &[u8]| match classify(frame) {
                FrameKind::Ip { packet } => {
                    counters.packets_in += 1;
                    counters.bytes_in += packet.len() as u64;
                    counters.overtaken += u64::from(at < network_now);
                    take(Incoming { door: number, at, packet });
                }
                FrameKind::Neighbour => answer = neighbours::answer(frame, config.own, &config.addresses),
                FrameKind::Multicast => counters.multicast += 1,
                FrameKind::Malformed(_) | FrameKind::Other => unreadable += 1,
            };
            let is_whole = !frame.is_cut() && frame.vlan().is_none();
            let cut = Offload::parse(&frame.offload()).and_then(|(offload, _)| {
                packets(&offload, DeviceLayer::Ethernet, frame.bytes(), config.mtu_bytes, &mut self.cut, each)
            });
            if !is_whole || cut.is_err() {
                unreadable += 1;
            }
            drop(frame);
            counters.unreadable += unreadable;
            if let Some(answer) = answer {
                let is_sent = socket.send(&Offload::NONE.to_bytes(), &answer);
                counters.refused += u64::from(!is_sent.unwrap_or(false));
            }
        }
        last
    }

    /// Hands a packet that has come to a door at `at` to the attached interface: with others that leave at the time,
    /// and before the next turn waits.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn depart(&mut self, number: usize, at: Instant, packet: &[u8]) -> io::Result<()> {
        let door = &mut self.all[number];
        // What is no IP packet has no header: nothing of the network is that.
        let Some(header) = ethernet(door.config.attached, door.config.own, packet) else { return Ok(()) };
        door.leaving.extend_from_slice(&header);
        door.leaving.extend_from_slice(packet);
        door.leaving_ends.push((door.leaving.len(), at));
        if door.leaving_ends.len() >= TOGETHER { self.let_out(number) } else { Ok(()) }
    }

    /// Sends what leaves by a door. Packets of one flow go as one frame, which costs the receiver less.
    fn let_out(&mut self, number: usize) -> io::Result<()> {
        let now = present(self.origin);
        let Door { socket, counters, lateness, leaving, leaving_ends, .. } = &mut self.all[number];
        let begins = [0].into_iter().chain(leaving_ends.iter().map(|(end, _)| *end));
        let frames = begins.zip(&*leaving_ends).map(|(begin, (end, _))| &leaving[begin..*end]);
        let mut outcome = Ok(());
        join(
            DeviceLayer::Ethernet,
            frames,
            JOINED_BYTES_MAX as usize,
            &mut self.outgoing,
            |offload, frame| match socket.send(&offload.to_bytes(), frame) {
                Ok(true) => {}
                Ok(false) => counters.refused += offload.packets_in(frame.len()),
                Err(error) => outcome = Err(error),
            },
        );
        for (_, at) in &*leaving_ends {
            let late = now.saturating_since(*at);
            lateness.record(late);
            if late > self.limit {
                self.void.get_or_insert(Void::Late { at: *at, late });
            }
        }
        counters.packets_out += leaving_ends.len() as u64;
        counters.bytes_out += (leaving.len() - leaving_ends.len() * ETHERNET_HEADER_LEN) as u64;
        leaving.clear();
        leaving_ends.clear();
        outcome
    }

    /// Finds out if the machine was suspended, or this process was stopped, while it waited for `due`.
    fn look_for_pauses(&mut self, due: Instant) {
        let now = self.now();
        if let Some(time) = self.suspension.look(suspension_reading()) {
            self.void.get_or_insert(Void::Suspended { at: now, time });
        }
        let late = now.saturating_since(due);
        if late > self.limit.max(STOPPED_AT_LEAST) {
            self.void.get_or_insert(Void::Stopped { at: due, time: late });
        }
    }

    fn look_for_drops(&mut self) -> io::Result<()> {
        self.drops_looked_for = self.now();
        for door in &mut self.all {
            door.counters.lost = door.socket.drops()?;
        }
        let frames = self.all.iter().map(|door| door.counters.lost).sum();
        if frames > 0 {
            self.void.get_or_insert(Void::Lost { at: self.drops_looked_for, frames });
        }
        Ok(())
    }

    /// Reports of all doors, in the order in which they were opened.
    ///
    /// # Errors
    /// If the system does not tell what it dropped.
    pub fn reports(&mut self) -> io::Result<Vec<DoorReport>> {
        for number in 0..self.all.len() {
            self.let_out(number)?;
        }
        self.look_for_drops()?;
        let report = |door: &Door| {
            let summary = door.lateness.summary();
            DoorReport { counters: door.counters, lateness: (summary.count > 0).then_some(summary) }
        };
        Ok(self.all.iter().map(report).collect())
    }
}

fn suspension_reading() -> SuspensionReading {
    let duration =
        |time: time::Duration| Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    SuspensionReading {
        before: duration(monotonic()),
        counting: duration(with_suspension()),
        after: duration(monotonic()),
    }
}

/// Reads both clocks.
fn reading(origin: time::Duration) -> ClockReading {
    let monotonic = present(origin);
    let realtime_nanos = i64::try_from(realtime().as_nanos()).unwrap_or(i64::MAX);
    ClockReading { realtime_nanos, monotonic }
}

/// Instant of the run, which began at `origin`.
fn present(origin: time::Duration) -> Instant {
    let nanos = monotonic().saturating_sub(origin).as_nanos();
    Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
