//! Own addresses that come and go while associations are up (RFC 5061).

use std::net::IpAddr;

use slantpath_applications::Host;
use slantpath_base::Instant;
use slantpath_host::SocketId;
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::{self as sctp, AddressError, AddressEvent};

use super::Seat;

impl Seat {
    /// Has associations that are up, by their places, ask their peers to take another own address. One whose ends have
    /// not agreed to that uses it when it is set up the next time.
    pub(super) fn offer_addresses(&mut self, now: Instant, host: &mut Host, new: Vec<(usize, IpAddr)>) {
        for (place, address) in new {
            let end = &self.associations[place];
            let Some(socket) = end.socket().filter(|_| end.is_up()) else { continue };
            let peers = host.sctp_paths(now, socket);
            // One of a version that the peer has no address of is no way to it.
            if !peers.iter().any(|path| path.destination.is_ipv4() == address.is_ipv4()) {
                let why = "the peer has told no address of its version of IP that was of use".to_owned();
                self.tell_of_address(now, place, address, "address-not-offered", Some(why));
                continue;
            }
            let Some((endpoint, association)) = host.sctp_association(socket) else { continue };
            if let Err(why) = endpoint.add_address(now, association, address) {
                self.tell_of_address(now, place, address, "address-not-offered", Some(in_words(why)));
            }
        }
    }

    /// Has associations that are up, by their places, tell their peers that an own address is theirs no more. One whose
    /// ends have not agreed to that stays at it until it is set up the next time, for as long as the machine has it.
    pub(super) fn withdraw_addresses(&mut self, now: Instant, host: &mut Host, gone: Vec<(usize, IpAddr)>) {
        for (place, address) in gone {
            let end = &self.associations[place];
            let Some(socket) = end.socket().filter(|_| end.is_up()) else { continue };
            let Some((endpoint, association)) = host.sctp_association(socket) else { continue };
            match endpoint.remove_address(now, association, address) {
                // It never had that one: the peer has refused it, or has no address of its version.
                Ok(()) | Err(AddressError::Unknown(_)) => {}
                Err(why) => {
                    self.tell_of_address(now, place, address, "address-not-withdrawn", Some(in_words(why)));
                }
            }
        }
    }

    /// Tells what has become of the addresses of an association.
    pub(super) fn note_addresses(&mut self, now: Instant, socket: SocketId, event: sctp::Event) {
        let (sctp::Event::Addresses(event), Some(place)) = (event, self.by_socket.get(socket).copied())
        else {
            return;
        };
        match event {
            AddressEvent::Answered { change: AddressChange::Add(address), is_accepted } => {
                let told = if is_accepted { "address-added" } else { "address-refused" };
                self.tell_of_address(now, place, address, told, None);
            }
            AddressEvent::Answered { change: AddressChange::Delete(address), is_accepted } => {
                let told = if is_accepted { "address-removed" } else { "address-kept" };
                self.tell_of_address(now, place, address, told, None);
            }
            AddressEvent::PeerAdded(address) => {
                self.tell_of_address(now, place, address, "peer-address-added", None);
            }
            AddressEvent::PeerRemoved(address) => {
                self.tell_of_address(now, place, address, "peer-address-removed", None);
            }
            _ => {}
        }
    }

    fn tell_of_address(
        &mut self,
        now: Instant,
        place: usize,
        address: IpAddr,
        event: &'static str,
        reason: Option<String>,
    ) {
        let name = self.associations[place].config.name.clone();
        self.tell(now, vec![("association", name), ("address", address.to_string())], event, reason);
    }
}

fn in_words(error: AddressError) -> String {
    match error {
        AddressError::NotSupported => {
            "the ends have not agreed to `dynamic-addresses`: this holds from the next association on"
                .to_owned()
        }
        other => other.to_string(),
    }
}
