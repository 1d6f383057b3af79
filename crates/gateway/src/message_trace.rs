//! A trace of users' messages through the seat: those of a title or of a point, as they come, and what becomes of each.
//!
//! Messages are seen at associations, as they are for [`delays`](crate::delays), so that tracing changes nothing in the
//! layers. One that leaves is known again by its data ([`UserMessage::known_by`]), also behind a translation.

use std::collections::{BTreeMap, VecDeque};

use slantpath_applications::ProgramMessage;
use slantpath_base::Instant;
use slantpath_control::{ControlEvent, TracedMessage};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::gtt::DigitPattern;
use slantpath_ss7::sccp::{AddressFormat, MessageView, PartyAddress};
use slantpath_ss7::{PointCode, PointCodeFormat};

use crate::titles::words_of;
use crate::user_message::UserMessage;

/// Messages that went no further, by the reason.
pub(crate) type Discards = Vec<(String, u64)>;

/// Request to trace messages.
#[derive(Clone, Debug)]
pub(crate) struct TraceRequest {
    /// Digits of the called or the calling party.
    pub(crate) title: Option<DigitPattern>,
    /// Point that a message comes from, or is for.
    pub(crate) point: Option<PointCode>,
    /// Number of messages after which the trace ends.
    pub(crate) messages: usize,
}

/// Names of what a message is told with.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceNames {
    /// Name of each association.
    pub(crate) associations: Vec<String>,
    /// Name of each point.
    pub(crate) points: BTreeMap<PointCode, String>,
}

/// A trace at work.
#[derive(Debug)]
pub(crate) struct MessageTrace {
    request: TraceRequest,
    format: PointCodeFormat,
    names: TraceNames,
    /// Messages that may still be traced.
    remaining: usize,
    /// Messages that have come and have not left, by what each is known by.
    inside: BTreeMap<u64, (Instant, TracedMessage)>,
    /// Messages among these that have come since the last [`settle`](Self::settle).
    fresh: Vec<u64>,
    told: VecDeque<ControlEvent>,
}

impl MessageTrace {
    pub(crate) fn new(request: TraceRequest, format: PointCodeFormat, names: TraceNames) -> Self {
        let (inside, fresh, told) = (BTreeMap::new(), Vec::new(), VecDeque::new());
        Self { remaining: request.messages, request, format, names, inside, fresh, told }
    }

    /// Goes on with other names, as a reload brings them.
    pub(crate) fn rename(&mut self, names: TraceNames) {
        self.names = names;
    }

    /// Takes the next thing to tell, oldest first.
    pub(crate) fn poll(&mut self) -> Option<ControlEvent> {
        self.told.pop_front()
    }

    /// Tells if it follows no message any more.
    pub(crate) const fn is_over(&self) -> bool {
        self.remaining == 0
    }

    /// A message has come by an association. True if it is traced.
    pub(crate) fn arrived(&mut self, now: Instant, association: usize, message: &ProgramMessage) -> bool {
        let Some(message) = self.read(message) else { return false };
        let Some(traced) = self.traced(now, "arrived", association, &message) else { return false };
        self.told.push_back(ControlEvent::Message(traced.clone()));
        let known_by = message.known_by();
        self.inside.insert(known_by, (now, traced));
        self.fresh.push(known_by);
        true
    }

    /// A message has been handed over to the SCTP of an association. It has come by another one, or is one of the
    /// seat's own.
    pub(crate) fn left(&mut self, now: Instant, association: usize, message: &ProgramMessage) {
        if self.inside.is_empty() && self.remaining == 0 {
            return;
        }
        let Some(message) = self.read(message) else { return };
        let told = match self.inside.remove(&message.known_by()) {
            Some((came, _)) => {
                let after = now.saturating_since(came).as_secs_f64();
                let described = self.described(now, "left", association, &message);
                Some(TracedMessage { after_s: Some(after), ..described })
            }
            None => self.traced(now, "left", association, &message),
        };
        self.told.extend(told.map(ControlEvent::Message));
    }

    /// A message has come to a user part or a subsystem here.
    pub(crate) fn delivered(&mut self, now: Instant, known_by: u64) {
        self.end(now, known_by, "delivered", None);
    }

    /// All is done that was due since messages came. So many messages were thrown away meanwhile, for these reasons, of
    /// which some may be others: messages that have neither left nor been delivered are counted among them, if they can
    /// be. The rest waits, or was answered.
    pub(crate) fn settle(&mut self, now: Instant, discarded: u64, reasons: &str) {
        let fresh = std::mem::take(&mut self.fresh);
        let left: Vec<u64> =
            fresh.into_iter().filter(|known_by| self.inside.contains_key(known_by)).collect();
        if left.len() as u64 <= discarded {
            for known_by in left {
                self.end(now, known_by, "discarded", Some(reasons.to_owned()));
            }
        }
    }

    fn end(&mut self, now: Instant, known_by: u64, event: &'static str, reason: Option<String>) {
        let Some((came, message)) = self.inside.remove(&known_by) else { return };
        let (at_s, after_s) = (now.since_start().as_secs_f64(), now.saturating_since(came).as_secs_f64());
        let message = TracedMessage { at_s, event, after_s: Some(after_s), reason, ..message };
        self.told.push_back(ControlEvent::Message(message));
    }

    fn read(&self, message: &ProgramMessage) -> Option<UserMessage> {
        UserMessage::read(self.format, message.payload_protocol, &message.payload)
    }

    /// Describes a message that the request fits, as one of the number that it asks for.
    fn traced(
        &mut self,
        now: Instant,
        event: &'static str,
        association: usize,
        message: &UserMessage,
    ) -> Option<TracedMessage> {
        if self.remaining == 0 || !self.fits(message) {
            return None;
        }
        self.remaining -= 1;
        Some(self.described(now, event, association, message))
    }

    fn fits(&self, message: &UserMessage) -> bool {
        let TraceRequest { title, point, .. } = &self.request;
        let has_point = point.is_none_or(|code| code == message.opc || code == message.dpc);
        has_point
            && title.as_ref().is_none_or(|pattern| {
                let fits = |party: Option<PartyAddress>| {
                    let title = party.and_then(|party| party.global_title).filter(|title| !title.is_opaque());
                    title.is_some_and(|title| pattern.matches(title.digits().values()))
                };
                let (called, calling) = self.parties(message);
                fits(called) || fits(calling)
            })
    }

    /// Called and calling party of a message of SCCP.
    fn parties(&self, message: &UserMessage) -> (Option<PartyAddress>, Option<PartyAddress>) {
        if message.user != ServiceIndicator::SCCP {
            return (None, None);
        }
        let addresses = match self.format {
            PointCodeFormat::Ansi => AddressFormat::Ansi,
            _ => AddressFormat::Itu,
        };
        let view = MessageView::new(addresses, &message.user_part);
        (view.called(), view.calling())
    }

    fn described(
        &self,
        now: Instant,
        event: &'static str,
        association: usize,
        message: &UserMessage,
    ) -> TracedMessage {
        let point = |code: PointCode| {
            let name = self.names.points.get(&code);
            name.cloned().unwrap_or_else(|| code.display(self.format).to_string())
        };
        let user = message.user;
        let (called, calling) = self.parties(message);
        TracedMessage {
            at_s: now.since_start().as_secs_f64(),
            event,
            association: self.names.associations.get(association).cloned().unwrap_or_default(),
            from: point(message.opc),
            to: point(message.dpc),
            service: user.name().map_or_else(|| format!("service {}", user.value()), str::to_owned),
            called: called.as_ref().map(in_words),
            calling: calling.as_ref().map(in_words),
            octets: message.user_part.len(),
            after_s: None,
            reason: None,
        }
    }
}

/// An address as a line has it: its title with all of its attributes, or the subsystem alone.
fn in_words(party: &PartyAddress) -> String {
    match (&party.global_title, party.ssn) {
        (Some(_), _) => words_of(party),
        (None, Some(ssn)) => format!("subsystem {}", ssn.0),
        (None, None) => "no subsystem".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// UDT of class 0: called by a title of GTI 4 and subsystem 6, calling by subsystem 8 alone.
    fn udt(digits: &[u8], data: &[u8]) -> Vec<u8> {
        let mut called = vec![0x12, 6, 0, 0x12, 4];
        called.extend_from_slice(digits);
        let calling = [0x42, 8];
        let mut octets = vec![0x09, 0, 3];
        octets.push(u8::try_from(3 + called.len()).unwrap());
        octets.push(u8::try_from(3 + called.len() + calling.len()).unwrap());
        for part in [&called[..], &calling, data] {
            octets.push(u8::try_from(part.len()).unwrap());
            octets.extend_from_slice(part);
        }
        octets
    }

    fn m3ua(user_part: &[u8]) -> ProgramMessage {
        let length = u16::try_from(4 + 12 + user_part.len()).unwrap();
        let padded = length.next_multiple_of(4);
        let mut octets = vec![1, 0, 1, 1];
        octets.extend_from_slice(&u32::from(8 + padded).to_be_bytes());
        octets.extend_from_slice(&[2, 0x10]);
        octets.extend_from_slice(&length.to_be_bytes());
        octets.extend_from_slice(&[0, 0, 0, 9, 0, 0, 0, 8, 3, 2, 0, 5]);
        octets.extend_from_slice(user_part);
        octets.resize(8 + usize::from(padded), 0);
        ProgramMessage {
            stream: 0,
            payload_protocol: 3,
            is_unordered: false,
            payload: Bytes::from(octets),
            options: None,
            ip: None,
        }
    }

    fn trace(title: &str, messages: usize) -> MessageTrace {
        let title = Some(DigitPattern::parse(title).unwrap());
        let request = TraceRequest { title, point: None, messages };
        let names = TraceNames {
            associations: vec!["first".to_owned(), "second".to_owned()],
            points: BTreeMap::from([(PointCode(8), "rome".to_owned())]),
        };
        MessageTrace::new(request, PointCodeFormat::Itu, names)
    }

    fn messages(trace: &mut MessageTrace) -> Vec<TracedMessage> {
        let taken = std::iter::from_fn(|| trace.poll());
        taken
            .map(|event| match event {
                ControlEvent::Message(message) => message,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn a_title_is_traced_before_and_behind_its_translation() {
        let mut trace = trace("49*", 5);
        let at = Instant::from_millis;
        // 49123, and behind the translation 7, of which the request says nothing.
        assert!(trace.arrived(at(1), 0, &m3ua(&udt(&[0x94, 0x21, 0x03], b"data"))));
        assert!(!trace.arrived(at(1), 0, &m3ua(&udt(&[0x33], b"other"))));
        trace.left(at(3), 1, &m3ua(&udt(&[0x07], b"data")));
        trace.left(at(3), 1, &m3ua(&udt(&[0x33], b"other")));
        let told = messages(&mut trace);
        let [came, left] = &told[..] else { panic!("{told:#?}") };
        assert_eq!((came.event, came.association.as_str(), came.at_s), ("arrived", "first", 0.001));
        assert_eq!((left.event, left.association.as_str(), left.at_s), ("left", "second", 0.003));
        assert_eq!((came.from.as_str(), came.to.as_str()), ("0-1-1", "rome"));
        assert_eq!((came.after_s, left.after_s), (None, Some(0.002)));
        assert!(came.called.as_ref().unwrap().starts_with("49123"), "{came:?}");
        assert_eq!(came.calling.as_deref(), Some("subsystem 8"));
        assert_ne!(came.called, left.called);
    }

    #[test]
    fn a_trace_has_as_many_messages_as_it_was_asked_for_and_follows_these_to_their_ends() {
        let mut trace = trace("4*", 2);
        let came =
            [b"one", b"two", b"six"].map(|data| trace.arrived(Instant::START, 0, &m3ua(&udt(&[0x44], data))));
        assert_eq!((came, trace.is_over()), ([true, true, false], true));
        trace.delivered(Instant::START, crate::user_message::hash_of(b"two"));
        trace.settle(Instant::START, 0, "");
        trace.left(Instant::START, 1, &m3ua(&udt(&[0x44], b"six")));
        trace.left(Instant::START, 1, &m3ua(&udt(&[0x44], b"one")));
        let told = messages(&mut trace);
        let events: Vec<_> = told.iter().map(|message| message.event).collect();
        assert_eq!(events, ["arrived", "arrived", "delivered", "left"]);
    }

    /// With fewer that were thrown away than messages that are left, it is not known which it was.
    #[test]
    fn a_message_is_discarded_if_all_that_are_left_may_be() {
        let mut trace = trace("4*", 9);
        let come = |trace: &mut MessageTrace, data: [&[u8]; 2]| {
            for data in data {
                assert!(trace.arrived(Instant::START, 0, &m3ua(&udt(&[0x44], data))));
            }
            messages(trace);
        };
        come(&mut trace, [b"a", b"b"]);
        trace.settle(Instant::from_millis(1), 1, "mtp3 no-route");
        assert_eq!(messages(&mut trace), []);
        come(&mut trace, [b"c", b"d"]);
        trace.delivered(Instant::from_millis(1), crate::user_message::hash_of(b"c"));
        trace.settle(Instant::from_millis(1), 1, "mtp3 no-route");
        let told = messages(&mut trace);
        let events: Vec<_> = told.iter().map(|own| (own.event, own.reason.as_deref(), own.after_s)).collect();
        assert_eq!(
            events,
            [("delivered", None, Some(0.001)), ("discarded", Some("mtp3 no-route"), Some(0.001))]
        );
        // One of the first two that leaves later is known still.
        trace.left(Instant::from_millis(9), 1, &m3ua(&udt(&[0x44], b"a")));
        assert_eq!(messages(&mut trace)[0].after_s, Some(0.009));
    }

    #[test]
    fn the_calling_party_is_traced_as_well_and_other_messages_are_not() {
        let mut of_any = trace("*", 9);
        assert!(!of_any.arrived(Instant::START, 0, &m3ua(&[0x0a])));
        // A called party by subsystem, a calling one by title.
        let octets = [0x09, 0, 3, 5, 11, 2, 0x42, 6, 6, 0x12, 8, 0, 0x12, 4, 0x21, 1, 7];
        assert!(of_any.arrived(Instant::START, 0, &m3ua(&octets)));
        assert!(trace("12", 1).arrived(Instant::START, 0, &m3ua(&octets)));
        assert!(!trace("13", 1).arrived(Instant::START, 0, &m3ua(&octets)));
    }
}
