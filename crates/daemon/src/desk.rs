//! The socket at which programs ask for sockets, and those that have come and not asked yet.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd as _, OwnedFd};

use slantpath_requests::{Errno, OpenRequest, Reply};
use slantpath_system::pair::{OwnEnd, PairListener, ReceivedPiece};
use slantpath_system::poll::Poll;

use crate::daemon::{DESK, guest_token};

/// Place where programs ask for sockets.
#[derive(Debug)]
pub(crate) struct Desk {
    listener: PairListener,
    guests: BTreeMap<u64, OwnEnd>,
    count: u64,
    own_user: u32,
    /// Users that were refused and have been told of.
    refused: Vec<u32>,
}

/// Programs that have come and not asked, at most.
const GUESTS_MAX: usize = 256;
/// Users that are told of, at most.
const REFUSED_MAX: usize = 16;
const ROOT: u32 = 0;

impl Desk {
    pub(crate) fn open(name: &str, poll: &Poll) -> io::Result<Self> {
        let listener = PairListener::open(name)?;
        poll.add(&listener, DESK)?;
        let own_user = slantpath_system::process::own_user();
        Ok(Self { listener, guests: BTreeMap::new(), count: 0, own_user, refused: Vec::new() })
    }

    /// Lets programs in. Gives what is to be said of one that was refused.
    pub(crate) fn let_in(&mut self, poll: &Poll) -> Option<String> {
        // No more than there is room for; those that are left are told anew.
        for _ in 0..GUESTS_MAX {
            let Ok(Some((guest, user))) = self.listener.accept() else { return None };
            if user != self.own_user && user != ROOT {
                answer(&guest, &Reply::failed(Errno::EACCES), None);
                if !self.refused.contains(&user) && self.refused.len() < REFUSED_MAX {
                    self.refused.push(user);
                    return Some(format!(
                        "a program of user {user} has asked for an SCTP socket and was refused: this serves user {} \
                         and root alone; start another one for it, and not in a user namespace of its own",
                        self.own_user
                    ));
                }
                continue;
            }
            if self.guests.len() >= GUESTS_MAX {
                answer(&guest, &Reply::failed(Errno::EAGAIN), None);
                continue;
            }
            self.count += 1;
            if poll.add(&guest, guest_token(self.count)).is_ok() {
                self.guests.insert(self.count, guest);
            }
        }
        None
    }

    /// Serves one that asks: `open` makes a socket.
    pub(crate) fn serve(&mut self, number: u64, open: impl FnOnce(OpenRequest) -> io::Result<OwnedFd>) {
        let Some(mut guest) = self.guests.remove(&number) else { return };
        let mut place = [0; 64];
        let mut beside = Vec::new();
        let length = match guest.receive(&mut place, &mut beside) {
            Ok(ReceivedPiece::Nothing) => {
                self.guests.insert(number, guest);
                return;
            }
            Ok(ReceivedPiece::Piece(length)) => length,
            Ok(ReceivedPiece::End | ReceivedPiece::ClosedUnread) | Err(_) => return,
        };
        match OpenRequest::decode(&place[..length]).map(open) {
            Ok(Ok(program)) => answer(&guest, &Reply::default(), Some(&program)),
            Ok(Err(error)) => {
                let number = error.raw_os_error().and_then(|number| u16::try_from(number).ok());
                answer(&guest, &Reply::failed(number.map_or(Errno::EIO, Errno)), None);
            }
            Err(_) => answer(&guest, &Reply::failed(Errno::EPROTONOSUPPORT), None),
        }
    }
}

/// Answers one that has asked, if it still waits.
fn answer(guest: &OwnEnd, reply: &Reply, program: Option<&OwnedFd>) {
    let beside = program.map(|program| program.as_fd());
    let _ = guest.send(&[IoSlice::new(&reply.encode())], beside);
}
