//! Doors: the interfaces by which attached nodes are joined to a network, and the loop that keeps their pace.
//!
//! A turn waits for frames or for the instant at which something may leave. It takes the present, reads every door
//! until it is empty, and says that the network may run up to that present: what came before it has been read. A packet
//! comes at the instant at which the kernel received it. It leaves as soon as the network has it ready, whose instants
//! are virtual: so the lateness of one packet adds nothing to the delay of the next. For the same reason frames that
//! follow one another are read together, as long as the last link before a door takes longer than that.

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time;

use slantpath_base::{Duration, Instant};
use slantpath_system::SystemFailure;
use slantpath_system::clock::{
    TimerFd, monotonic, real_time_share_ppm, realtime, rest, schedule_fifo, set_timer_slack, thread_time,
    with_suspension,
};
use slantpath_system::network::{InterfaceDrops, interface_drops};
use slantpath_system::packet::{DEFAULT_RING_BYTES, PacketSocket, ReceivedFrame};
use slantpath_system::poll::Poll;
use slantpath_wire::Packet;
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};

use crate::departing::{Before, Departing};
use crate::frames::{self, FrameKind, MacAddress, classify, with_vlan_tag};
use crate::instants::{ClockReading, Stamps, Suspension, SuspensionReading};
use crate::lateness::DepartureLateness;
use crate::neighbours;
use crate::offload::{DeviceLayer, LeavingPacket, Offload, PacketMemory, join, packets, views};
use crate::port::OwnPort;
use crate::report::{DoorCounters, DoorReport, Void};
use crate::rest::{ALL_PPM, LOOK_EVERY, Rests};
use crate::station::PortStation;

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
    /// True if frames pass as they are, and false if IP packets do.
    pub carries_frames: bool,
    /// Port of the machine that the interface is, if it is one.
    pub port: Option<Arc<OwnPort>>,
}

impl DoorConfig {
    /// Tells if a frame is read here: all of it has come, and it has no tag of a virtual LAN where the link carries IP,
    /// which is in none.
    fn is_readable(&self, frame: &ReceivedFrame<'_>) -> bool {
        !frame.is_cut() && (self.carries_frames || frame.vlan().is_none())
    }
}

#[derive(Debug)]
struct Door {
    socket: PacketSocket,
    config: DoorConfig,
    counters: DoorCounters,
    lateness: DepartureLateness,
    /// Packets that were refused when they were sent.
    unsent: u64,
    /// Frames that have been read, and that the kernel [counts as dropped](frames::is_counted_as_dropped).
    of_no_use: u64,
    /// Packets that the interface had dropped when the run began.
    dropped_before: InterfaceDrops,
    /// Packets that leave together, each with the instant at which it was to leave and its header of the link.
    leaving: Vec<Departing>,
    /// Whoever is behind a port whose link carries IP.
    station: Option<PortStation>,
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
    /// Time before an event for which the thread does not sleep.
    spin: Duration,
    /// True if the last turn has read a frame: more are likely to come.
    has_read: bool,
    rests: Rests,
    /// Instant of the last look at what the thread has used, and what that was.
    used: (Instant, time::Duration),
    /// Instant from which on the thread was busy without a pause, if it ever was.
    overload: Option<Instant>,
    priority_refused: Option<io::Error>,
    /// Instant at which others were to look for what has woken them last.
    others_looked: Instant,
    /// True if what others look at has ended the last wait.
    is_woken_by_other: bool,
    /// Buffer for packets that are cut out of a frame and copied.
    cut: Vec<u8>,
    memory: PacketMemory,
}

/// A packet that has come.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Number of the door, in the order in which they were opened.
    pub door: usize,
    /// Instant at which the kernel received it.
    pub at: Instant,
    /// From the IP header on, or the frame. Checksums that were left to a device are left out of packets.
    pub packet: Packet,
}

/// Frames that are read from a door before others have their turn.
const BUDGET: usize = 256;
/// Time after which a frame is read, at most, where several are waited for; and the least that is worth it.
const READ_LATE_MOST: Duration = Duration::from_micros(500);
const READ_LATE_LEAST: Duration = Duration::from_micros(50);
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
pub(crate) const FRAME_BYTES: usize = 16_384;
/// Bytes before a packet in a frame, with all tags that are known.
const HEADERS_BYTES_MAX: usize = ETHERNET_HEADER_LEN + 8 * 4;
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
            let frame_bytes = FRAME_BYTES.max(config.mtu_bytes + HEADERS_BYTES_MAX);
            // Frames are for whoever is at the other end, and not for the interface.
            let is_promiscuous = config.carries_frames;
            let socket = match &config.port {
                Some(port) => port.open(&config.interface, ring_bytes, frame_bytes)?,
                None => PacketSocket::open(&config.interface, ring_bytes, frame_bytes, is_promiscuous)?,
            };
            poll.add(&socket, token)?;
            let lateness = DepartureLateness::new(limit);
            let counters = DoorCounters::default();
            let (dropped_before, leaving) = (InterfaceDrops::default(), Vec::new());
            let port = config.port.as_ref().filter(|_| !config.carries_frames);
            let station = port
                .map(|port| PortStation::new(config.own, config.addresses.clone(), port.other_end.clone()));
            doors.push(Door {
                socket,
                config,
                counters,
                lateness,
                unsent: 0,
                of_no_use: 0,
                dropped_before,
                leaving,
                station,
            });
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
            spin: Duration::ZERO,
            has_read: false,
            rests: Rests::new(if priority.is_none() { real_time_share_ppm() } else { ALL_PPM }),
            used: (Instant::START, thread_time()),
            overload: None,
            priority_refused: priority,
            others_looked: Instant::START,
            is_woken_by_other: false,
            cut: Vec::new(),
            memory: PacketMemory::default(),
        })
    }

    /// Has the thread not sleep for so long before each event: it is awake when a packet is to leave, and keeps its
    /// processor busy for that.
    pub const fn spin_for(&mut self, spin: Duration) {
        self.spin = spin;
    }

    /// Instant at which the thread had been busy for half a second without a pause, if it ever was: the network carries
    /// no more here.
    pub const fn overload(&self) -> Option<Instant> {
        self.overload
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
            while let Some(frame) = door.socket.receive() {
                if let Some(station) = &mut door.station
                    && door.config.is_readable(&frame)
                {
                    station.learn(frame.bytes());
                }
            }
        }
        let dropped = interface_drops().unwrap_or_default();
        for door in &mut self.all {
            door.dropped_before = dropped.get(&door.config.interface).copied().unwrap_or_default();
        }
        self.origin = monotonic();
        self.stamps = Stamps::new(reading(self.origin), self.all.len());
        self.used = (Instant::START, thread_time());
        self.suspension = Suspension::new(suspension_reading());
        self.ask_stations();
    }

    /// Asks for the stations behind ports that are not known yet.
    fn ask_stations(&mut self) {
        let now = self.now();
        for Door { socket, station, unsent, .. } in &mut self.all {
            for question in station.iter_mut().flat_map(|station| station.questions(now)) {
                let is_sent = socket.send(&Offload::NONE.to_bytes(), &question);
                *unsent += u64::from(!is_sent.unwrap_or(false));
            }
        }
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
    /// which the network may run, whose present is `network_now`. A frame is read within `quiet` after it has come, in
    /// which nothing of it leaves: so a turn has several, where many come.
    ///
    /// # Errors
    /// If the system refuses to wait.
    pub fn turn(
        &mut self,
        network_now: Instant,
        next: Option<Instant>,
        quiet: Duration,
        take: &mut dyn FnMut(Incoming),
    ) -> io::Result<Instant> {
        for number in 0..self.all.len() {
            self.let_out(number)?;
        }
        let now = self.now();
        self.rest(now);
        let next = next.unwrap_or(Instant::FAR_FUTURE);
        let due = next.min(now + PULSE);
        if due > now {
            let spin = if due == next { self.spin } else { Duration::ZERO };
            let wake = Instant::START + due.saturating_since(Instant::START).saturating_sub(spin);
            let pause = wake.saturating_since(now).min(quiet).min(READ_LATE_MOST);
            if self.has_read && pause >= READ_LATE_LEAST {
                rest(time::Duration::from_nanos(pause.as_nanos()));
                self.wait(Some(time::Duration::ZERO))?;
            } else if wake > now {
                self.timer.set(self.origin + time::Duration::from_nanos(wake.as_nanos()))?;
                self.wait(None)?;
            }
            if spin > Duration::ZERO && self.now() >= wake {
                self.spin_until(due);
            }
            self.look_for_pauses(due);
        }
        // What was received before this instant is in the doors now.
        let before = reading(self.origin);
        let mut until = before.monotonic;
        self.stamps.handle_turn(before, before);
        self.has_read = false;
        for number in 0..self.all.len() {
            if let Some(last) = self.read(number, network_now, take) {
                until = until.min(last);
            }
        }
        if before.monotonic >= self.drops_looked_for + DROPS_EVERY {
            self.look_for_drops()?;
            self.ask_stations();
        }
        Ok(until.max(network_now))
    }

    /// Waits for frames, for the timer and for what others look at.
    fn wait(&mut self, timeout: Option<time::Duration>) -> io::Result<()> {
        let woken = self.poll.wait(timeout)?;
        self.is_woken_by_other |= woken.contains(&OTHER);
        for door in woken.iter().filter_map(|token| self.all.get(usize::try_from(*token).ok()?)) {
            // A port may go down while it is used.
            if door.config.port.is_some() {
                door.socket.clear_error();
            }
        }
        Ok(())
    }

    /// Waits without sleeping until an instant, or until a frame comes.
    fn spin_until(&self, due: Instant) {
        while self.now() < due && self.all.iter().all(|door| !door.socket.is_ready()) {
            core::hint::spin_loop();
        }
    }

    /// Rests, if the thread has used more of the time than the kernel allows one of its priority.
    fn rest(&mut self, now: Instant) {
        let (last, used_then) = self.used;
        let elapsed = now.saturating_since(last);
        if elapsed < LOOK_EVERY {
            return;
        }
        let used = thread_time();
        let since = u64::try_from(used.saturating_sub(used_then).as_nanos()).unwrap_or(u64::MAX);
        self.used = (now, used);
        let pause = self.rests.look(elapsed, Duration::from_nanos(since));
        if self.rests.is_overloaded() {
            self.overload.get_or_insert(now);
        }
        if let Some(pause) = pause
            && self.priority_refused.is_none()
        {
            rest(time::Duration::from_nanos(pause.as_nanos()));
            self.used.0 = self.now();
        }
    }

    /// Reads a door until it is empty. Gives the instant of the last frame if there may be more.
    fn read(
        &mut self,
        number: usize,
        network_now: Instant,
        take: &mut dyn FnMut(Incoming),
    ) -> Option<Instant> {
        let Door { socket, config, counters, unsent, of_no_use, station, .. } = &mut self.all[number];
        let mut last = None;
        for _ in 0..BUDGET {
            let frame = socket.receive()?;
            self.has_read = true;
            let nanos = i64::try_from(frame.stamp().as_nanos()).unwrap_or(i64::MAX);
            let at = self.stamps.instant(number, nanos);
            last = Some(at);
            let tag = frame.vlan();
            *of_no_use += u64::from(frames::is_counted_as_dropped(frame.bytes(), tag.is_some()));
            let mut came = |packet: Packet, len: usize| {
                counters.packets_in += 1;
                counters.bytes_in += len as u64;
                counters.overtaken += u64::from(at < network_now);
                take(Incoming { door: number, at, packet });
            };
            let (bytes, mtu_bytes) = (frame.bytes(), config.mtu_bytes);
            if station.is_some() && !is_for(config.own, bytes) {
                continue;
            }
            if !config.is_readable(&frame) {
                counters.unreadable += 1;
                continue;
            }
            if let Some(station) = station {
                station.learn(bytes);
            }
            let (mut answer, mut multicast, mut unreadable) = (None, 0, 0);
            let cut = Offload::parse(&frame.offload()).and_then(|(offload, _)| {
                let mut came_as_packet = |packet: Packet| {
                    let len = packet.len();
                    came(packet, len);
                };
                if !config.carries_frames
                    && let Some(done) =
                        views(&offload, bytes, mtu_bytes, &mut self.memory, &mut came_as_packet)
                {
                    return done;
                }
                packets(&offload, DeviceLayer::Ethernet, bytes, mtu_bytes, &mut self.cut, |frame| {
                    match classify(frame) {
                        _ if config.carries_frames => {
                            let tagged = tag.and_then(|(tpid, tci)| with_vlan_tag(frame, tpid, tci));
                            let frame = tagged.as_deref().unwrap_or(frame);
                            came(self.memory.frame(frame), ethernet::content_len(frame));
                        }
                        FrameKind::Ip { packet } => came(self.memory.packet(packet), packet.len()),
                        FrameKind::Neighbour => {
                            answer = neighbours::answer(frame, config.own, &config.addresses);
                        }
                        FrameKind::Multicast => multicast += 1,
                        FrameKind::Malformed(_) | FrameKind::Other => unreadable += 1,
                    }
                })
            });
            unreadable += u64::from(cut.is_err());
            drop(frame);
            counters.multicast += multicast;
            counters.unreadable += unreadable;
            if let Some(answer) = answer {
                let is_sent = socket.send(&Offload::NONE.to_bytes(), &answer);
                *unsent += u64::from(!is_sent.unwrap_or(false));
            }
        }
        last
    }

    /// Hands a packet that has come to a door at `at` to the attached interface: with others that leave at the time,
    /// and before the next turn waits.
    ///
    /// # Errors
    /// If the interface is gone.
    pub fn depart(&mut self, number: usize, at: Instant, packet: Packet) -> io::Result<()> {
        let door = &mut self.all[number];
        let departing = if door.config.carries_frames {
            Departing::frame(at, &packet)
        } else {
            let front = if packet.head().is_empty() { packet.tail() } else { packet.head() };
            let known = door.station.as_ref().map_or(Some(door.config.attached), PortStation::address);
            let Some(attached) = known else {
                door.counters.unresolved += 1;
                return Ok(());
            };
            // What is no IP packet has no header: nothing of the network is that.
            let header = frames::ethernet(attached, door.config.own, front);
            let Some(header) = header else { return Ok(()) };
            Departing { at, before: Before::Ip(header), packet }
        };
        door.leaving.push(departing);
        if door.leaving.len() >= TOGETHER { self.let_out(number) } else { Ok(()) }
    }

    /// Sends what leaves by a door. Packets of one flow go as one frame, which costs the receiver less.
    fn let_out(&mut self, number: usize) -> io::Result<()> {
        let Door { socket, counters, lateness, leaving, unsent, .. } = &mut self.all[number];
        if leaving.is_empty() {
            return Ok(());
        }
        let now = present(self.origin);
        let mut outcome = Ok(());
        let packets = leaving
            .iter()
            .map(|Departing { before, packet, .. }| LeavingPacket { before: before.bytes(), packet });
        join(packets, JOINED_BYTES_MAX as usize, |_, pieces, packets| match socket.send_pieces(pieces) {
            Ok(true) => {}
            Ok(false) => *unsent += packets,
            Err(error) => outcome = Err(error),
        });
        for departing in &*leaving {
            let at = &departing.at;
            let late = now.saturating_since(*at);
            lateness.record(late);
            if late > self.limit {
                self.void.get_or_insert(Void::Late { at: *at, late });
            }
            counters.bytes_out += departing.content_len() as u64;
        }
        counters.packets_out += leaving.len() as u64;
        leaving.clear();
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
        let dropped = interface_drops()?;
        for door in &mut self.all {
            let InterfaceDrops { received, sent } =
                dropped.get(&door.config.interface).copied().unwrap_or_default();
            let received = received.saturating_sub(door.dropped_before.received + door.of_no_use);
            door.counters.lost = door.socket.drops()? + received;
            door.counters.refused = door.unsent + sent.saturating_sub(door.dropped_before.sent);
        }
        let sum = |count: fn(&DoorCounters) -> u64| self.all.iter().map(|door| count(&door.counters)).sum();
        let (at, frames, packets) =
            (self.drops_looked_for, sum(|counters| counters.lost), sum(|counters| counters.refused));
        if frames > 0 {
            self.void.get_or_insert(Void::Lost { at, frames });
        }
        if packets > 0 {
            self.void.get_or_insert(Void::Refused { at, packets });
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

/// Reads both clocks of this machine.
pub fn suspension_reading() -> SuspensionReading {
    let duration =
        |time: time::Duration| Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    SuspensionReading {
        before: duration(monotonic()),
        counting: duration(with_suspension()),
        after: duration(monotonic()),
    }
}

/// Tells if a frame is for this station or for a group. A port hears others', too.
fn is_for(own: MacAddress, frame: &[u8]) -> bool {
    let destination = frame.first_chunk().copied().map(MacAddress);
    destination.is_some_and(|destination| destination == own || destination.is_group())
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
