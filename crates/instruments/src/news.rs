//! Events of SCTP that are told in words while a program runs.

use slantpath_sctp as sctp;

/// Describes an event for whoever watches, in the words of SCTP's dictionary; `None` for events of which there is
/// nothing to say, as the answers to what was asked for.
pub(crate) fn news_of(event: &sctp::Event) -> Option<String> {
    let notice = event.notice().filter(|notice| !notice.is_answer())?;
    Some(match notice.path() {
        Some(path) => format!("path to {path}: {}", notice.words()),
        None => notice.words(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_sctp::{
        AddressEvent, AuthenticationEvent, Cause, Notice, StreamChange, StreamId, StreamsChanged, WrongKey,
    };

    #[test]
    fn what_peers_change_is_said_in_words_and_what_they_answer_is_not() {
        let all = sctp::Event::StreamsChanged(StreamsChanged::OutboundReset(Box::default()));
        let some =
            sctp::Event::StreamsChanged(StreamsChanged::InboundReset([StreamId(3), StreamId(5)].into()));
        let added =
            sctp::Event::StreamsChanged(StreamsChanged::Added { outbound_streams: 4, inbound_streams: 6 });
        let address = sctp::Event::Addresses(AddressEvent::PeerAdded([192, 0, 2, 1].into()));
        let causes = vec![Cause::InvalidStreamIdentifier(StreamId(9)), Cause::OutOfResource];
        let wrong = sctp::Event::Authentication(AuthenticationEvent::Failed(WrongKey::Unknown(4)));
        let cases = [
            (all, "the numbers of all streams to send on begin again"),
            (some, "the numbers of streams 3, 5 that the peer sends on begin again"),
            (added, "streams were added: 4 to send on, 6 for the peer"),
            (address, "path to 192.0.2.1: the peer has this address from now on"),
            (
                sctp::Event::PeerReported(causes),
                "the peer has reported there is no stream 9, it is out of resources",
            ),
            (
                wrong,
                "what the peer authenticates is dropped: key 4 is not known here, give both ends the same",
            ),
            (Notice::AdaptationLayer { code: 7 }.event(), "the peer's layer above has the code point 7"),
        ];
        for (event, words) in cases {
            assert_eq!(news_of(&event).as_deref(), Some(words));
        }
        let change = StreamChange::AddOutbound(1);
        let result = slantpath_sctp::chunk::ReconfigurationResult::Performed;
        assert_eq!(news_of(&sctp::Event::ReconfigurationAnswered { change, result }), None);
        assert_eq!(news_of(&sctp::Event::Acknowledged { context: 1 }), None);
    }
}
