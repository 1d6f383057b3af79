//! Addressing of generated messages: by destination point code, by global title, or a share of them by either.

use super::stamp::{self, LinkNumber, STAMP_LEN};
use crate::PointCode;
use crate::mtp2::octets_on_line;
use crate::mtp3::ServiceIndicator;
use crate::sccp::{Message, PartyAddress, ProtocolClass};

/// Octets of a label of ITU-T networks, and of the service information octet before it.
const SERVICE_AND_LABEL: usize = 5;

/// The longest unit that level 2 takes: 272 octets of signalling information.
const LONGEST: usize = octets_on_line(273);

/// The data of a UDT: its length is an octet.
const LONGEST_UNITDATA: usize = 255;

/// The pattern that fills messages behind the stamp.
static FILL: [u8; LONGEST] = [stamp::FILL; LONGEST];

/// By global title: unitdata of class 1 to the node that translates.
#[derive(Clone, Debug, PartialEq)]
pub struct ByTitle {
    /// The point code of the translating node.
    pub translator: PointCode,
    /// Called parties, in turn.
    pub called: Vec<PartyAddress>,
    /// The calling party of all.
    pub calling: PartyAddress,
}

/// By destination point code. The user part's octets are a stamp and a pattern, no real messages of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct ByCode {
    /// Destinations, in turn.
    pub destinations: Vec<PointCode>,
    /// The service indicator that the messages carry.
    pub service: ServiceIndicator,
}

/// Ways of addressing generated messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Routing {
    /// All by global title.
    GlobalTitle(ByTitle),
    /// All by destination point code.
    PointCode(ByCode),
    /// Of every link's messages a share by global title, as evenly among the others as whole numbers allow.
    Shared {
        /// The share by global title, above 0 and below 1.
        title_share: f64,
        /// Addresses of the messages that go by global title.
        title: ByTitle,
        /// Destinations of the other messages, which go by point code.
        code: ByCode,
    },
}

/// One of both ways, and the number that a message has among its link's messages of that way.
enum Way<'a> {
    Title(&'a ByTitle, u64),
    Code(&'a ByCode, u64),
}

impl Routing {
    /// The part by global title, with its share of the messages.
    pub const fn title(&self) -> Option<(&ByTitle, f64)> {
        match self {
            Self::GlobalTitle(title) => Some((title, 1.0)),
            Self::PointCode(_) => None,
            Self::Shared { title_share, title, .. } => Some((title, *title_share)),
        }
    }

    /// The part by destination point code, with its share of the messages.
    pub const fn code(&self) -> Option<(&ByCode, f64)> {
        match self {
            Self::GlobalTitle(_) => None,
            Self::PointCode(code) => Some((code, 1.0)),
            Self::Shared { title_share, code, .. } => Some((code, 1.0 - *title_share)),
        }
    }

    /// The shortest and the longest message in octets on the line; `None` where a part has no destination.
    pub fn lengths(&self) -> Option<(usize, usize)> {
        if self.code().is_some_and(|(code, _)| code.destinations.is_empty()) {
            return None;
        }
        let head = octets_on_line(SERVICE_AND_LABEL);
        let Some((title, _)) = self.title() else { return Some((head + STAMP_LEN, LONGEST)) };
        let overheads = || title.called.iter().map(|called| title.overhead(called));
        let most = head + overheads().min()? + LONGEST_UNITDATA;
        Some((head + overheads().max()? + STAMP_LEN, most.min(LONGEST)))
    }

    /// Gives a message's destination, its service and its user part, for so many octets on the line; `number` counts
    /// the messages of its link. Where it says the sender's clock, the stamp does so as far as there is room.
    pub(super) fn compose(
        &self,
        stamped: LinkNumber,
        number: u64,
        octets: usize,
        clock: Option<u64>,
    ) -> (PointCode, ServiceIndicator, Vec<u8>) {
        let user_octets = octets - octets_on_line(SERVICE_AND_LABEL);
        let mut user_data = Vec::with_capacity(user_octets);
        match self.way(number) {
            Way::Code(code, turn) => {
                stamp::emit(stamped, number, clock, user_octets, &mut user_data);
                user_data.extend_from_slice(&FILL[..user_octets - user_data.len()]);
                (*in_turn(&code.destinations, turn), code.service, user_data)
            }
            Way::Title(title, turn) => {
                let called = in_turn(&title.called, turn);
                let (mut data, room) = (Vec::new(), user_octets - title.overhead(called));
                stamp::emit(stamped, number, clock, room, &mut data);
                data.extend_from_slice(&FILL[..room - data.len()]);
                let class = ProtocolClass { class: 1, handling: 0 };
                let (called, calling) = (called.clone(), title.calling.clone());
                let unitdata = Message::Udt { class, called, calling, data };
                unitdata.emit(&mut user_data).expect("the length was checked");
                (title.translator, ServiceIndicator::SCCP, user_data)
            }
        }
    }

    /// By which way a link's message goes. Of the first n messages the whole part of n times the share has gone by
    /// title.
    fn way(&self, number: u64) -> Way<'_> {
        match self {
            Self::GlobalTitle(title) => Way::Title(title, number),
            Self::PointCode(code) => Way::Code(code, number),
            Self::Shared { title_share, title, code } => {
                // In whole numbers: 29 % of a hundred are 29, and in doubles less.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is below 1")]
                let billionths = (title_share * 1e9).round() as u128;
                let titles = |messages: u64| {
                    u64::try_from(u128::from(messages) * billionths / 1_000_000_000)
                        .expect("a share is smaller")
                };
                let before = titles(number);
                if titles(number + 1) > before {
                    Way::Title(title, before)
                } else {
                    Way::Code(code, number - before)
                }
            }
        }
    }
}

impl ByTitle {
    /// Octets of a UDT around its data: type, class, three pointers, three lengths, two addresses.
    fn overhead(&self, called: &PartyAddress) -> usize {
        let mut addresses = Vec::new();
        called.emit(&mut addresses);
        self.calling.emit(&mut addresses);
        8 + addresses.len()
    }
}

fn in_turn<T>(all: &[T], turn: u64) -> &T {
    &all[usize::try_from(turn % all.len() as u64).expect("an index")]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sccp::Ssn;

    fn shared(title_share: f64) -> Routing {
        let party = |ssn| PartyAddress { ssn: Some(Ssn(ssn)), ..PartyAddress::default() };
        Routing::Shared {
            title_share,
            title: ByTitle { translator: PointCode(9), called: vec![party(6), party(7)], calling: party(8) },
            code: ByCode { destinations: [1, 2, 3].map(PointCode).to_vec(), service: ServiceIndicator::ISUP },
        }
    }

    fn leads_to(routing: &Routing, number: u64) -> (u32, u8) {
        match routing.way(number) {
            Way::Title(title, turn) => (9, in_turn(&title.called, turn).ssn.expect("one").0),
            Way::Code(code, turn) => (in_turn(&code.destinations, turn).0, 0),
        }
    }

    #[test]
    fn a_quarter_by_title_is_every_fourth_and_each_part_has_turns_of_its_own() {
        let routing = shared(0.25);
        let seen: Vec<(u32, u8)> = (0..12).map(|number| leads_to(&routing, number)).collect();
        let [one, two, three] = [(1, 0), (2, 0), (3, 0)];
        assert_eq!(seen, [one, two, three, (9, 6), one, two, three, (9, 7), one, two, three, (9, 6)]);
    }

    #[test]
    fn hundredths_of_a_hundred_messages_are_as_many() {
        for hundredths in 1..100_u8 {
            let routing = shared(f64::from(hundredths) / 100.0);
            let titles = (0..100).filter(|number| leads_to(&routing, *number).0 == 9).count();
            assert_eq!(titles, usize::from(hundredths));
        }
    }

    #[test]
    fn a_message_has_the_octets_that_were_asked_for_either_way() {
        let routing = shared(0.5);
        let (least, most) = routing.lengths().expect("it has destinations");
        // Two addresses of two octets and eight of a UDT around the stamp, or around 255.
        assert_eq!((least, most), (octets_on_line(5) + 8 + 2 * 2 + 4, octets_on_line(5) + 8 + 2 * 2 + 255));
        for octets in [least, most] {
            let (to, service, by_code) = routing.compose(LinkNumber(3), 0, octets, None);
            assert_eq!((to, service), (PointCode(1), ServiceIndicator::ISUP));
            let (to, service, by_title) = routing.compose(LinkNumber(3), 1, octets, None);
            assert_eq!((to, service), (PointCode(9), ServiceIndicator::SCCP));
            assert_eq!([by_code.len(), by_title.len()], [octets - octets_on_line(5); 2]);
            let Ok(Message::Udt { data, .. }) = Message::parse(&by_title) else { panic!("unitdata") };
            assert_eq!(LinkNumber::of_unitdata(&data), Some(LinkNumber(3)));
        }
    }

    #[test]
    fn a_part_without_destinations_leads_nowhere() {
        let Routing::Shared { title, code, .. } = shared(0.5) else { unreachable!("it is shared") };
        let none = ByTitle { called: Vec::new(), ..title.clone() };
        assert_eq!(Routing::Shared { title_share: 0.5, title: none, code: code.clone() }.lengths(), None);
        let none = ByCode { destinations: Vec::new(), ..code };
        assert_eq!(Routing::Shared { title_share: 0.5, title, code: none }.lengths(), None);
    }

    proptest! {
        #[test]
        fn the_share_of_any_number_of_messages_is_within_one(share in 0.001..0.999_f64, messages in 1_u64..5_000) {
            let routing = shared(share);
            let titles = (0..messages).filter(|number| leads_to(&routing, *number).0 == 9).count() as f64;
            prop_assert!((titles - messages as f64 * share).abs() < 1.0 + 1e-9, "{titles} of {messages}");
        }
    }
}
