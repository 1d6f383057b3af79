//! Setting an association up: the states COOKIE-WAIT and COOKIE-ECHOED of the side that sends the INIT
//! (RFC 9260, section 5.1). The other side has no state until a valid COOKIE ECHO; it lives in the endpoint.

mod cookie_echoed;
mod cookie_wait;
mod early_requests;
mod offer;
mod t1;

pub(crate) use cookie_echoed::CookieEchoed;
pub(crate) use cookie_wait::{Accepted, CookieWait};
pub(crate) use early_requests::EarlyRequests;
pub(crate) use offer::{Families, LEAST_RWND, Offer};

use bytes::Bytes;

use crate::authentication::RANDOM_LEN;
use crate::cause::Cause;
use crate::types::{Tsn, VerificationTag};

/// The numbers that an endpoint begins an association with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalStart {
    pub(crate) tag: VerificationTag,
    pub(crate) initial_tsn: Tsn,
    /// Random number for the keys by which chunks are authenticated; zero if none are.
    pub(crate) random: [u8; RANDOM_LEN],
}

/// Fault of an INIT ACK, and the cause for an ABORT because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The association ends. The ABORT has the tag of the INIT ACK.
    Ends(Cause),
    /// The association ends. The INIT ACK has no tag, so the ABORT reflects that of its packet.
    EndsUntagged(Cause),
    /// Only the INIT ACK is refused; another may come.
    Discards(Cause),
}

/// The ERROR that reports unknown parameters of an INIT ACK.
pub(crate) fn unrecognized_parameters(parameters: &[Bytes]) -> Option<Cause> {
    (!parameters.is_empty()).then(|| Cause::UnrecognizedParameters(parameters.concat().into()))
}
