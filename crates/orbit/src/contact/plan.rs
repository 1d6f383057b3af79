//! The contact plan: every contact with its times, reasons and delay. It knows no orbit and is all that links
//! and routes need.

use slantpath_base::{Duration, Instant};

use super::delay::{ContactDelayCurve, Piece};
use super::stretch::ContactCause;
use crate::constellation::Payload;
use crate::network::ContactNodeId;
use crate::site::Relay;
use crate::utc::Utc;

/// A contact of a plan, counted in order of start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactId(pub u32);

impl ContactId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of link that a contact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContactKind {
    /// An antenna of a site (from 0) and a satellite.
    Ground {
        /// Number of the antenna.
        antenna: u16,
    },
    /// Link between two satellites.
    InterSatellite,
    /// Two sites that a cable joins.
    Terrestrial,
}

impl ContactKind {
    /// Word of the kind in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ground { .. } => "ground",
            Self::InterSatellite => "inter-satellite",
            Self::Terrestrial => "terrestrial",
        }
    }
}

/// Two nodes that can send to each other from one instant to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// A satellite, and the lower node if both are; of a cable, an end that is a gateway.
    pub a: ContactNodeId,
    /// A satellite or a site.
    pub b: ContactNodeId,
    /// Kind of link.
    pub kind: ContactKind,
    /// The first instant.
    pub start: Instant,
    /// The instant after the last.
    pub end: Instant,
    /// Why it begins.
    pub opens: ContactCause,
    /// Why it ends.
    pub closes: ContactCause,
    pub(crate) first_piece: u32,
    pub(crate) piece_count: u32,
}

impl Contact {
    /// The node at the other end.
    pub fn peer_of(&self, node: ContactNodeId) -> ContactNodeId {
        if node == self.a { self.b } else { self.a }
    }

    /// Tells if it carries traffic at an instant.
    pub fn holds_at(&self, now: Instant) -> bool {
        self.start <= now && now < self.end
    }
}

/// A contact that begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactChange {
    /// Instant of the change.
    pub at: Instant,
    /// Contact that begins or ends.
    pub contact: ContactId,
    /// True if it begins.
    pub begins: bool,
}

/// All contacts of a network over a span.
#[derive(Clone, Debug)]
pub struct ContactPlan {
    pub(crate) epoch: Utc,
    pub(crate) span: Duration,
    pub(crate) names: Vec<String>,
    pub(crate) payloads: Vec<Payload>,
    pub(crate) relays: Vec<Relay>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) changes: Vec<ContactChange>,
    pub(crate) passes: Vec<Vec<(f64, f64)>>,
}

impl ContactPlan {
    /// The date of [`Instant::START`].
    pub fn epoch(&self) -> Utc {
        self.epoch
    }

    /// Duration of the plan.
    pub fn span(&self) -> Duration {
        self.span
    }

    /// The names of all nodes: satellites, then sites.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The node of a name.
    pub fn node(&self, name: &str) -> Option<ContactNodeId> {
        self.names.iter().position(|known| known == name).map(ContactNodeId::new)
    }

    /// The number of satellites; nodes from here on are sites.
    pub fn satellite_count(&self) -> usize {
        self.payloads.len()
    }

    /// Tells if a node is a site.
    pub fn is_site(&self, node: ContactNodeId) -> bool {
        node.index() >= self.payloads.len()
    }

    /// Payload of a satellite; `None` for a site.
    pub fn payload(&self, node: ContactNodeId) -> Option<Payload> {
        self.payloads.get(node.index()).copied()
    }

    /// Tells if paths between others may pass a node: every satellite, and sites that are gateways.
    pub fn relays(&self, node: ContactNodeId) -> bool {
        match node.index().checked_sub(self.payloads.len()) {
            None => true,
            Some(site) => self.relays[site] == Relay::Gateway,
        }
    }

    /// All contacts in order of start.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Contact with this number.
    pub fn contact(&self, id: ContactId) -> &Contact {
        &self.contacts[id.index()]
    }

    /// All beginnings and ends in order of time; at one instant ends come first, then in order of contacts.
    pub fn changes(&self) -> &[ContactChange] {
        &self.changes
    }

    /// The delay of a contact over its life.
    pub fn delay(&self, id: ContactId) -> ContactDelayCurve<'_> {
        let contact = &self.contacts[id.index()];
        let first = contact.first_piece as usize;
        ContactDelayCurve::new(&self.pieces[first..first + contact.piece_count as usize])
    }

    /// The times, in seconds from the start, at which a site has at least one satellite above its limits,
    /// whatever its policy does with it; and by exclusion its gaps. See [`crate::coverage`].
    pub fn site_passes(&self, site: usize) -> &[(f64, f64)] {
        &self.passes[site]
    }

    /// Tells if this and another plan of the same network have the same contacts as long as it is not later than an
    /// instant: the same beginnings, ends and reasons, and the same delays to the last bit.
    pub fn agrees_with(&self, other: &Self, until: Instant) -> bool {
        let counted = |plan: &Self| plan.contacts.partition_point(|contact| contact.start <= until);
        let is_past = |contact: &Contact| contact.end <= until;
        let agree = |(id, (one, other_one)): (u32, (&Contact, &Contact))| {
            let begins =
                |contact: &Contact| (contact.a, contact.b, contact.kind, contact.start, contact.opens);
            let ends = |contact: &Contact| (contact.end, contact.closes);
            begins(one) == begins(other_one)
                && (is_past(one) == is_past(other_one))
                && (!is_past(one) || ends(one) == ends(other_one))
                && self.delay(ContactId(id)).agrees_with(other.delay(ContactId(id)), until)
        };
        counted(self) == counted(other)
            && (0..).zip(self.contacts.iter().zip(&other.contacts)).take(counted(self)).all(agree)
    }

    /// Satellites and sites, with links that stand for ever and have constant delays (nanoseconds), the lower node
    /// first: what tests of routes are made of.
    #[cfg(test)]
    pub(crate) fn of_constant_delays((satellites, sites): (u32, u32), links: &[(u32, u32, u32)]) -> Self {
        use crate::earth::SPEED_OF_LIGHT;
        let end = Instant::from_secs(1);
        let (mut pieces, mut contacts, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, &(a, b, nanos)) in (0..).zip(links) {
            let metres = f64::from(nanos) * 1e-9 * SPEED_OF_LIGHT;
            super::delay::fit(|_| (metres, 0.0), (0.0, 1.0), &mut pieces);
            let is_ground = b >= satellites;
            contacts.push(Contact {
                a: ContactNodeId(a),
                b: ContactNodeId(b),
                kind: if is_ground {
                    ContactKind::Ground { antenna: 0 }
                } else {
                    ContactKind::InterSatellite
                },
                start: Instant::START,
                end,
                opens: ContactCause::SpanBegins,
                closes: ContactCause::SpanEnds,
                first_piece: index,
                piece_count: 1,
            });
            changes.push(ContactChange { at: Instant::START, contact: ContactId(index), begins: true });
        }
        changes.extend((0..).zip(links).map(|(index, _)| ContactChange {
            at: end,
            contact: ContactId(index),
            begins: false,
        }));
        Self {
            epoch: Utc::J2000,
            span: Duration::from_secs(1),
            names: (0..satellites + sites).map(|node| format!("node{node}")).collect(),
            payloads: vec![Payload::Regenerative; satellites as usize],
            relays: vec![Relay::None; sites as usize],
            contacts,
            pieces,
            changes,
            passes: vec![Vec::new(); sites as usize],
        }
    }

    /// The bytes that the plan occupies, about.
    pub fn memory_bytes(&self) -> usize {
        self.contacts.len() * size_of::<Contact>()
            + self.pieces.len() * size_of::<Piece>()
            + self.changes.len() * size_of::<ContactChange>()
    }
}
