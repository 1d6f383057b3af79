//! Reload: a new configuration takes the place of the running one as a transaction.
//!
//! A successor is made beside the running entity ([`Successor::prepare`]), with all its tables: that may take its time,
//! elsewhere. Everything that can be refused is refused there and in [`Seat::reload`]. Then what goes is taken out of
//! traffic in order, its associations are shut down, and at one instant the successor takes the place of the former
//! entity with all that this one knows. An association that is in both is not touched.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_applications::{Host, ProgramConfig, Programs as _};
use slantpath_base::{Deadlines, Instant, Stream};
use slantpath_host::SocketId;
use slantpath_interface::InterfaceId;
use slantpath_live::BySocket;
use slantpath_signalling::FixedSetting;
use slantpath_signalling::network::{
    Carried, NetworkConfig, NetworkConfigError, SignallingEntity, SignallingLinkId,
};
use slantpath_sigtran::transport::{AssociationNumber, TransportInput};

use super::{ENTITY, FIRST_OTHER, Phase, RELOAD, Seat, SeatConfig, WATCH};
use crate::association::{Association, SeatAssociation, staying};
use crate::difference::difference;
use crate::entity::{Entity, EntitySuccession};
use crate::standstill::LOOK;

/// Why a seat keeps its configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// A change that a running entity does not take.
    #[error(transparent)]
    Fixed(#[from] FixedSetting),
    /// A fault of the new configuration.
    #[error(transparent)]
    Network(#[from] NetworkConfigError),
    /// Other settings of a port that stays.
    #[error(
        "port {0} has wholly other addresses or other settings of SCTP: restart for this, or take another port"
    )]
    Port(u16),
    /// Something else is under way.
    #[error("it stops, or another reload is under way: try again later")]
    Busy,
}

/// A running seat, as far as a successor has to know it.
#[derive(Clone, Debug)]
pub struct RunningSeat {
    generation: u64,
    associations: Vec<(SeatAssociation, AssociationNumber)>,
    next_number: u32,
}

/// A seat's next configuration, with everything that is made of it.
#[derive(Debug)]
pub struct Successor {
    config: SeatConfig,
    entity: Entity,
    links: Vec<SignallingLinkId>,
    numbers: Vec<AssociationNumber>,
    /// Addresses that the host gets with it, each with its interface.
    own_addresses: Vec<(IpAddr, InterfaceId)>,
    generation: u64,
}

/// A reload that waits for what goes to be out of traffic, and for its associations to have ended.
#[derive(Debug)]
struct Change {
    successor: Successor,
    succession: EntitySuccession,
    /// Associations that are closed, by their places.
    leaving: Vec<usize>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Links and parts in application servers leave traffic.
    Leaving,
    /// Associations are shut down.
    Closing,
}

/// Everything of a seat that a reload needs.
#[derive(Debug)]
pub(super) struct Reloading {
    /// Number of the reload that is next.
    generation: u64,
    next_number: u32,
    ports: Ports,
    change: Option<Box<Change>>,
}

impl Reloading {
    pub(super) fn new(numbers: &[AssociationNumber], ports: Ports) -> Self {
        let next_number = numbers.iter().map(|number| number.0 + 1).max().unwrap_or_default();
        Self { generation: 0, next_number, ports, change: None }
    }
}

impl Successor {
    /// Makes everything that a running seat needs to go on with another configuration. The loads of that are left:
    /// those of the start go on.
    ///
    /// # Errors
    /// The first thing that is wrong with the configuration.
    ///
    /// # Panics
    /// If the network has no such entity.
    pub fn prepare(config: SeatConfig, running: &RunningSeat) -> Result<Self, NetworkConfigError> {
        let mut next = running.next_number;
        let mut numbers = Vec::with_capacity(config.associations.len());
        for association in &config.associations {
            let goes_on = |(known, _): &&(SeatAssociation, _)| known.goes_on_as(association);
            numbers.push(if let Some((_, number)) = running.associations.iter().find(goes_on) {
                *number
            } else {
                next += 1;
                AssociationNumber(next - 1)
            });
        }
        let network = &config.network;
        let in_order = config.associations.iter().map(|own| network.association(own.carried));
        let known: BTreeMap<_, _> = in_order.zip(numbers.iter().copied()).collect();
        let number = |in_order: AssociationNumber| known.get(&in_order).copied().unwrap_or(in_order);
        let entity = Entity::prepared(network, config.occupant, number)?;
        let links = match config.occupant {
            SignallingEntity::Point(id) => network.links_at(id).into_iter().map(|(link, _)| link).collect(),
            SignallingEntity::Process(_) => Vec::new(),
        };
        let own_addresses = Vec::new();
        Ok(Self { entity, links, numbers, own_addresses, generation: running.generation, config })
    }

    /// Gives the host further addresses, each at an interface, when it takes the place of the former.
    #[must_use]
    pub fn with_addresses(self, own_addresses: Vec<(IpAddr, InterfaceId)>) -> Self {
        Self { own_addresses, ..self }
    }

    /// Associations with their numbers.
    pub fn associations(&self) -> impl Iterator<Item = (AssociationNumber, &SeatAssociation)> {
        self.numbers.iter().copied().zip(&self.config.associations)
    }
}

impl Seat {
    /// Gives what a successor has to know of this seat.
    pub fn running(&self) -> RunningSeat {
        let configs = self.associations.iter().map(|own| own.config.clone());
        RunningSeat {
            generation: self.reloading.generation,
            associations: configs.zip(self.numbers.iter().copied()).collect(),
            next_number: self.reloading.next_number,
        }
    }

    /// Tells if it takes another configuration as it is now, before anything is done for that.
    ///
    /// # Errors
    /// Why it does not.
    pub fn takes(&self, successor: &Successor) -> Result<(), ReloadError> {
        self.succession(successor).map(drop)
    }

    fn succession(&self, successor: &Successor) -> Result<EntitySuccession, ReloadError> {
        let reloading = &self.reloading;
        let is_busy = reloading.change.is_some() || successor.generation != reloading.generation;
        if is_busy || self.phase != Phase::Serving {
            return Err(ReloadError::Busy);
        }
        let mut ports = successor.config.associations.iter().map(|own| &own.port);
        if let Some(other) = ports.find(|port| reloading.ports.is_other(port)) {
            return Err(ReloadError::Port(other.local_port));
        }
        Ok(self.entity.succession(&successor.entity)?)
    }

    /// Begins to take another configuration. It is told when that is done, and what it has changed.
    ///
    /// # Errors
    /// Why it stays as it is.
    pub fn reload(&mut self, now: Instant, host: &mut Host, successor: Successor) -> Result<(), ReloadError> {
        let succession = self.succession(&successor)?;
        let stays = |number: &AssociationNumber| successor.numbers.contains(number);
        let places = self.numbers.iter().zip(0..);
        let leaving: Vec<usize> = places.filter(|(number, _)| !stays(number)).map(|(_, at)| at).collect();
        self.tell(now, Vec::new(), "reload-begun", None);
        let numbers = self.numbers_of(&leaving);
        self.entity.leave(now, &succession, &numbers);
        let stage = Stage::Leaving;
        self.reloading.change = Some(Box::new(Change { successor, succession, leaving, stage }));
        self.deadlines.set(RELOAD, Some(now.saturating_add(self.patience)));
        self.deadlines.set(ENTITY, Some(now));
        self.drive(now, host);
        Ok(())
    }

    /// Tells that a new configuration was not even offered: it has a fault, or its ports cannot be opened.
    pub fn refuse_reload(&mut self, now: Instant, why: String) {
        self.tell(now, Vec::new(), "reload-refused", Some(why));
    }

    /// Leaves it as it is: the seat stops.
    pub(super) fn give_up_reload(&mut self, now: Instant) {
        if self.reloading.change.take().is_some() {
            self.deadlines.set(RELOAD, None);
            self.tell(now, Vec::new(), "reload-given-up", None);
        }
    }

    /// Ends the patience with what goes.
    pub(super) fn reload_is_late(&mut self, now: Instant, host: &mut Host) {
        match self.reloading.change.as_ref().map(|change| change.stage) {
            Some(Stage::Leaving) => self.close_leaving(now, host),
            Some(Stage::Closing) => {
                self.abort_leaving(now, host);
                self.change_over(now, host);
            }
            None => {}
        }
    }

    /// Goes on with a reload as far as it can; the entity has nothing to do.
    pub(super) fn advance_reload(&mut self, now: Instant, host: &mut Host) {
        let Some(change) = &self.reloading.change else { return };
        if change.stage == Stage::Leaving {
            if !self.entity.has_left(&change.succession, &self.numbers_of(&change.leaving)) {
                return;
            }
            self.close_leaving(now, host);
        }
        let Some(change) = &self.reloading.change else { return };
        if change.leaving.iter().all(|place| self.associations[*place].socket().is_none()) {
            self.change_over(now, host);
        }
    }

    fn numbers_of(&self, places: &[usize]) -> Vec<AssociationNumber> {
        places.iter().map(|place| self.numbers[*place]).collect()
    }

    /// Shuts associations down that are not in both.
    fn close_leaving(&mut self, now: Instant, host: &mut Host) {
        let Some(change) = &mut self.reloading.change else { return };
        change.stage = Stage::Closing;
        let leaving = change.leaving.clone();
        self.shut_down(now, host, leaving, RELOAD);
    }

    fn abort_leaving(&mut self, now: Instant, host: &mut Host) {
        let Some(change) = &self.reloading.change else { return };
        for place in &change.leaving {
            self.associations[*place].abort(now, host);
        }
    }

    /// The successor takes the place of the former entity.
    fn change_over(&mut self, now: Instant, host: &mut Host) {
        let Some(change) = self.reloading.change.take() else { return };
        let Change { successor, succession, .. } = *change;
        let Successor { config, entity, links, numbers, own_addresses, .. } = successor;
        for (address, interface) in own_addresses {
            host.add_own_address(address, interface);
        }
        let changes = difference(&self.named(), &(&config.network, config.occupant, &config.associations));
        let discards = self.discards();
        let former = std::mem::replace(&mut self.entity, entity);
        self.entity.take_over(now, former, &succession);
        self.renumber_traffic(&succession);
        self.network = config.network;
        self.named = config.occupant;
        self.links = links;
        self.patience = config.patience;
        let Moves { new, gone } = self.change_associations(now, host, config.associations, numbers);
        self.tell_new_links(now, &succession);
        self.keep_discards(discards);
        self.regroup_delays();
        self.rename_trace();
        self.offer_addresses(now, host, new);
        self.withdraw_addresses(now, host, gone);
        self.reloading.generation += 1;
        self.restart_deadlines(now);
        let changes = if changes.is_empty() { "nothing".to_owned() } else { changes.join("; ") };
        self.tell(now, Vec::new(), "reloaded", Some(changes));
    }

    /// The network with the occupant as it is named there, and its associations.
    fn named(&self) -> (&NetworkConfig, SignallingEntity, Vec<SeatAssociation>) {
        let associations = self.associations.iter().map(|own| own.config.clone()).collect();
        (&self.network, self.named, associations)
    }

    fn renumber_traffic(&mut self, succession: &EntitySuccession) {
        let EntitySuccession::Point(links) = succession else { return };
        let own = |link: u32| {
            let kept = links.kept.iter().find(|(before, _)| u32::from(before.0) == link);
            kept.map(|(_, own)| u32::from(own.0))
        };
        let renumbered = |(association, number)| match association {
            None => own(number).map(|number| (None, number)),
            Some(_) => Some((association, number)),
        };
        self.in_traffic = std::mem::take(&mut self.in_traffic).into_iter().filter_map(renumbered).collect();
    }

    /// Associations that stay keep their state; the others begin. Gives the own addresses that those get and lose which
    /// stay.
    fn change_associations(
        &mut self,
        now: Instant,
        host: &mut Host,
        configs: Vec<SeatAssociation>,
        numbers: Vec<AssociationNumber>,
    ) -> Moves {
        let mut moves = Moves::default();
        let former = std::mem::take(&mut self.associations).into_iter();
        let mut former: BTreeMap<_, _> = self.numbers.drain(..).zip(former).collect();
        for (place, (config, number)) in configs.into_iter().zip(&numbers).enumerate() {
            self.associations.push(if let Some(known) = former.remove(number) {
                self.reloading.ports.change_addresses(&config.port, host);
                let (before, next) = (&known.config.port.local_addresses, &config.port.local_addresses);
                let new = next.iter().filter(|own| !before.contains(own));
                moves.new.extend(new.map(|own| (place, *own)));
                let gone = before.iter().filter(|own| !next.contains(own));
                moves.gone.extend(gone.map(|own| (place, *own)));
                known.with(place, config)
            } else {
                let port = self.reloading.ports.socket(&config.port, host);
                Association::new(now, place, config, port)
            });
        }
        self.reloading.ports.admit_callers(&self.associations, host);
        self.by_socket = BySocket::default();
        for (place, end) in self.associations.iter().enumerate() {
            if let Some(socket) = end.socket() {
                self.by_socket.insert(socket, place);
            }
        }
        self.by_number = numbers.iter().copied().zip(0..).collect();
        let used = numbers.iter().map(|number| number.0 + 1).max().unwrap_or_default();
        self.reloading.next_number = self.reloading.next_number.max(used);
        self.numbers = numbers;
        moves
    }

    /// Tells links that come anew over associations which stay that these are up: no event of SCTP does.
    fn tell_new_links(&mut self, now: Instant, succession: &EntitySuccession) {
        let EntitySuccession::Point(succession) = succession else { return };
        for place in 0..self.associations.len() {
            let end = &self.associations[place];
            let Carried::Link(id) = end.config.carried else { continue };
            let own = self.links.iter().position(|link| *link == id);
            let is_kept = succession.kept.iter().any(|(_, kept)| Some(usize::from(kept.0)) == own);
            if end.is_up() && !is_kept {
                let outbound_streams = end.outbound_streams;
                self.input(now, place, TransportInput::Up { outbound_streams });
            }
        }
    }

    fn restart_deadlines(&mut self, now: Instant) {
        self.deadlines = Deadlines::default();
        self.deadlines.set(ENTITY, Some(now));
        if self.is_watching {
            self.deadlines.set(WATCH, Some(now.saturating_add(LOOK)));
        }
        for (place, end) in self.associations.iter().enumerate() {
            self.deadlines.set(FIRST_OTHER + place, end.deadline());
        }
        for (own, load) in self.sending.iter().enumerate() {
            let deadline = self.loads.load_mut(*load).deadline();
            self.deadlines.set(FIRST_OTHER + self.associations.len() + own, deadline);
        }
    }
}

/// Own addresses that associations get and lose which stay, by the places of these.
#[derive(Debug, Default)]
struct Moves {
    new: Vec<(usize, IpAddr)>,
    gone: Vec<(usize, IpAddr)>,
}

/// Ports that have been opened, each with its settings: one that nothing uses any more stays as it is.
#[derive(Debug)]
pub(super) struct Ports {
    opened: BTreeMap<u16, (SocketId, ProgramConfig)>,
    /// Chance of those that are opened.
    stream: Stream,
}

impl Ports {
    pub(super) const fn new(stream: Stream) -> Self {
        Self { opened: BTreeMap::new(), stream }
    }

    /// The socket of a port, opened if there is none.
    pub(super) fn socket(&mut self, config: &ProgramConfig, host: &mut Host) -> SocketId {
        self.change_addresses(config, host);
        let Self { opened, stream } = self;
        let number = config.local_port;
        let (socket, _) = opened.entry(number).or_insert_with(|| {
            let port = ProgramConfig { peer: None, ..config.clone() };
            (host.add_program(&port, stream.fork(&format!("port {number}"))), port)
        });
        *socket
    }

    /// Tells if the port is open with other addresses or settings.
    fn is_other(&self, config: &ProgramConfig) -> bool {
        let known = self.opened.get(&config.local_port);
        known.is_some_and(|(_, own)| {
            staying(&own.local_addresses, &config.local_addresses).is_empty() || own.sctp != config.sctp
        })
    }

    /// Gives a port that is open the addresses that it lacks, and takes away those that it has no more.
    fn change_addresses(&mut self, config: &ProgramConfig, host: &mut Host) {
        let Some((_, known)) = self.opened.get_mut(&config.local_port) else { return };
        for address in &config.local_addresses {
            if !known.local_addresses.contains(address) && host.add_port_address(config.local_port, *address)
            {
                known.local_addresses.push(*address);
            }
        }
        let port = config.local_port;
        known
            .local_addresses
            .retain(|own| config.local_addresses.contains(own) || !host.remove_port_address(port, *own));
    }

    /// Has each port admit callers if an association waits for one there.
    pub(super) fn admit_callers(&self, associations: &[Association], host: &mut Host) {
        for (socket, _) in self.opened.values() {
            if associations.iter().any(|end| end.port == *socket && !end.config.opens) {
                host.accept_callers(*socket);
            } else {
                host.refuse_callers(*socket);
            }
        }
    }
}
