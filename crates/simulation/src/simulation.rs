//! A signalling network whose associations are carried by hosts of a packet network.
//!
//! Both keep their own events; the one that is due earlier goes first, and what one has for the other is handed on at
//! the instant at which it happens.

use std::collections::VecDeque;

use slantpath_applications::{Associations, Host};
use slantpath_base::Instant;
use slantpath_host::SocketId;
use slantpath_net::{Network, NodeId, Source};
use slantpath_signalling::network::{AssociationSide, Carried, ManagementChange};
use slantpath_sigtran::transport::TransportInput;

use crate::network::{Output, SignallingNetwork};

/// Place of an end of an association that carries signalling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssociationPlace {
    /// The end of the link.
    pub end: AssociationSide,
    /// The node whose host carries it.
    pub node: NodeId,
    /// Socket that the association has at the host.
    pub association: SocketId,
}

/// A signalling network with the places of its associations and what is done to it.
#[derive(Debug)]
pub struct SignallingSimulation {
    signalling: SignallingNetwork,
    places: Places,
    /// In order of time.
    script: VecDeque<(Instant, ManagementChange)>,
    /// Inputs from hosts for the signalling network, with the number of the place, while they are being sorted.
    inputs: Vec<(usize, TransportInput)>,
}

impl SignallingSimulation {
    /// `script` may be in any order; changes at one instant are made in the order in which they are given.
    pub fn new(
        signalling: SignallingNetwork,
        places: Vec<AssociationPlace>,
        mut script: Vec<(Instant, ManagementChange)>,
    ) -> Self {
        script.sort_by_key(|(at, ..)| *at);
        Self { signalling, places: Places::new(places), script: script.into(), inputs: Vec::new() }
    }

    /// The signalling network.
    pub const fn signalling(&self) -> &SignallingNetwork {
        &self.signalling
    }

    /// Variant of [`signalling`](Self::signalling) that gives it mutably, for its reports.
    pub const fn signalling_mut(&mut self) -> &mut SignallingNetwork {
        &mut self.signalling
    }

    /// Places of the ends of associations, in the order in which they were given.
    pub fn places(&self) -> &[AssociationPlace] {
        &self.places.all
    }

    /// Runs both up to and including `end`.
    pub fn run_until<S: Source>(&mut self, network: &mut Network<Host, S>, end: Instant) {
        while !self.run_at_most(u64::MAX, network, end) {}
    }

    /// Instant at which something happens next in either.
    pub fn next_event<S: Source>(&mut self, network: &mut Network<Host, S>) -> Option<Instant> {
        let due = self.exchange(network);
        let scripted = self.script.front().map(|(at, ..)| *at);
        due.into_iter().chain(network.next_event()).chain(scripted).min()
    }

    /// Runs both up to and including `end`, but for little more than so many events. Returns whether they came to
    /// the end; if not, the same call goes on where this one stopped: between two instants, so that it changes
    /// nothing of what happens.
    pub fn run_at_most<S: Source>(
        &mut self,
        events: u64,
        network: &mut Network<Host, S>,
        end: Instant,
    ) -> bool {
        let before = network.events();
        // An instant at which only the signalling network is due counts for an event too.
        let mut instants = 0;
        loop {
            let Some(next) = self.next_event(network).filter(|next| *next <= end) else {
                network.run_until(end);
                return true;
            };
            network.run_until(next);
            while let Some((_, change)) = self.script.pop_front_if(|(at, ..)| *at <= next) {
                self.signalling.change(next, change);
            }
            instants += 1;
            if instants.max(network.events() - before) >= events {
                return false;
            }
        }
    }

    /// Hands on what hosts and the signalling network have for one another now, until neither has anything. Says when
    /// the signalling network is next due.
    fn exchange<S: Source>(&mut self, network: &mut Network<Host, S>) -> Option<Instant> {
        let now = network.now();
        loop {
            self.hand_up(network, now);
            let output = self.signalling.poll_output(now);
            // Before the message that is diverted leaves, and anything else is answered.
            for diverted in self.signalling.new_diversions() {
                let end = AssociationSide { carried: diverted.from, side: diverted.side };
                let place = self.places.find(end);
                diverted.answered =
                    place.and_then(|place| network.host(place.node).last_answered(place.association));
            }
            match output {
                Output::Transmit(end, transmit) => {
                    let place = self.places.of(end);
                    network.command(place.node, |host, now| {
                        host.send_on_association(now, place.association, transmit);
                    });
                }
                Output::Abort(end) => {
                    let place = self.places.of(end);
                    network.command(place.node, |host, now| host.abort_association(now, place.association));
                }
                Output::Close(end) => {
                    let place = self.places.of(end);
                    network.command(place.node, |host, now| host.close_association(now, place.association));
                }
                Output::Open(end) => {
                    let place = self.places.of(end);
                    network.command(place.node, |host, now| host.reopen_association(now, place.association));
                }
                // Hosts have heard of nothing since they were last asked.
                Output::Wait(deadline) => return deadline,
            }
        }
    }

    /// Gives the signalling network what hosts have for it: only hosts at which something has happened are asked.
    /// Inputs of one instant come in the order of the places.
    fn hand_up<S: Source>(&mut self, network: &mut Network<Host, S>, now: Instant) {
        let (places, inputs) = (&self.places, &mut self.inputs);
        while let Some(node) = network.next_drained_host() {
            if !network.host(node).has_association_inputs() {
                continue;
            }
            network.command(node, |host, _| {
                while let Some((association, input)) = host.next_association_input() {
                    inputs.extend(places.at(node, association).map(|place| (place, input)));
                }
            });
        }
        inputs.sort_by_key(|(place, _)| *place);
        for (place, input) in inputs.drain(..) {
            self.signalling.handle_transport(now, places.all[place].end, input);
        }
    }
}

/// The places of associations, found from both sides.
#[derive(Debug)]
struct Places {
    all: Vec<AssociationPlace>,
    /// Numbers of the places of links and of M3UA's associations, for each of their sides.
    links: Vec<[Option<usize>; 2]>,
    adaptations: Vec<[Option<usize>; 2]>,
    /// By nodes and what their hosts call associations.
    hosts: Vec<Vec<Option<usize>>>,
}

impl Places {
    fn new(all: Vec<AssociationPlace>) -> Self {
        let mut places =
            Self { links: Vec::new(), adaptations: Vec::new(), hosts: Vec::new(), all: Vec::new() };
        for (number, place) in all.iter().enumerate() {
            let (sides, at) = match place.end.carried {
                Carried::Adaptation(id) => (&mut places.adaptations, id.0),
                Carried::Link(id) => (&mut places.links, id.0),
            };
            grown(sides, at)[place.end.side as usize] = Some(number);
            let host = grown(&mut places.hosts, place.node.index());
            *grown(host, place.association.0 as usize) = Some(number);
        }
        places.all = all;
        places
    }

    /// # Panics
    /// If an end of an association has no place.
    fn of(&self, end: AssociationSide) -> AssociationPlace {
        self.find(end).expect("every end of an association has its place")
    }

    /// The place of an end of an association; `None` of a line.
    fn find(&self, end: AssociationSide) -> Option<AssociationPlace> {
        let sides = match end.carried {
            Carried::Adaptation(id) => self.adaptations.get(id.0),
            Carried::Link(id) => self.links.get(id.0),
        };
        Some(self.all[sides?[end.side as usize]?])
    }

    /// The place of what a host calls an association; none of one that is not the signalling network's.
    fn at(&self, node: NodeId, association: SocketId) -> Option<usize> {
        *self.hosts.get(node.index())?.get(association.0 as usize)?
    }
}

/// The entry at a place of a list that is made long enough.
fn grown<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}
