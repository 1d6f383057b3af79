//! Error causes in words, for whoever reads why an association has ended.

use std::fmt;

use super::Cause;

/// Number of bytes that are shown at most of the words that a peer sends along.
const WORDS_MAX: usize = 256;

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidStreamIdentifier(stream) => write!(f, "there is no stream {}", stream.0),
            Self::MissingMandatoryParameter(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(u16::to_string).collect();
                write!(f, "parameters are missing: {}", kinds.join(", "))
            }
            Self::StaleCookie { staleness_us: 0 } => f.write_str("the cookie came too late"),
            Self::StaleCookie { staleness_us } => write!(f, "the cookie came too late by {staleness_us} µs"),
            Self::OutOfResource => f.write_str("it is out of resources"),
            Self::UnresolvableAddress(_) => f.write_str("an address cannot be used"),
            Self::UnrecognizedChunkType(chunk) => match chunk.first() {
                Some(kind) => write!(f, "chunks of type {kind} are not known"),
                None => f.write_str("a type of chunk is not known"),
            },
            Self::InvalidMandatoryParameter => f.write_str("a mandatory parameter is not valid"),
            Self::UnrecognizedParameters(_) => f.write_str("parameters are not known"),
            Self::NoUserData(tsn) => write!(f, "DATA of TSN {} holds nothing", tsn.0),
            Self::CookieReceivedWhileShuttingDown => f.write_str("it is shutting down"),
            Self::RestartWithNewAddresses(_) => f.write_str("a restart names new addresses"),
            Self::UserInitiatedAbort(reason) => with_words(f, "by its user", reason),
            Self::ProtocolViolation(hint) => with_words(f, "the protocol was violated", hint),
            Self::DeleteLastAddress(_) => f.write_str("the last address cannot be deleted"),
            Self::ResourceShortage(_) => f.write_str("there is no room for what was asked for"),
            Self::DeleteSourceAddress(_) => {
                f.write_str("the address that a request has come from cannot be deleted")
            }
            Self::IllegalAsconfAck => f.write_str("an ASCONF-ACK answers what was not sent"),
            Self::NoAuthorization(_) => f.write_str("what was asked for is not allowed"),
            Self::UnsupportedHmac(hmac) => write!(f, "HMAC {hmac} was not offered"),
            Self::Unknown { code, value } => {
                write!(f, "cause {code}, which is not known, of {} bytes", value.len())
            }
        }
    }
}

/// Writes what is the matter, and the words of the sender of the cause, if there are any.
fn with_words(f: &mut fmt::Formatter<'_>, what: &str, words: &[u8]) -> fmt::Result {
    let told = &words[..words.len().min(WORDS_MAX)];
    match told {
        [] => f.write_str(what),
        _ => write!(f, "{what}: {}", String::from_utf8_lossy(told)),
    }
}

#[cfg(test)]
mod tests {
    use crate::cause::Cause;
    use crate::cause::tests::any_cause;
    use crate::types::StreamId;
    use bytes::Bytes;
    use proptest::prelude::*;

    #[test]
    fn a_cause_is_told_with_what_it_names() {
        for (cause, text) in [
            (Cause::InvalidStreamIdentifier(StreamId(7)), "there is no stream 7"),
            (Cause::MissingMandatoryParameter([7, 5][..].into()), "parameters are missing: 7, 5"),
            (Cause::StaleCookie { staleness_us: 0 }, "the cookie came too late"),
            (Cause::StaleCookie { staleness_us: 9 }, "the cookie came too late by 9 µs"),
            (
                Cause::UnrecognizedChunkType(Bytes::from_static(&[193, 0, 0, 4])),
                "chunks of type 193 are not known",
            ),
            (Cause::UserInitiatedAbort(Bytes::new()), "by its user"),
            (Cause::UserInitiatedAbort("enough".into()), "by its user: enough"),
            (Cause::violation("too long"), "the protocol was violated: too long"),
            (
                Cause::Unknown { code: 99, value: Bytes::from_static(&[0; 3]) },
                "cause 99, which is not known, of 3 bytes",
            ),
        ] {
            assert_eq!(cause.to_string(), text);
        }
        let long = Cause::ProtocolViolation(vec![b'a'; 60_000].into());
        assert_eq!(long.to_string(), format!("the protocol was violated: {}", "a".repeat(256)));
    }

    proptest! {
        #[test]
        fn any_cause_has_words_that_are_not_its_bytes(cause in any_cause()) {
            let text = cause.to_string();
            prop_assert!(!text.is_empty() && text.len() < 1_000, "{text}");
        }
    }
}
