//! Methods that stand in for SCTP's checksum (RFC 9653).

use core::num::NonZeroU32;

use slantpath_reader::choice;
use slantpath_sctp::ErrorDetectionMethod;

use super::schema::SctpProfile;

choice! {
    /// Method that finds errors in place of SCTP's checksum, by its name in IANA's registry.
    pub enum ErrorDetection {
        /// SCTP lies in DTLS, whose records are authenticated (RFC 8261), as data channels of WebRTC do.
        Dtls = "dtls",
    }
}

impl SctpProfile {
    /// Method that stands in for the checksum, if any does.
    pub(crate) fn error_detection(&self) -> Option<ErrorDetectionMethod> {
        self.zero_checksum.map(|method| match *method {
            ErrorDetection::Dtls => ErrorDetectionMethod(NonZeroU32::MIN),
        })
    }
}
