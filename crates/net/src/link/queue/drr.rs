//! Deficit round robin: classes share a transmitter in proportion to their quanta, whatever the lengths of their
//! packets.
//!
//! After M. Shreedhar and G. Varghese: Efficient Fair Queuing Using Deficit Round-Robin, IEEE/ACM Transactions on
//! Networking 4(3), 1996. A class that comes to its turn is given its quantum, and sends as long as what it has been
//! given suffices; what it has left, it keeps for its next turn as long as packets wait in it. A choice costs the same
//! however many classes there are, as long as a quantum is no less than a packet.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_wire::ip::Dscp;

use crate::link::admission::QueueLimit;
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::parcel::Parcel;

/// Classes that share a transmitter by deficit round robin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrrConfig {
    /// The classes; at least one. A packet is of the first that has its codepoint; one whose codepoint none has is of
    /// the last.
    pub classes: Vec<DrrClass>,
}

/// Class of packets that share a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrrClass {
    /// The codepoints of its packets.
    pub dscps: Vec<Dscp>,
    /// Number of bytes that it may send in a turn; no less than the longest packet.
    pub quantum_bytes: u32,
    /// Limit of what may be queued in it.
    pub limit: QueueLimit,
}

/// The classes with what waits in them.
#[derive(Clone, Debug)]
pub(crate) struct DeficitRoundRobin {
    lines: Box<[Line]>,
    /// By codepoint: the place of the class.
    line_of: Box<[usize; 64]>,
    /// Classes in which packets wait, in the order of their turns.
    turns: VecDeque<usize>,
}

#[derive(Clone, Debug)]
struct Line {
    class: Class,
    limit: QueueLimit,
    quantum_bytes: u64,
    deficit_bytes: u64,
    turn: Turn,
}

/// Progress of a class in its turn: whether its quantum has been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Begun,
    ToCome,
}

impl DeficitRoundRobin {
    fn line(&mut self, parcel: Parcel) -> (usize, &mut Line) {
        let place = self.line_of[usize::from(parcel.traffic_class() >> 2)];
        (place, &mut self.lines[place])
    }
}

impl QueueDiscipline for Box<DeficitRoundRobin> {
    type Config = DrrConfig;

    fn new(config: &DrrConfig, _: &PortTerms<'_>) -> Self {
        let line = |class: &DrrClass| Line {
            class: Class::default(),
            limit: class.limit,
            quantum_bytes: u64::from(class.quantum_bytes.max(1)),
            deficit_bytes: 0,
            turn: Turn::ToCome,
        };
        let last = config.classes.len() - 1;
        let line_of = core::array::from_fn(|codepoint| {
            let has =
                |class: &DrrClass| class.dscps.iter().any(|dscp| usize::from(dscp.number()) == codepoint);
            config.classes.iter().position(has).unwrap_or(last)
        });
        Self::new(DeficitRoundRobin {
            lines: config.classes.iter().map(line).collect(),
            line_of: Box::new(line_of),
            turns: VecDeque::new(),
        })
    }

    /// No limit: each class has one of its own.
    fn limit(_: &DrrConfig) -> QueueLimit {
        QueueLimit::Unlimited
    }

    fn has_room(&mut self, _: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        let held = held.filter(|held| self.line(*held).0 == self.line(parcel).0);
        let (_, Line { class, limit, .. }) = self.line(parcel);
        class.admits(*limit, held, parcel)
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        let (place, line) = self.line(parcel);
        let was_empty = line.class.is_empty();
        line.class.push(now, parcel);
        if was_empty {
            self.turns.push_back(place);
        }
    }

    fn pop(&mut self, _: Instant, _: &mut Outlet<'_>) -> Option<Parcel> {
        loop {
            let line = &mut self.lines[*self.turns.front()?];
            if line.turn == Turn::ToCome {
                line.turn = Turn::Begun;
                line.deficit_bytes += line.quantum_bytes;
            }
            let head = line.class.head()?;
            if let Some(left) = line.deficit_bytes.checked_sub(u64::from(head.length())) {
                line.class.pop();
                line.deficit_bytes = left;
                if line.class.is_empty() {
                    (line.deficit_bytes, line.turn) = (0, Turn::ToCome);
                    self.turns.pop_front();
                }
                return Some(head);
            }
            line.turn = Turn::ToCome;
            self.turns.rotate_left(1);
        }
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.turns.clear();
        let empty = |line: &mut Line| {
            (line.deficit_bytes, line.turn) = (0, Turn::ToCome);
            line.class.take()
        };
        self.lines.iter_mut().flat_map(empty).collect()
    }
}
