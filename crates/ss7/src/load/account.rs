//! Account of every generated message and of what became of it.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use slantpath_base::{Duration, Instant};

use super::generator::Message;
use super::runs::Runs;
use super::stamp::{LinkNumber, LoadStamp};
use crate::PointCode;
use crate::mtp3::Sls;
use crate::transfer::{Transfer, TransferIndication};

/// Longer delays are kept as this one: a good two and a half hours.
const LONGEST_DELAY_NS: u64 = 10_000_000_000_000;

/// Kinds of arrivals, judged against the messages that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In its turn.
    InSequence {
        /// Link that the message was generated for.
        link: LinkNumber,
        /// Time that the message took from its sending to its arrival.
        delay: Duration,
    },
    /// After a message that was sent later for the same link with the same selection to the same destination.
    OutOfSequence {
        /// Link that the message was generated for.
        link: LinkNumber,
        /// Time that the message took from its sending to its arrival.
        delay: Duration,
    },
    /// First arrival of a message that had been given up: late, not lost.
    Late {
        /// Link that the message was generated for.
        link: LinkNumber,
    },
    /// Further arrival of a message that was delivered, or refused, before.
    Repeated {
        /// Link that the message was generated for.
        link: LinkNumber,
    },
    /// Nothing that this account has sent.
    Unknown,
}

/// One link's messages.
#[derive(Clone, Debug, Default)]
struct LinkAccount {
    sent: u64,
    /// Times and signalling link selections of messages that have not arrived, by their numbers.
    outstanding: BTreeMap<u64, (Instant, Sls)>,
    /// Numbers of messages that were given up and have not arrived since.
    given_up: Runs,
    /// The greatest number that has arrived, by the called destination, the selection, and whether it came as unitdata:
    /// others may overtake.
    greatest: BTreeMap<(PointCode, u8, bool), u64>,
}

/// The account of a generator's messages.
#[derive(Clone, Debug)]
pub struct Account {
    give_up_after: Duration,
    links: Vec<LinkAccount>,
    delays: Histogram<u64>,
    delivered: u64,
    late: u64,
    lost: u64,
    repeated: u64,
    out_of_sequence: u64,
    unknown: u64,
    refused: u64,
    /// Since when each destination has been unreachable, of those that are.
    paused: BTreeMap<PointCode, Instant>,
    unavailable: Duration,
}

/// The sum of an account.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Messages generated.
    pub sent: u64,
    /// Of those, arrived before they were given up. Delays are theirs.
    pub delivered: u64,
    /// Of those, arrived after they were given up.
    pub late: u64,
    /// Of those, given up and never arrived.
    pub lost: u64,
    /// Of those, refused by the layer below with a reason of its own; counted as lost, too.
    pub refused: u64,
    /// Of those, nothing of that yet.
    pub outstanding: u64,
    /// Arrivals beyond the first of a message.
    pub repeated: u64,
    /// First arrivals, late ones too, after a message that was sent later.
    pub out_of_sequence: u64,
    /// Arrivals of messages that were never sent.
    pub unknown: u64,
    /// Time in which a destination was said to be unreachable, summed over destinations.
    pub unavailable: Duration,
    /// From the first instant of the account to the report.
    pub span: Duration,
    /// Least delay; `None` without deliveries, as all of them.
    pub delay_min: Option<Duration>,
    /// Mean delay of the deliveries.
    pub delay_mean: Option<Duration>,
    /// Half of the deliveries took no longer.
    pub delay_p50: Option<Duration>,
    /// 95 % of the deliveries took no longer.
    pub delay_p95: Option<Duration>,
    /// 99 % of the deliveries took no longer.
    pub delay_p99: Option<Duration>,
    /// Greatest delay of the deliveries.
    pub delay_max: Option<Duration>,
}

impl Account {
    /// An account that gives a message up as lost after a time. Delays are kept to three digits.
    pub fn new(give_up_after: Duration) -> Self {
        Self {
            give_up_after,
            links: Vec::new(),
            delays: Histogram::new_with_bounds(1, LONGEST_DELAY_NS, 3).expect("the bounds are legal"),
            delivered: 0,
            late: 0,
            lost: 0,
            repeated: 0,
            out_of_sequence: 0,
            unknown: 0,
            refused: 0,
            paused: BTreeMap::new(),
            unavailable: Duration::ZERO,
        }
    }

    /// A message goes out.
    pub fn sent(&mut self, now: Instant, message: &Message) {
        let index = usize::from(message.link.0);
        if self.links.len() <= index {
            self.links.resize_with(index + 1, LinkAccount::default);
        }
        let link = &mut self.links[index];
        link.sent = message.number + 1;
        link.outstanding.insert(message.number, (now, message.transfer.label.sls));
        self.give_up(now, index);
    }

    /// A message that has not arrived went out at another instant than [`sent`](Self::sent) was told.
    pub fn sent_at(&mut self, link: LinkNumber, number: u64, at: Instant) {
        let account = self.links.get_mut(usize::from(link.0));
        if let Some((sent, _)) = account.and_then(|account| account.outstanding.get_mut(&number)) {
            *sent = at;
        }
    }

    /// A message was not taken by the layer below.
    pub fn refused(&mut self, message: &Message) {
        let link = self.links.get_mut(usize::from(message.link.0));
        if link.and_then(|link| link.outstanding.remove(&message.number)).is_some() {
            self.refused += 1;
            self.lost += 1;
        }
    }

    /// Reads what the message transfer part tells the receiving end.
    pub fn handle(&mut self, now: Instant, indication: &TransferIndication) -> Option<Delivery> {
        match indication {
            TransferIndication::Transfer(transfer) => return Some(self.arrived(now, transfer)),
            TransferIndication::Pause(destination) => {
                self.paused.entry(*destination).or_insert(now);
            }
            TransferIndication::Resume(destination) => {
                if let Some(since) = self.paused.remove(destination) {
                    self.unavailable += now - since;
                }
            }
            TransferIndication::Status { .. } => {}
        }
        None
    }

    /// Reads a message that has arrived.
    pub fn arrived(&mut self, now: Instant, transfer: &Transfer) -> Delivery {
        self.settle(now, transfer.label.dpc, Some(transfer.label.sls), LoadStamp::of_transfer(transfer))
    }

    /// Reads the data of a unitdata that SCCP has given to its user at `destination`.
    pub fn arrived_unitdata(&mut self, now: Instant, destination: PointCode, data: &[u8]) -> Delivery {
        self.settle(now, destination, None, LoadStamp::of_unitdata(data))
    }

    fn settle(
        &mut self,
        now: Instant,
        destination: PointCode,
        label: Option<Sls>,
        stamp: Option<LoadStamp>,
    ) -> Delivery {
        let Some(stamp) = stamp else {
            self.unknown += 1;
            return Delivery::Unknown;
        };
        let link = stamp.link;
        let index = usize::from(link.0);
        let known =
            self.links.get_mut(index).and_then(|account| Some((stamp.number_below(account.sent)?, account)));
        let Some((number, account)) = known else {
            self.unknown += 1;
            return Delivery::Unknown;
        };
        let sent = account.outstanding.remove(&number);
        if sent.is_none() && !account.given_up.remove(number) {
            self.repeated += 1;
            return Delivery::Repeated { link };
        }
        // One that was given up has its label, or the selection of its link.
        let sls = sent.map(|(_, sls)| sls).or(label).unwrap_or(Sls(link.0 % 16));
        let greatest = account.greatest.entry((destination, sls.0, label.is_none())).or_insert(number);
        let is_overtaken = number < *greatest;
        *greatest = number.max(*greatest);
        self.out_of_sequence += u64::from(is_overtaken);
        let Some((sent, _)) = sent else {
            self.lost -= 1;
            self.late += 1;
            return Delivery::Late { link };
        };
        let delay = now - sent;
        self.delivered += 1;
        self.delays.saturating_record(delay.as_nanos());
        self.give_up(now, index);
        if is_overtaken {
            Delivery::OutOfSequence { link, delay }
        } else {
            Delivery::InSequence { link, delay }
        }
    }

    /// Counts as lost what a link has waited for too long.
    fn give_up(&mut self, now: Instant, index: usize) {
        let LinkAccount { outstanding, given_up, .. } = &mut self.links[index];
        // Of another program's messages it is known late when they were sent.
        let has_waited = |sent: Instant| now.saturating_since(sent) > self.give_up_after;
        while let Some(first) = outstanding.first_entry().filter(|first| has_waited(first.get().0)) {
            given_up.insert(*first.key());
            first.remove();
            self.lost += 1;
        }
    }

    /// The sum at `now`, of an account that began at `begin`.
    pub fn report(&mut self, begin: Instant, now: Instant) -> Report {
        for index in 0..self.links.len() {
            self.give_up(now, index);
        }
        let still_paused: Duration =
            self.paused.values().fold(Duration::ZERO, |sum, since| sum + (now - *since));
        let delay = |nanos: u64| (!self.delays.is_empty()).then(|| Duration::from_nanos(nanos));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a mean of durations is one"
        )]
        let mean = self.delays.mean() as u64;
        Report {
            sent: self.links.iter().map(|link| link.sent).sum(),
            delivered: self.delivered,
            late: self.late,
            lost: self.lost,
            refused: self.refused,
            outstanding: self.links.iter().map(|link| link.outstanding.len() as u64).sum(),
            repeated: self.repeated,
            out_of_sequence: self.out_of_sequence,
            unknown: self.unknown,
            unavailable: self.unavailable + still_paused,
            span: now - begin,
            delay_min: delay(self.delays.min()),
            delay_mean: delay(mean),
            delay_p50: delay(self.delays.value_at_quantile(0.5)),
            delay_p95: delay(self.delays.value_at_quantile(0.95)),
            delay_p99: delay(self.delays.value_at_quantile(0.99)),
            delay_max: delay(self.delays.max()),
        }
    }
}

impl LinkNumber {
    /// The generator's link that a message was made for, as its stamp says.
    pub fn of_transfer(transfer: &Transfer) -> Option<Self> {
        LoadStamp::of_transfer(transfer).map(|stamp| stamp.link)
    }

    /// Variant of [`LinkNumber::of_transfer`] for the data of a unitdata.
    pub fn of_unitdata(data: &[u8]) -> Option<Self> {
        LoadStamp::of_unitdata(data).map(|stamp| stamp.link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::generator::tests::config;
    use crate::load::{Generator, GeneratorConfig};
    use slantpath_base::Seed;

    const MS: Duration = Duration::from_millis(1);

    fn messages(count: usize) -> Vec<Message> {
        let mut generator =
            Generator::new(GeneratorConfig { links: 1, ..config() }, Seed::new(1, 0), "load").expect("sound");
        (0..count).map(|_| generator.poll(Instant::from_millis(90_000)).expect("there are more")).collect()
    }

    fn sent(count: usize) -> (Account, Vec<Message>) {
        let mut account = Account::new(Duration::from_secs(10));
        let messages = messages(count);
        for message in &messages {
            account.sent(Instant::START, message);
        }
        (account, messages)
    }

    #[test]
    fn every_message_is_delivered_lost_or_outstanding() {
        let (mut account, messages) = sent(4);
        let now = Instant::START + MS;
        let link = LinkNumber(0);
        let arrive = |account: &mut Account, index: usize| account.arrived(now, &messages[index].transfer);
        assert_eq!(arrive(&mut account, 0), Delivery::InSequence { link, delay: MS });
        assert_eq!(arrive(&mut account, 2), Delivery::InSequence { link, delay: MS });
        assert_eq!(arrive(&mut account, 1), Delivery::OutOfSequence { link, delay: MS });
        assert_eq!(arrive(&mut account, 1), Delivery::Repeated { link });
        let report = account.report(Instant::START, now);
        assert_eq!((report.sent, report.delivered, report.outstanding, report.lost), (4, 3, 1, 0));
        let later = account.report(Instant::START, Instant::START + Duration::from_secs(11));
        assert_eq!((later.delivered, later.outstanding, later.lost), (3, 0, 1));
    }

    #[test]
    fn what_comes_after_it_was_given_up_is_late_and_neither_lost_nor_repeated() {
        let (mut account, messages) = sent(4);
        let at = |ms| Instant::START + MS * ms;
        let link = LinkNumber(0);
        assert_eq!(account.arrived(at(1), &messages[0].transfer), Delivery::InSequence { link, delay: MS });
        let report = account.report(Instant::START, at(11_000));
        assert_eq!((report.delivered, report.late, report.lost, report.outstanding), (1, 0, 3, 0));
        for number in [1, 3] {
            assert_eq!(account.arrived(at(12_000), &messages[number].transfer), Delivery::Late { link });
        }
        let report = account.report(Instant::START, at(12_000));
        assert_eq!((report.delivered, report.late, report.lost, report.outstanding), (1, 2, 1, 0));
        assert_eq!((report.repeated, report.out_of_sequence), (0, 0));
        // Its delay is beyond what was waited for: the others' stay as they are.
        assert!(report.delay_max < Some(MS * 2), "{report:?}");
        let [loss, sequence, _] = report.compare();
        assert_eq!((loss.measured, sequence.measured), (0.25, 0.0));
        // Behind one that was sent later it is out of sequence all the same, and again it is repeated.
        assert_eq!(account.arrived(at(13_000), &messages[2].transfer), Delivery::Late { link });
        assert_eq!(account.arrived(at(13_000), &messages[2].transfer), Delivery::Repeated { link });
        let report = account.report(Instant::START, at(13_000));
        assert_eq!((report.late, report.lost, report.repeated, report.out_of_sequence), (3, 0, 1, 1));
    }

    #[test]
    fn messages_by_global_title_may_be_overtaken_by_those_by_point_code() {
        let (mut account, messages) = sent(4);
        let now = Instant::START + MS;
        let link = LinkNumber(0);
        let by_code = |account: &mut Account, index: usize| account.arrived(now, &messages[index].transfer);
        let by_title = |account: &mut Account, index: usize| {
            account.arrived_unitdata(now, PointCode(2), &messages[index].transfer.user_data)
        };
        assert_eq!(by_code(&mut account, 3), Delivery::InSequence { link, delay: MS });
        assert_eq!(by_title(&mut account, 1), Delivery::InSequence { link, delay: MS });
        assert_eq!(by_title(&mut account, 0), Delivery::OutOfSequence { link, delay: MS });
        assert_eq!(by_code(&mut account, 2), Delivery::OutOfSequence { link, delay: MS });
    }

    #[test]
    fn what_was_refused_cannot_be_late() {
        let (mut account, messages) = sent(1);
        account.refused(&messages[0]);
        assert_eq!(
            account.arrived(Instant::START, &messages[0].transfer),
            Delivery::Repeated { link: LinkNumber(0) }
        );
        let report = account.report(Instant::START, Instant::START);
        assert_eq!((report.lost, report.refused, report.late), (1, 1, 0));
    }

    #[test]
    fn what_was_never_sent_is_unknown() {
        let (mut account, _) = sent(2);
        let unknown = messages(5).pop().expect("five");
        assert_eq!(account.arrived(Instant::START, &unknown.transfer), Delivery::Unknown);
    }

    #[test]
    fn unreachable_time_is_summed_to_the_report() {
        let (mut account, _) = sent(1);
        let at = |ms| Instant::from_millis(ms);
        account.handle(at(10), &TransferIndication::Pause(PointCode(2)));
        account.handle(at(15), &TransferIndication::Pause(PointCode(2)));
        account.handle(at(30), &TransferIndication::Resume(PointCode(2)));
        account.handle(at(50), &TransferIndication::Pause(PointCode(2)));
        assert_eq!(account.report(at(0), at(60)).unavailable, Duration::from_millis(30));
    }

    #[test]
    fn quantiles_are_those_of_the_delays() {
        let (mut account, messages) = sent(100);
        for (index, message) in messages.iter().enumerate() {
            account.arrived(Instant::from_millis(index as u64 + 1), &message.transfer);
        }
        let report = account.report(Instant::START, Instant::from_millis(200));
        let near =
            |value: Option<Duration>, ms: f64| (value.expect("deliveries").as_millis_f64() - ms).abs() < 0.2;
        assert!(near(report.delay_p50, 50.0) && near(report.delay_p99, 99.0), "{report:?}");
        assert!(
            near(report.delay_min, 1.0) && near(report.delay_max, 100.0) && near(report.delay_mean, 50.5)
        );
    }
}
