//! Emulation whose attached nodes are real places: namespaces and ports of Linux.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_emulate::{
    Doors, ExistingPlace, Incoming, InterfaceConfig, NodeProgram, NodePrograms, PlaceConfig, Terminal,
    build_places, capacity,
};
use slantpath_interface::InterfaceId;
use slantpath_operation::ControlSocket;
use slantpath_runner::schema;
use slantpath_runner::{Attachment, InterfaceReport, Outside, OwnKinds, Scenario, SkyHandover, Turn, Work};
use slantpath_system::reentry;
use slantpath_wire::Packet;

use super::control::Control;
use super::state::EmulationState;
use super::{GRACE, beside, commands, existing, quick, run, told};
use crate::arguments::EmulateArguments;
use crate::failure::Failure;
use crate::{interrupt, terminal};

/// Variable by which this program knows that it is inside of its namespaces.
const INSIDE: &str = "SLANTPATH_EMULATE_INSIDE";
/// Rate that any machine carries: below it nothing is measured.
const CARRIED_BY_ALL: DataRate = DataRate::from_bits_per_sec(500_000_000);

pub(super) fn main(arguments: &EmulateArguments, own: &OwnKinds) -> Result<(), Failure> {
    let Some(origin) = reentry::entered(INSIDE)? else {
        return match reentry::reenter(INSIDE) {
            Ok(0) => Ok(()),
            Ok(status) => Err(Failure::Ended(status)),
            Err(error) => Err(Failure::Failed(told::refused(&error))),
        };
    };
    let scenario = quick::scenario(arguments, own)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    let stop = interrupt::flag();
    let socket = arguments.control.as_deref().map(ControlSocket::open).transpose();
    let socket = socket.map_err(|error| Failure::Misused(format!("--control: {error}")))?;
    let existing = existing::of(&scenario, &origin)?;
    let planned = commands::of(arguments, &scenario, &origin)?;
    let mut emulation = Emulation::new(planned, existing, &scenario, arguments.late, stop);
    emulation.spin = arguments.spin;
    // The rate of two places of which none was given is as good as none.
    emulation.has_rates = arguments.scenario.is_some() || arguments.rate.is_some();
    emulation.state.control = socket.map(|socket| Control::new(socket, &scenario));
    run(arguments, &scenario, &mut emulation)?;
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
    /// Buffers of the kernel's TCP, by the names of attached nodes.
    tcp_buffers: BTreeMap<String, [Option<u64>; 2]>,
    doors: Option<Doors>,
    programs: Option<NodePrograms>,
    /// Interfaces of the network, by the number of the door.
    interfaces: Vec<InterfaceId>,
    /// Numbers of doors, in the order of their interfaces.
    by_interface: Vec<(InterfaceId, usize)>,
    /// True once it was said that this machine carries no more.
    is_overload_told: bool,
    state: EmulationState<'a>,
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
        Self {
            has_programs: !planned.is_empty(),
            planned,
            existing,
            limit,
            spin: Duration::ZERO,
            has_rates: false,
            tcp_buffers: tcp_buffers(scenario),
            doors: None,
            programs: None,
            interfaces: Vec::new(),
            by_interface: Vec::new(),
            is_overload_told: false,
            state: EmulationState::new(scenario, limit, stop, has_terminal),
        }
    }

    /// Tells if the run is over: programs have ended, or have had their time to.
    fn is_over(&mut self, now: Instant) -> io::Result<bool> {
        let Some(programs) = &mut self.programs else { return Ok(true) };
        let Some(since) = self.state.ending(now, programs.outcome().is_some()) else { return Ok(false) };
        Ok(programs.stop()? == 0 || now >= since + GRACE)
    }

    /// Says at once that the run is void, or that this machine carries no more.
    fn note_void(&mut self, now: Instant) {
        if !self.is_overload_told
            && let Some(at) = self.doors.as_ref().and_then(Doors::overload)
        {
            self.is_overload_told = true;
            terminal::tell(&format_args!(
                "warning: at {at} the network had been busy for half a second without a pause: this machine carries \
                 no more than now, and packets leave late\n"
            ));
        }
        self.state.note_void(now, self.doors.as_ref().and_then(Doors::void));
    }

    /// Ends the command, with what it has to say.
    fn conclude(mut self) -> Result<(), Failure> {
        if let Some(programs) = &mut self.programs {
            programs.finish();
        }
        let outcome = self.programs.as_ref().and_then(NodePrograms::outcome);
        self.state.conclude(self.has_programs.then_some("all programs were ended"), outcome)
    }
}

impl Outside for Emulation<'_> {
    fn changes_links(&self) -> bool {
        self.state.changes_links()
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
        self.state.attachments = attachments.to_vec();
        let programs = NodePrograms::start(
            std::mem::take(&mut self.planned),
            lab.places,
            reentry::variables(INSIDE),
            self.state.status.lead(),
        )?;
        doors.wake_by(programs.woken())?;
        if let Some(control) = &self.state.control {
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
        let (present, next, quiet) = (turn.now, turn.next, turn.quiet);
        let until = doors.turn(present, next, quiet, &mut |Incoming { door, at, packet }| {
            // A door gives IP packets alone, or frames where the link carries those.
            let _ = turn.inject(at, interfaces[door], packet);
        })?;
        let state = &mut self.state;
        state.status.tell(doors, &state.attachments, turn)?;
        self.note_void(present);
        let state = &mut self.state;
        if let Some(control) = &mut state.control {
            control.tell_events(present);
        }
        let (Some(doors), Some(programs)) = (&mut self.doors, &mut self.programs) else { return Ok(None) };
        if doors.is_to_look() {
            programs.look()?;
            state.tell_ended(present, programs.take_ended());
            state.look(turn, doors)?;
        }
        Ok(Some(until))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        let door = self.by_interface.binary_search_by_key(&interface, |(own, _)| *own);
        let (Some(doors), Ok(place)) = (&mut self.doors, door) else { return Ok(()) };
        doors.depart(self.by_interface[place].1, at, packet)
    }

    fn beside(&mut self, work: Work) {
        beside(work);
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        let Some(doors) = &self.doors else { return };
        self.state.handed_over(doors.now(), handovers);
    }

    fn fail(&mut self, at: Instant, reason: String) {
        self.state.fail(at, reason);
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let Some(doors) = &mut self.doors else { return Ok(Vec::new()) };
        let end = doors.now();
        let reports = self.state.tell_reports(&doors.reports()?);
        if let (Some(_), Some(error)) = (doors.void(), doors.priority_refused()) {
            told::advise(error);
        }
        self.state.note_void(end, doors.void());
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
