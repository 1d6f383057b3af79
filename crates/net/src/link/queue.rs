//! Queues: the disciplines by which packets wait, each declared once.
//!
//! A discipline is a file in this directory with its configuration and a state that is a [`QueueDiscipline`], and an
//! entry below. `discipline` has the trait, `class` is one line of packets that others are made of.

mod class;
mod codel;
mod codel_queue;
mod discipline;
mod drr;
mod fifo;
mod fq_codel;
mod own;
mod pie;
mod priority;
mod red;
mod red_queue;

use slantpath_base::Instant;

use crate::address_names::AddressNames;
use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::service::Service;
use crate::parcel::Parcel;
pub use codel::CoDelConfig;
use codel_queue::CoDelQueue;
pub(crate) use discipline::PortTerms;
use discipline::QueueDiscipline;
use drr::DeficitRoundRobin;
pub use drr::{DrrClass, DrrConfig};
use fifo::Fifo;
use fq_codel::FqCoDel;
pub use fq_codel::FqCoDelConfig;
use own::Own;
pub use own::{ChosenQueue, OwnQueue, OwnQueueConfig, QueueControl, QueueState, QueuedPacket};
use pie::Pie;
pub use pie::PieConfig;
use priority::Priority;
pub(crate) use red::Red;
pub use red::{BeyondMax, Precedence, QueueMeasure, RedConfig, RedThresholds};
use red_queue::RedQueue;

/// Declares the disciplines, each with its configuration and its state before an event-driven transmitter. The first
/// token is a dollar sign, with which the macro that it defines has its own variables.
macro_rules! disciplines {
    ($dollar:tt $( $(#[doc = $doc:literal])+ $Variant:ident($Config:ty) as $State:ty, )+) => {
        /// A queue's discipline.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $( $(#[doc = $doc])+ $Variant($Config), )+
        }

        impl QueueConfig {
            /// Tells if packets are dropped for other reasons than want of room.
            pub const fn is_managed(&self) -> bool {
                match self {
                    $( Self::$Variant(_) => <$State as QueueDiscipline>::IS_MANAGED, )+
                }
            }

            /// Tells if packets are marked in place of being dropped.
            pub fn marks(&self) -> bool {
                let signal = match self {
                    $( Self::$Variant(config) => <$State as QueueDiscipline>::signal(config), )+
                };
                signal == CongestionSignal::Mark
            }

            /// Tells if packets fare by the flow that they belong to.
            pub(crate) const fn tells_flows_apart(&self) -> bool {
                match self {
                    $( Self::$Variant(_) => <$State as QueueDiscipline>::TELLS_FLOWS_APART, )+
                }
            }

            /// Limit of all that waits, as far as the discipline does not keep to one of its own.
            pub(crate) fn limit(&self) -> QueueLimit {
                match self {
                    $( Self::$Variant(config) => <$State as QueueDiscipline>::limit(config), )+
                }
            }
        }

        /// A discipline with what waits in it, before an event-driven transmitter.
        #[derive(Clone, Debug)]
        pub(crate) enum Discipline {
            $( $Variant($State), )+
        }

        impl Discipline {
            /// An empty queue of a port.
            pub(crate) fn of(config: &QueueConfig, port: &PortTerms<'_>) -> Self {
                match config {
                    $( QueueConfig::$Variant(config) => {
                        Self::$Variant(<$State as QueueDiscipline>::new(config, port))
                    } )+
                }
            }

            /// Tells if it may [refuse](Self::admit) a packet for other reasons than want of room.
            #[inline]
            pub(crate) const fn decides_early(&self) -> bool {
                match self {
                    $( Self::$Variant(_) => <$State as QueueDiscipline>::DECIDES_EARLY, )+
                }
            }

            /// Tells if it [makes room](Self::take_excess) by dropping what waits.
            #[inline]
            pub(crate) const fn makes_room(&self) -> bool {
                match self {
                    $( Self::$Variant(_) => <$State as QueueDiscipline>::MAKES_ROOM, )+
                }
            }

            /// Tells if it drops packets that have waited for too long.
            #[inline]
            pub(crate) const fn drops_waiting(&self) -> bool {
                match self {
                    $( Self::$Variant(_) => <$State as QueueDiscipline>::DROPS_WAITING, )+
                }
            }
        }

        /// Makes the same call on the discipline, whichever it is.
        macro_rules! each {
            ($dollar self:ident, $dollar queue:ident => $dollar call:expr) => {
                match $dollar self {
                    $( Discipline::$Variant($dollar queue) => $dollar call, )+
                }
            };
        }
    };
}

disciplines! { $
    /// First in, first out; packets are dropped when they leave, if all have waited for too long.
    CoDel(CoDelConfig) as CoDelQueue,
    /// First in, first out; a packet that finds no room is dropped.
    DropTail(QueueLimit) as Fifo,
    /// Classes by the DSCP, which share the transmitter in proportion to their quanta.
    Drr(DrrConfig) as Box<DeficitRoundRobin>,
    /// Flows share the transmitter alike, each with CoDel.
    FqCoDel(FqCoDelConfig) as Box<FqCoDel>,
    /// One of the program's own.
    Own(OwnQueueConfig) as Box<Own>,
    /// First in, first out; packets are dropped at random as they come, so that the wait is led to a target.
    Pie(PieConfig) as Pie,
    /// Eight classes by the upper three bits of the DSCP, each with such a limit. A packet waits for all those of
    /// higher classes, but interrupts none.
    Priority(QueueLimit) as Priority,
    /// First in, first out; packets are dropped at random before the queue is full.
    Red(RedConfig) as RedQueue,
}

impl Discipline {
    /// Returns a packet that is to be [pushed](Self::push), with a mark if the queue gives it one, or says why it may
    /// not be.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        parcel: Parcel,
        waiting: Waiting,
        service: &Service,
        outlet: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        each!(self, queue => QueueDiscipline::admit(queue, now, parcel, waiting, service, outlet))
    }

    /// Tells if there is room for a packet, beside one that has left the queue and waits for its tokens.
    pub(crate) fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool {
        each!(self, queue => QueueDiscipline::has_room(queue, limit, parcel, held))
    }

    /// Has a packet wait.
    pub(crate) fn push(&mut self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>) {
        each!(self, queue => QueueDiscipline::push(queue, now, parcel, outlet));
    }

    /// Takes out packets that are dropped for others to have room.
    pub(crate) fn take_excess(&mut self) -> Vec<Parcel> {
        each!(self, queue => QueueDiscipline::take_excess(queue))
    }

    /// Takes the packet off that is sent next, if one is left.
    pub(crate) fn pop(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        each!(self, queue => QueueDiscipline::pop(queue, at, outlet))
    }

    /// Takes out all that waits.
    pub(crate) fn take(&mut self) -> Vec<Parcel> {
        each!(self, queue => QueueDiscipline::take(queue))
    }

    /// Has flows told apart by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        each!(self, queue => QueueDiscipline::name_addresses(queue, names));
    }
}

/// The admission of a first-in, first-out queue with its state. What waits lies with the transmitter, which asks.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(QueueLimit),
    Red(Box<Red>),
}

impl Queue {
    /// The admission of a discipline in which a packet's departure is known when it comes; `None` of any other.
    pub(crate) fn of(config: &QueueConfig, port: &PortTerms<'_>) -> Option<Self> {
        match config {
            QueueConfig::DropTail(limit) => Some(Self::DropTail(*limit)),
            QueueConfig::Red(red) => Some(Self::Red(Box::new(Red::of(*red, port.seed, port.path)))),
            _ => None,
        }
    }

    /// Notes a packet that was admitted before and [forgotten](Self::forget_waiting) since.
    pub(crate) fn readmit(&mut self, start: Instant, parcel: Parcel) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.readmit(start, parcel),
        }
    }

    /// Forgets what waits, since it was withdrawn.
    pub(crate) fn forget_waiting(&mut self) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.forget_waiting(),
        }
    }
}
