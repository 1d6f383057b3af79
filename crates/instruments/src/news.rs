//! Events of SCTP's extensions, in words.

use slantpath_sctp::{AddressEvent, AuthenticationEvent, Event, StreamId, StreamsChanged};

/// Describes an event for whoever watches; `None` for events of which there is nothing to say.
pub(crate) fn news_of(event: &Event) -> Option<String> {
    match event {
        Event::StreamsChanged(StreamsChanged::OutboundReset(streams)) => {
            Some(format!("{} to the peer have been reset", list(streams)))
        }
        Event::StreamsChanged(StreamsChanged::InboundReset(streams)) => {
            Some(format!("{} from the peer have been reset", list(streams)))
        }
        Event::StreamsChanged(StreamsChanged::AssociationReset) => {
            Some("the association has been reset".to_owned())
        }
        Event::StreamsChanged(StreamsChanged::Added { outbound_streams, inbound_streams }) => {
            Some(format!("there are {outbound_streams} streams out and {inbound_streams} in"))
        }
        Event::Addresses(AddressEvent::PeerAdded(address)) => Some(format!("{address} has been added")),
        Event::Addresses(AddressEvent::PeerRemoved(address)) => Some(format!("{address} has been deleted")),
        Event::Addresses(AddressEvent::PeerPrimary(address)) => {
            Some(format!("{address} is primary by the peer's wish"))
        }
        Event::PeerReported(causes) => {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            Some(format!("the peer reports: {}", causes.join(", ")))
        }
        Event::Authentication(AuthenticationEvent::NotOffered) => {
            Some("the peer does not offer authentication: nothing is authenticated".to_owned())
        }
        Event::Authentication(AuthenticationEvent::Failed(wrong)) => {
            Some(format!("what the peer authenticates is dropped: {wrong}"))
        }
        Event::AdaptationLayer(code) => Some(format!("the peer's adaptation layer is {code:#010x}")),
        _ => None,
    }
}

/// The streams by number, if they are few.
fn list(streams: &[StreamId]) -> String {
    const FEW: usize = 16;
    match streams {
        [] => "all streams".to_owned(),
        [..] if streams.len() > FEW => format!("{} streams", streams.len()),
        [..] => {
            let numbers: Vec<String> = streams.iter().map(|stream| stream.0.to_string()).collect();
            format!("streams {}", numbers.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_sctp::{Cause, WrongKey};

    #[test]
    fn what_peers_change_is_said_in_words_and_what_they_answer_is_not() {
        let streams = |changed| news_of(&Event::StreamsChanged(changed));
        let all = StreamsChanged::OutboundReset(Box::default());
        assert_eq!(streams(all).as_deref(), Some("all streams to the peer have been reset"));
        let some = StreamsChanged::InboundReset([StreamId(3), StreamId(5)].into());
        assert_eq!(streams(some).as_deref(), Some("streams 3, 5 from the peer have been reset"));
        let many = StreamsChanged::InboundReset((0..17).map(StreamId).collect());
        assert_eq!(streams(many).as_deref(), Some("17 streams from the peer have been reset"));
        let added = StreamsChanged::Added { outbound_streams: 4, inbound_streams: 6 };
        assert_eq!(streams(added).as_deref(), Some("there are 4 streams out and 6 in"));
        let address = [192, 0, 2, 1].into();
        let added = Event::Addresses(AddressEvent::PeerAdded(address));
        assert_eq!(news_of(&added).as_deref(), Some("192.0.2.1 has been added"));
        let reported =
            Event::PeerReported(vec![Cause::InvalidStreamIdentifier(StreamId(9)), Cause::OutOfResource]);
        let text = "the peer reports: there is no stream 9, it is out of resources";
        assert_eq!(news_of(&reported).as_deref(), Some(text));
        let wrong = Event::Authentication(AuthenticationEvent::Failed(WrongKey::Unknown(4)));
        let text = "what the peer authenticates is dropped: there is no key 4 here: give both ends the same";
        assert_eq!(news_of(&wrong).as_deref(), Some(text));
        assert_eq!(news_of(&Event::ShutdownReceived), None);
    }
}
