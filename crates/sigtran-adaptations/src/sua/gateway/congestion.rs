//! Congestion of the way to an application server: announced to whoever sends there before anything is refused.

use slantpath_sigtran::transport::AssociationNumber;

use std::collections::BTreeSet;

use crate::message::OwnMessage;
use crate::sua::primitive::first;
use crate::sua::status::{Destination, DestinationChange};
use crate::sua::{Address, SuaParameter};

use super::{SignallingGateway, SignallingGatewayEvent, SignallingGatewayOutput};

/// The congestion of the way to an application server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Congestion {
    /// There is none.
    #[default]
    Free,
    /// There is, and these destinations were announced as congested.
    Announced(BTreeSet<Destination>),
}

/// The destination that an address names, if it does: a title alone has no place in SCON.
pub(super) fn destination_of(address: &Address) -> Option<Destination> {
    let point_code = address.point_code()?;
    Some(Destination { point_code, subsystem: address.subsystem() })
}

/// The destination of a message.
pub(super) fn named_by(message: &OwnMessage<SuaParameter>) -> Option<Destination> {
    first!(message, SuaParameter::DestinationAddress).and_then(destination_of)
}

impl SignallingGateway {
    pub(super) fn follow_all_congestion(&mut self) {
        let contexts: Vec<u32> = self.servers.keys().copied().collect();
        for context in contexts {
            self.follow_congestion(context);
        }
    }

    /// Tells management that an application server's queue has grown past the onset; and ASPs and the network, of its
    /// destinations and of those that wait, that it has or that an association is congested that its messages take.
    /// Tells when that is over.
    //= https://www.rfc-editor.org/rfc/rfc3868#section-1.5.6
    //# When an SG determines that the transport of SS7
    //# messages is encountering congestion, the SG MAY trigger SS7 SCCP
    //# Congestion messages to originating SS7 nodes, per the congestion
    //# procedures of the relevant SCCP standard.
    pub(super) fn follow_congestion(&mut self, context: u32) {
        let is_slow = self.asps.active(&context).iter().any(|asp| self.associations.is_congested(*asp));
        let Some(server) = self.servers.get_mut(&context) else { return };
        let is_full = self.config.queue.is_congested(server.queue.len(), server.is_queue_congested);
        if std::mem::replace(&mut server.is_queue_congested, is_full) != is_full {
            let event = SignallingGatewayEvent::QueueCongested(context, is_full);
            self.outputs.push_back(SignallingGatewayOutput::Event(event));
        }
        match (&mut server.congestion, is_full || is_slow) {
            (Congestion::Free, true) => {
                let own = server.key.destinations.iter().filter_map(destination_of);
                let waiting = server.queue.iter().filter_map(|(_, message)| named_by(message));
                let announced: BTreeSet<_> = own.chain(waiting).collect();
                server.congestion = Congestion::Announced(announced.clone());
                for destination in announced {
                    self.announce_congestion(context, destination, 1);
                }
            }
            (Congestion::Announced(announced), false) => {
                let announced = std::mem::take(announced);
                server.congestion = Congestion::Free;
                for destination in announced {
                    self.announce_congestion(context, destination, 0);
                }
            }
            (Congestion::Free, false) | (Congestion::Announced(_), true) => {}
        }
    }

    /// A message is about to take the way to an application server: if that is congested, its destination is announced
    /// to whoever sends there, unless that was done. As many destinations are remembered as messages may wait; those
    /// beyond are announced with each message, and their end is not.
    pub(super) fn note_congested(&mut self, context: u32, message: &OwnMessage<SuaParameter>) {
        let most = self.config.queue.max;
        let Some(server) = self.servers.get_mut(&context) else { return };
        let Congestion::Announced(announced) = &mut server.congestion else { return };
        let Some(destination) = named_by(message).filter(|destination| !announced.contains(destination))
        else {
            return;
        };
        if announced.len() < most {
            announced.insert(destination);
        }
        self.announce_congestion(context, destination, 1);
    }

    /// Tells the network, and the ASPs that are not the application server's own.
    fn announce_congestion(&mut self, context: u32, destination: Destination, level: u8) {
        let change = DestinationChange::Congestion(level);
        self.outputs.push_back(SignallingGatewayOutput::Status(destination, change));
        let own: Vec<AssociationNumber> = self.asps.active(&context).to_vec();
        self.announce_to_active(destination, change, &own);
    }
}
