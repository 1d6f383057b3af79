//! COOKIE-ECHOED: the cookie has gone back, its COOKIE ACK is awaited.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use smallvec::SmallVec;

use super::t1::T1;
use super::{Accepted, CookieWait, EarlyRequests};
use crate::association::Association;
use crate::chunk::{Chunk, CookieEcho};
use crate::config::SctpConfig;
use crate::event::{Event, Message, SendError};
use crate::tcb::Tcb;

/// An association in COOKIE-ECHOED.
#[derive(Debug)]
pub(crate) struct CookieEchoed {
    pub(crate) tcb: Tcb,
    /// The association to be, which already numbers messages but sends nothing by itself.
    pub(crate) association: Box<Association>,
    /// State in COOKIE-WAIT, kept to begin again if the cookie is stale, with the requests of the layer above since
    /// then.
    origin: CookieWait,
    /// COOKIE ECHO, and the report that goes with it.
    chunks: SmallVec<[Chunk; 2]>,
    /// The confirmed addresses of the peer, the one that the INIT ACK came from first.
    destinations: SmallVec<[IpAddr; 2]>,
    t1_cookie: T1,
}

impl CookieEchoed {
    /// Is about to send the COOKIE ECHO to where the INIT ACK came from.
    pub(crate) fn begin(
        now: Instant,
        origin: CookieWait,
        accepted: Accepted,
        association: Box<Association>,
        config: &SctpConfig,
    ) -> Self {
        let Accepted { tcb, cookie, report, echo_to, wanted: _ } = accepted;
        let echo = Chunk::CookieEcho(CookieEcho { cookie });
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.2.2
        //# Any time a COOKIE ECHO chunk is sent in a packet, it MUST be the
        //# first chunk.
        let chunks = core::iter::once(echo).chain(report).collect();
        let confirmed = tcb.peer_addresses.iter().filter(|peer| peer.is_confirmed);
        let mut destinations: SmallVec<[IpAddr; 2]> = confirmed.map(|peer| peer.address).collect();
        if let Some(first) = destinations.iter().position(|address| *address == echo_to) {
            destinations.rotate_left(first);
        }
        let t1_cookie = T1::start(now, destinations.len(), config);
        Self { tcb, association, origin, chunks, destinations, t1_cookie }
    }

    /// The chunks to send, and where they go now.
    pub(crate) fn echo(&self) -> (&[Chunk], IpAddr) {
        (&self.chunks, self.destinations[self.t1_cookie.current()])
    }

    /// Tells if DATA may go behind the COOKIE ECHO: only the first time; afterwards T3-rtx retransmits it.
    pub(crate) const fn takes_data(&self) -> bool {
        self.t1_cookie.is_first()
    }

    /// Instant at which T1-cookie or a message expires.
    pub(crate) fn deadline(&self) -> Instant {
        let expiry = self.association.next_expiry();
        expiry.map_or(self.t1_cookie.deadline(), |expiry| expiry.min(self.t1_cookie.deadline()))
    }

    /// Tells if T1-cookie has expired.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.t1_cookie.deadline() <= now
    }

    /// T1-cookie has expired; whether the COOKIE ECHO is to be retransmitted.
    pub(crate) fn expire(&mut self, now: Instant, config: &SctpConfig) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.4
        //# If the timer expires, the endpoint MUST
        //# retransmit the COOKIE ECHO chunk and restart the T1-cookie timer.
        self.origin.t1_expiries += 1;
        self.t1_cookie.expire(now, config).is_some()
    }

    /// Takes a message, which follows once the association is there.
    pub(crate) fn send(&mut self, now: Instant, message: Message) -> Result<(), SendError> {
        if self.origin.early_requests.is_shutdown_requested() {
            return Err(SendError::ShuttingDown);
        }
        match self.association.send(now, message.clone()) {
            Ok(()) => self.origin.early_requests.keep(now, message),
            Err(error) => {
                if let SendError::BufferFull { .. } = error {
                    self.origin.early_requests.note_refusal();
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Gives up the messages that have expired, and says which have been given up for whatever reason.
    pub(crate) fn give_up_messages(&mut self, now: Instant) -> Vec<Event> {
        self.origin.early_requests.expire_in(now, &mut self.association)
    }

    /// Bytes that the messages count with among those that all associations of the endpoint hold.
    pub(crate) fn held(&self) -> u64 {
        self.association.held_for_sending()
    }

    /// Requests of the layer above.
    pub(crate) const fn early_requests(&mut self) -> &mut EarlyRequests {
        &mut self.origin.early_requests
    }

    /// The addresses that the layer above has named.
    pub(crate) fn named(&self) -> &[IpAddr] {
        &self.origin.destinations
    }

    /// The fields of the INIT that all began with.
    pub(crate) const fn origin(&self) -> &CookieWait {
        &self.origin
    }

    /// The association without its handshake.
    pub(crate) fn into_parts(self) -> (Box<Association>, EarlyRequests) {
        (self.association, self.origin.early_requests)
    }

    /// Begins anew, since the peer has refused the cookie as stale.
    pub(crate) fn again(self, now: Instant, config: &SctpConfig) -> CookieWait {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.6
        //# When calculating the time extension, an
        //# implementation SHOULD use the RTT information measured based on
        //# the previous COOKIE ECHO/ERROR chunk exchange and SHOULD add no
        //# more than 1 second beyond the measured RTT
        let round_trip = self.t1_cookie.round_trip(now).unwrap_or(Duration::ZERO);
        let increment = round_trip.saturating_add(Duration::from_secs(1)).as_millis();
        self.origin.again(now, u32::try_from(increment).unwrap_or(u32::MAX), config)
    }
}
