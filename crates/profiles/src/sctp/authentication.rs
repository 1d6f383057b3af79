//! Keys of a profile for chunks that are authenticated (RFC 4895).

use std::collections::BTreeMap;

use slantpath_reader::{Fault, Faults, Setting, choice};
use slantpath_sctp::chunk::kind;
use slantpath_sctp::{AuthenticationConfig, Extension, SharedKey};

use super::schema::SctpProfile;

choice! {
    /// A type of chunk that can be authenticated.
    pub enum AuthenticatedChunk {
        /// ABORT.
        Abort = "abort",
        /// ASCONF (RFC 5061); authenticated with `dynamic-addresses` anyway.
        Asconf = "asconf",
        /// ASCONF-ACK (RFC 5061); the same.
        AsconfAck = "asconf-ack",
        /// COOKIE ACK.
        CookieAck = "cookie-ack",
        /// COOKIE ECHO.
        CookieEcho = "cookie-echo",
        /// DATA.
        Data = "data",
        /// ERROR.
        Error = "error",
        /// FORWARD TSN (RFC 3758).
        ForwardTsn = "forward-tsn",
        /// HEARTBEAT.
        Heartbeat = "heartbeat",
        /// HEARTBEAT ACK.
        HeartbeatAck = "heartbeat-ack",
        /// I-DATA (RFC 8260).
        IData = "i-data",
        /// I-FORWARD-TSN (RFC 8260).
        IForwardTsn = "i-forward-tsn",
        /// RE-CONFIG (RFC 6525).
        ReConfig = "re-config",
        /// SACK.
        Sack = "sack",
        /// SHUTDOWN.
        Shutdown = "shutdown",
        /// SHUTDOWN ACK.
        ShutdownAck = "shutdown-ack",
    }
}

impl AuthenticatedChunk {
    const fn kind(self) -> u8 {
        match self {
            Self::Abort => kind::ABORT,
            Self::Asconf => kind::ASCONF,
            Self::AsconfAck => kind::ASCONF_ACK,
            Self::CookieAck => kind::COOKIE_ACK,
            Self::CookieEcho => kind::COOKIE_ECHO,
            Self::Data => kind::DATA,
            Self::Error => kind::ERROR,
            Self::ForwardTsn => kind::FORWARD_TSN,
            Self::Heartbeat => kind::HEARTBEAT,
            Self::HeartbeatAck => kind::HEARTBEAT_ACK,
            Self::IData => kind::I_DATA,
            Self::IForwardTsn => kind::I_FORWARD_TSN,
            Self::ReConfig => kind::RE_CONFIG,
            Self::Sack => kind::SACK,
            Self::Shutdown => kind::SHUTDOWN,
            Self::ShutdownAck => kind::SHUTDOWN_ACK,
        }
    }
}

/// Keys that an association holds at most.
const MOST_KEYS: usize = 256;

impl SctpProfile {
    /// Configuration of authentication: the chunks that are authenticated, and the keys.
    pub(crate) fn authentication(&self) -> AuthenticationConfig {
        let chunks = self.authenticated_chunks.iter().flat_map(|chunks| chunks.iter());
        let keys = self.shared_keys.iter().flat_map(|keys| keys.iter());
        let keys: BTreeMap<u16, SharedKey> =
            (0..).zip(keys.map(|key| SharedKey::new(key.clone().into_bytes()))).collect();
        AuthenticationConfig {
            chunks: chunks.map(|chunk| chunk.kind()).collect(),
            keys,
            active_key: self.active_key.map_or(0, |key| *key),
            ..AuthenticationConfig::default()
        }
    }
}

pub(super) fn check(profile: &SctpProfile, faults: &mut Faults) {
    let given = [
        ("authenticated_chunks", profile.authenticated_chunks.as_ref().map(Setting::place)),
        ("shared_keys", profile.shared_keys.as_ref().map(Setting::place)),
        ("active_key", profile.active_key.as_ref().map(Setting::place)),
    ];
    if !profile.extensions().contain(Extension::Authentication) {
        for (name, place) in given {
            if let Some(place) = place {
                let fault = Fault::new(format!("`{name}` says nothing where no chunk is authenticated"));
                faults.report(place, fault.help("add \"authentication\" to `extensions`, or leave it out"));
            }
        }
        return;
    }
    if let Some(keys) = &profile.shared_keys
        && !(1..=MOST_KEYS).contains(&keys.len())
    {
        let fault = Fault::new(format!("an association does not hold {} keys", keys.len()));
        faults.report(keys.place(), fault.help(format!("list between 1 and {MOST_KEYS}, or none at all")));
    }
    let count = profile.shared_keys.as_ref().map_or(1, |keys| keys.len());
    if let Some(active) = profile.active_key.filter(|active| usize::from(**active) >= count) {
        let message = format!("key {} is not one of {count}", *active);
        let help = "the first of `shared_keys` has number 0; without any there is only key 0, which is empty";
        faults.report(active.place(), Fault::new(message).help(help));
    }
}
