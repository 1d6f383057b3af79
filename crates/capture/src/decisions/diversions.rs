//! Signalling that leaves an association that does not answer, or is out of service, for another of the same sender.
//!
//! Messages from one point to another with one signalling link selection are carried by one association. The first of
//! them on another one ends a failover. Associations are one sender's if their packets have an address in common.

use std::net::IpAddr;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::UserDataOutline;
use slantpath_ss7::{PointCode, PointCodeFormat};

use super::{Association, CapturedDirection};
use crate::signalling::{Bearer, Carriage, FIRST_USER, SignallingMessage};

/// Most relations that are followed, most senders of one, and most diversions that are kept.
const RELATIONS_MAX: usize = 65_536;
const SENDERS_MAX: usize = 8;
const DIVERSIONS_MAX: usize = 4_096;

/// Points, signalling link selection and layer of messages.
type Relation = (PointCode, PointCode, u8, bool);
/// A direction: the place of its association, and which of both senders it is.
type Place = (usize, usize);

/// Signalling that has left an association for another one of the same sender, as one point saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedDiversion {
    /// Instant at which the first message was seen on the other association.
    pub at: Instant,
    /// Number of the direction that carried it before.
    pub from: u32,
    /// Number of the direction that carries it from then on.
    pub to: u32,
    /// Layer that carries it: `M2PA` or `M3UA`.
    pub layer: &'static str,
    /// Originating point code of the message.
    pub origin: PointCode,
    /// Destination point code of the message.
    pub destination: PointCode,
    /// Signalling link selection of the message.
    pub selection: u8,
    /// Time until then since the last packet left on the former that was answered; `None` if none was.
    pub unanswered: Option<Duration>,
}

/// Follows which association carries the signalling of which points.
#[derive(Debug)]
pub(super) struct Diversions {
    format: PointCodeFormat,
    carriers: FxHashMap<Relation, Vec<Place>>,
    pub(super) found: Vec<CapturedDiversion>,
    /// Messages of the packet at hand that were sent for the first time.
    fresh: Vec<(Bearer, Carriage)>,
}

impl Diversions {
    pub(super) fn new(format: PointCodeFormat) -> Self {
        Self { format, carriers: FxHashMap::default(), found: Vec::new(), fresh: Vec::new() }
    }

    /// Takes user data that is sent for the first time. What is in fragments is longer than signalling ever is.
    pub(super) fn sends(&mut self, data: &UserDataOutline<'_>, ports: [u16; 2], payload: &Bytes) {
        let is_whole = data.flags.is_beginning() && data.flags.is_ending() && data.bytes.len() == data.len;
        let Some(bearer) = Bearer::of_sctp(data.ppid.0, ports).filter(|_| is_whole) else { return };
        if let Ok(carriage) = Carriage::of(bearer, &payload.slice_ref(data.bytes), self.format) {
            self.fresh.push((bearer, carriage));
        }
    }

    /// Settles what the packet at hand has sent in a direction.
    pub(super) fn settle(&mut self, now: Instant, followed: &mut [Association], (place, sender): Place) {
        for (bearer, carriage) in std::mem::take(&mut self.fresh) {
            match carriage {
                Carriage::OutOfService => followed[place].is_out_of_service = true,
                Carriage::Message(message) if message.service >= FIRST_USER => {
                    let association = &mut followed[place];
                    association.is_out_of_service = false;
                    association.senders[sender].is_left = false;
                    self.carries(now, followed, (place, sender), bearer, &message);
                }
                Carriage::Message(_) | Carriage::Other => {}
            }
        }
    }

    fn carries(
        &mut self,
        now: Instant,
        followed: &mut [Association],
        at: Place,
        bearer: Bearer,
        message: &SignallingMessage,
    ) {
        let SignallingMessage { from: origin, to: destination, sls, .. } = *message;
        let relation = (origin, destination, sls, bearer == Bearer::M2pa);
        if self.carriers.len() >= RELATIONS_MAX && !self.carriers.contains_key(&relation) {
            return;
        }
        let carriers = self.carriers.entry(relation).or_default();
        let is_own = |other: &Place| is_one_sender(followed, *other, at);
        let Some(known) = carriers.iter().position(is_own) else {
            if carriers.len() < SENDERS_MAX {
                carriers.push(at);
            }
            return;
        };
        let former = std::mem::replace(&mut carriers[known], at);
        let direction = |(place, sender): Place| &followed[place].senders[sender].direction;
        // An association that was opened anew is the same one to those above it.
        let is_moved = !has_same_ends(direction(former), direction(at));
        if !is_moved || !followed[former.0].is_failing(former.1) {
            return;
        }
        // All of its traffic leaves it: the first message of all counts.
        if std::mem::replace(&mut followed[former.0].senders[former.1].is_left, true) {
            return;
        }
        if self.found.len() < DIVERSIONS_MAX {
            let number = |(place, sender): Place| followed[place].senders[sender].direction.number;
            self.found.push(CapturedDiversion {
                at: now,
                from: number(former),
                to: number(at),
                layer: bearer.name(),
                origin,
                destination,
                selection: sls,
                unanswered: last_answered(followed, former).map(|left| now.saturating_since(left)),
            });
        }
    }
}

/// Tells if both directions have a sender's address in common.
fn is_one_sender(followed: &[Association], one: Place, other: Place) -> bool {
    let sources = |(place, sender): Place| &followed[place].senders[sender].direction.sources;
    sources(one).iter().any(|source| sources(other).contains(source))
}

/// Instant at which the newest packet left that was answered, of this association or another between the same ends:
/// one that has ended may have been opened anew.
fn last_answered(followed: &[Association], (place, sender): Place) -> Option<Instant> {
    let own = &followed[place].senders[sender].direction;
    let senders = followed.iter().flat_map(|association| &association.senders);
    let same = senders.filter(|other| has_same_ends(&other.direction, own));
    same.filter_map(|other| other.last_answered).max()
}

fn has_same_ends(one: &CapturedDirection, other: &CapturedDirection) -> bool {
    let shares = |one: &[IpAddr], other: &[IpAddr]| one.iter().any(|address| other.contains(address));
    (one.source_port, one.destination_port) == (other.source_port, other.destination_port)
        && shares(&one.sources, &other.sources)
        && shares(&one.destinations, &other.destinations)
}
