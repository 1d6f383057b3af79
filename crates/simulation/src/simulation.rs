//! A signalling network in the simulator: its associations are carried by hosts of a packet network.
//!
//! Both keep their own events; the one that is due earlier goes first, and what one tells the other is told at the
//! instant at which it happens.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_net::{Network, NodeId};

use super::config::AssociationSide;
use super::management::Change;
use super::network::{Output, SignallingNetwork};
use crate::{AssociationEndId, Host};

/// Where an end of a link's association is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssociationPlace {
    /// The end of the link.
    pub end: AssociationSide,
    /// The node whose host carries it.
    pub node: NodeId,
    /// What the host calls it.
    pub association: AssociationEndId,
}

/// A signalling network with the places of its associations and what is done to it.
#[derive(Debug)]
pub struct SignallingSimulation {
    signalling: SignallingNetwork,
    places: Vec<AssociationPlace>,
    /// In order of time.
    script: VecDeque<(Instant, Change)>,
}

impl SignallingSimulation {
    /// `script` may be in any order; changes at one instant are made in the order in which they are given.
    pub fn new(
        signalling: SignallingNetwork,
        places: Vec<AssociationPlace>,
        mut script: Vec<(Instant, Change)>,
    ) -> Self {
        script.sort_by_key(|(at, ..)| *at);
        Self { signalling, places, script: script.into() }
    }

    /// The signalling network.
    pub const fn signalling(&self) -> &SignallingNetwork {
        &self.signalling
    }

    /// The same, for its reports.
    pub const fn signalling_mut(&mut self) -> &mut SignallingNetwork {
        &mut self.signalling
    }

    /// Runs both up to and including `end`.
    pub fn run_until(&mut self, network: &mut Network<Host>, end: Instant) {
        while !self.run_at_most(u64::MAX, network, end) {}
    }

    /// Runs both up to and including `end`, but for little more than so many events. Returns whether they came to
    /// the end; if not, the same call goes on where this one stopped: between two instants, so that it changes
    /// nothing of what happens.
    pub fn run_at_most(&mut self, events: u64, network: &mut Network<Host>, end: Instant) -> bool {
        let before = network.events();
        // An instant at which only the signalling network is due counts for an event too.
        let mut instants = 0;
        loop {
            let due = self.exchange(network);
            let scripted = self.script.front().map(|(at, ..)| *at);
            let next = due.into_iter().chain(network.next_event()).chain(scripted).min();
            let Some(next) = next.filter(|next| *next <= end) else {
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

    fn place(&self, end: AssociationSide) -> AssociationPlace {
        let place = self.places.iter().find(|place| place.end == end);
        *place.expect("every end of an association has its place")
    }

    /// Hands on what hosts and the signalling network tell one another now, until neither has anything to tell. Says
    /// when the signalling network is next due.
    fn exchange(&mut self, network: &mut Network<Host>) -> Option<Instant> {
        let now = network.now();
        loop {
            for place in &self.places {
                while network.host(place.node).has_association_input(place.association) {
                    let input =
                        network.command(place.node, |host, _| host.poll_association(place.association));
                    if let Some(input) = input {
                        self.signalling.handle_transport(now, place.end, input);
                    }
                }
            }
            match self.signalling.poll_output(now) {
                Output::Transmit(end, transmit) => {
                    let place = self.place(end);
                    network.command(place.node, |host, now| {
                        host.send_on_association(now, place.association, transmit);
                    });
                }
                Output::Abort(end) => {
                    let place = self.place(end);
                    network.command(place.node, |host, now| host.abort_association(now, place.association));
                }
                Output::Close(end) => {
                    let place = self.place(end);
                    network.command(place.node, |host, now| host.close_association(now, place.association));
                }
                Output::Open(end) => {
                    let place = self.place(end);
                    network.command(place.node, |host, now| host.reopen_association(now, place.association));
                }
                Output::Wait(deadline) => {
                    let is_quiet = self
                        .places
                        .iter()
                        .all(|place| !network.host(place.node).has_association_input(place.association));
                    if is_quiet {
                        return deadline;
                    }
                }
            }
        }
    }
}
