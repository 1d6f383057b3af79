//! Emulation whose attached nodes are real places: namespaces and ports of Linux.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_emulate::{
    DepartureLateness, Doors, ExistingPlace, Incoming, InterfaceConfig, NodeProgram, NodePrograms,
    PlaceConfig, Terminal, build_places, capacity,
};
use slantpath_interface::InterfaceId;
use slantpath_operation::ControlSocket;
use slantpath_runner::schema;
use slantpath_runner::{
    Attachment, EmulationRecording, InterfaceReport, Outside, RunOptions, Scenario, SkyHandover, SkyInPieces,
    Turn, Work,
};
use slantpath_system::reentry;
use slantpath_wire::Packet;

use super::control::Control;
use super::told::StatusLine;
use super::{GRACE, commands, directory, existing, made, quick, told};
use crate::arguments::EmulateArguments;
use crate::failure::Failure;
use crate::{interrupt, terminal};

/// Variable by which this program knows that it is inside of its namespaces.
const INSIDE: &str = "SLANTPATH_EMULATE_INSIDE";
/// Rate that any machine carries: below it nothing is measured.
const CARRIED_BY_ALL: DataRate = DataRate::from_bits_per_sec(500_000_000);

pub(super) fn main(arguments: &EmulateArguments) -> Result<(), Failure> {
    let Some(origin) = reentry::entered(INSIDE)? else {
        return match reentry::reenter(INSIDE) {
            Ok(0) => Ok(()),
            Ok(status) => Err(Failure::Ended(status)),
            Err(error) => Err(Failure::Failed(told::refused(&error))),
        };
    };
    let scenario = quick::scenario(arguments)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let stop = interrupt::flag();
    let socket = arguments.control.as_deref().map(ControlSocket::open).transpose();
    let socket = socket.map_err(|error| Failure::Misused(format!("--control: {error}")))?;
    let existing = existing::of(&scenario, &origin)?;
    let planned = commands::of(arguments, &scenario, &origin)?;
    let mut emulation = Emulation::new(planned, existing, &scenario, arguments.late, stop);
    emulation.spin = arguments.spin;
    // The rate of two places of which none was given is as good as none.
    emulation.has_rates = arguments.scenario.is_some() || arguments.rate.is_some();
    emulation.control = socket.map(|socket| Control::new(socket, &scenario));
    match &arguments.record {
        None => {
            made(arguments, &scenario, &options, &mut emulation)?;
        }
        Some(path) => {
            let file = File::create(path).map_err(Failure::of_file(path.clone()))?;
            let mut recording =
                EmulationRecording::begin(&scenario, &directory(arguments), file, &mut emulation)
                    .map_err(Failure::of_file(path.clone()))?;
            let digest = made(arguments, &scenario, &options, &mut recording)?;
            recording.finish(&digest).map_err(Failure::of_file(path.clone()))?;
        }
    }
    emulation.conclude()
}

/// Outside of the network: doors, and the programs behind them.
struct Emulation<'a> {
    planned: Vec<NodeProgram>,
    has_programs: bool,
    /// Nodes that exist already, by their names.
    existing: BTreeMap<String, ExistingPlace>,
    limit: Duration,
    /// Time before a packet leaves for which the network's thread does not sleep.
    spin: Duration,
    /// True if somebody has said the rates of links.
    has_rates: bool,
    /// End of what is known of the sky.
    sky_end: Option<Instant>,
    /// Buffers of the kernel's TCP, by the names of attached nodes.
    tcp_buffers: BTreeMap<String, [Option<u64>; 2]>,
    attachments: Vec<Attachment>,
    doors: Option<Doors>,
    programs: Option<NodePrograms>,
    /// Interfaces of the network, by the number of the door.
    interfaces: Vec<InterfaceId>,
    /// Numbers of doors, in the order of their interfaces.
    by_interface: Vec<(InterfaceId, usize)>,
    stop: &'a AtomicBool,
    /// Instant at which programs were asked to end.
    ending: Option<Instant>,
    void: Option<String>,
    /// True once it was said that this machine carries no more.
    is_overload_told: bool,
    status: StatusLine,
    control: Option<Control>,
    /// Lateness of handovers of antennas.
    handovers: DepartureLateness,
}

impl<'a> Emulation<'a> {
    fn new(
        planned: Vec<NodeProgram>,
        existing: BTreeMap<String, ExistingPlace>,
        scenario: &Scenario,
        limit: Duration,
        stop: &'a AtomicBool,
    ) -> Self {
        let has_terminal = planned.iter().any(|program| program.terminal == Terminal::Whole);
        let span = SkyInPieces::OPEN_ENDED.whole.max(*scenario.scenario.duration);
        let sky_end = scenario.sky.is_some().then(|| Instant::START + span);
        Self {
            has_programs: !planned.is_empty(),
            planned,
            existing,
            limit,
            spin: Duration::ZERO,
            has_rates: false,
            sky_end,
            tcp_buffers: tcp_buffers(scenario),
            attachments: Vec::new(),
            doors: None,
            programs: None,
            interfaces: Vec::new(),
            by_interface: Vec::new(),
            stop,
            ending: None,
            void: None,
            is_overload_told: false,
            status: StatusLine::new(has_terminal),
            control: None,
            handovers: DepartureLateness::new(limit),
        }
    }

    /// Tells if the run is over: programs have ended, or have had their time to.
    fn is_over(&mut self, now: Instant) -> io::Result<bool> {
        let Some(programs) = &mut self.programs else { return Ok(true) };
        let is_to_end = programs.outcome().is_some()
            || self.control.as_ref().is_some_and(Control::is_to_stop)
            || self.stop.load(Ordering::Relaxed)
            || self.sky_end.is_some_and(|end| now >= end);
        if !is_to_end {
            return Ok(false);
        }
        let since = *self.ending.get_or_insert(now);
        Ok(programs.stop()? == 0 || now >= since + GRACE)
    }

    /// Says at once that the run is void, or that this machine carries no more.
    fn note_void(&mut self, now: Instant) -> io::Result<()> {
        if !self.is_overload_told
            && let Some(at) = self.doors.as_ref().and_then(Doors::overload)
        {
            self.is_overload_told = true;
            terminal::warn(&format!(
                "at {at} the network had been busy for half a second without a pause: this machine carries no more \
                 than now, and packets leave late"
            ))?;
        }
        match self.doors.as_ref().and_then(Doors::void) {
            Some(void) if self.void.is_none() => self.make_void(now, void.to_string()),
            _ => Ok(()),
        }
    }

    /// Makes the run void, and says so.
    fn make_void(&mut self, now: Instant, void: String) -> io::Result<()> {
        terminal::warn(&format!("void: {void}; what is measured from now on says nothing"))?;
        if let Some(control) = &mut self.control {
            control.tell_void(now, &void);
        }
        self.void = Some(void);
        Ok(())
    }

    /// Ends the command, with what it has to say.
    fn conclude(mut self) -> Result<(), Failure> {
        if let Some(programs) = &mut self.programs {
            programs.finish();
        }
        let outcome = self.programs.as_ref().and_then(NodePrograms::outcome);
        if let Some(void) = &self.void {
            return Err(Failure::Void(format!("the run is void: {void}")));
        }
        if self.stop.load(Ordering::Relaxed) {
            if !self.has_programs {
                // Nothing else ends it.
                return Ok(());
            }
            return Err(Failure::Interrupted("interrupted: all programs were ended".to_owned()));
        }
        match outcome {
            _ if self.control.as_ref().is_some_and(Control::is_to_stop) => Ok(()),
            Some(Ok(0)) => Ok(()),
            Some(Ok(status)) => Err(Failure::Ended(status)),
            Some(Err(reason)) => Err(Failure::Failed(reason)),
            None => Err(Failure::Interrupted(
                "the sky of an emulation goes on for 30 days, and for no longer: all programs were ended"
                    .to_owned(),
            )),
        }
    }
}

impl Outside for Emulation<'_> {
    fn changes_links(&self) -> bool {
        self.control.is_some()
    }

    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        if self.has_rates {
            warn_of_rates(attachments)?;
        }
        let buffers = |node: &str| self.tcp_buffers.get(node).copied().unwrap_or_default();
        let configs: Vec<PlaceConfig> = attachments
            .iter()
            .map(|own| place(own, self.existing.get(&own.node), buffers(&own.node)))
            .collect();
        let lab = build_places(&configs).map_err(io::Error::other)?;
        for note in &lab.notes {
            terminal::warn(note)?;
        }
        let mut doors = Doors::open(lab.doors, self.limit).map_err(io::Error::other)?;
        doors.spin_for(self.spin);
        self.interfaces =
            attachments.iter().flat_map(|node| node.interfaces.iter().map(|own| own.id)).collect();
        self.by_interface = self.interfaces.iter().copied().zip(0..).collect();
        self.by_interface.sort_unstable();
        self.attachments = attachments.to_vec();
        let programs = NodePrograms::start(
            std::mem::take(&mut self.planned),
            lab.places,
            reentry::variables(INSIDE),
            self.status.lead(),
        )?;
        doors.wake_by(programs.woken())?;
        if let Some(control) = &self.control {
            control.begin(&doors)?;
        }
        doors.start();
        (self.doors, self.programs) = (Some(doors), Some(programs));
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        if self.is_over(turn.now)? {
            return Ok(None);
        }
        let Some(doors) = &mut self.doors else { return Ok(None) };
        let interfaces = &self.interfaces;
        let (present, next) = (turn.now, turn.next);
        let until = doors.turn(present, next, &mut |Incoming { door, at, packet }| {
            // A door gives IP packets alone, or frames where the link carries those.
            let _ = turn.inject(at, interfaces[door], packet);
        })?;
        self.status.tell(doors, &self.attachments, &mut || turn.next_handover())?;
        self.note_void(present)?;
        if let Some(control) = &mut self.control {
            control.tell_events(present);
        }
        let (Some(doors), Some(programs)) = (&mut self.doors, &mut self.programs) else { return Ok(None) };
        if doors.is_to_look() {
            programs.look()?;
            if let Some(control) = &mut self.control {
                control.tell_ended(present, programs.take_ended());
                control.look(turn, doors, &self.attachments, self.void.as_deref())?;
            }
        }
        Ok(Some(until))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        let door = self.by_interface.binary_search_by_key(&interface, |(own, _)| *own);
        let (Some(doors), Ok(place)) = (&mut self.doors, door) else { return Ok(()) };
        doors.depart(self.by_interface[place].1, at, packet)
    }

    fn beside(&mut self, work: Work) {
        // Threads that one of real-time priority starts have none. Without a thread the work is not done in time, which
        // makes the run void.
        let _ = std::thread::Builder::new().name("sky".to_owned()).spawn(work);
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        let Some(doors) = &self.doors else { return };
        let now = doors.now();
        for handover in handovers {
            self.handovers.record(now.saturating_since(handover.at));
            if let Some(control) = &mut self.control {
                control.tell_handover(now, handover);
            }
        }
    }

    fn fail(&mut self, at: Instant, reason: String) {
        if self.void.is_none() {
            // Where nobody reads what is said, the exit status tells.
            let _ = self.make_void(at, reason);
        }
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let Some(doors) = &mut self.doors else { return Ok(Vec::new()) };
        let end = doors.now();
        let reports: Vec<InterfaceReport> = doors.reports()?.iter().map(told::interface).collect();
        self.status.clear()?;
        told::print(&self.attachments, &reports)?;
        told::print_handovers(&self.handovers.summary())?;
        if let (Some(_), Some(error)) = (doors.void(), doors.priority_refused()) {
            told::advise(error)?;
        }
        self.note_void(end)?;
        Ok(reports)
    }
}

/// Says which rates this machine cannot carry, if any is high enough to ask: from what it measures now.
fn warn_of_rates(attachments: &[Attachment]) -> io::Result<()> {
    let interfaces = || attachments.iter().flat_map(|node| &node.interfaces);
    if interfaces().all(|interface| interface.rate < CARRIED_BY_ALL) {
        return Ok(());
    }
    let carried = capacity().map_err(io::Error::other)?;
    let mut too_fast: Vec<_> = interfaces().filter(|interface| interface.rate > carried).collect();
    too_fast.sort_by(|one, other| one.link.cmp(&other.link));
    too_fast.dedup_by(|one, other| one.link == other.link);
    too_fast
        .iter()
        .try_for_each(|interface| terminal::warn(&told::too_fast(&interface.link, interface.rate, carried)))
}

/// A node as a place that is to be made, unless it exists.
fn place(
    attachment: &Attachment,
    existing: Option<&ExistingPlace>,
    tcp_buffers: [Option<u64>; 2],
) -> PlaceConfig {
    let interfaces = attachment.interfaces.iter().map(|interface| InterfaceConfig {
        link: interface.link.clone(),
        addresses: interface.addresses.clone(),
        mtu_bytes: u32::try_from(interface.mtu.as_bytes()).unwrap_or(u32::MAX),
        other_end: interface.other_end.clone(),
        carries_frames: interface.carries_frames,
    });
    PlaceConfig {
        name: attachment.node.clone(),
        existing: existing.cloned(),
        interfaces: interfaces.collect(),
        reaches: attachment.reaches.clone(),
        tcp_buffers,
    }
}

fn tcp_buffers(scenario: &Scenario) -> BTreeMap<String, [Option<u64>; 2]> {
    let buffers =
        |node: &schema::Node| [node.tcp_rmem, node.tcp_wmem].map(|size| size.map(|size| size.as_bytes()));
    scenario.nodes.iter().map(|(name, node)| (name.to_owned(), buffers(node))).collect()
}
