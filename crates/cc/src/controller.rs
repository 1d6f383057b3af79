//! A transport's choice of controller, told apart by an enum: no dynamic dispatch, but for one of a program's own. All
//! but the transport's own are allocated apart, so that a connection that uses none is no larger for them.
//!
//! Each is declared here once. Its name and words in files, the rules of its settings and the choice itself follow from
//! that, and from what it says of itself as a [`Selectable`].

use slantpath_base::{DataRate, Instant};

use crate::backlog::Backlog;
use crate::bbr::Bbr;
use crate::bbr3::Bbr3;
use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, Spacing, TimedOut};
use crate::cubic::Cubic;
use crate::delivery::LostSegment;
use crate::hybla::Hybla;
use crate::own::{OwnChoice, OwnControl};
use crate::pacer::Pacer;
use crate::terms::{Selectable, Terms};
use crate::westwood::Westwood;

/// Declares the controllers that either transport may have, each with its name in files and the words that explain it
/// there. The first token is a dollar sign, with which the macro that it defines has its own variables.
macro_rules! controllers {
    ($dollar:tt $( $(#[doc = $doc:literal])+ $Variant:ident = $name:literal, )+) => {
        /// The algorithm that governs a window.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Algorithm {
            $( $(#[doc = $doc])+ $Variant, )+
            /// One of the program's own, which is registered.
            Own(OwnChoice),
            /// The transport's own: RFC 5681 for TCP, RFC 9260, section 7.2, for SCTP.
            #[default]
            Standard,
        }

        impl Algorithm {
            /// All that either transport may have; its own has another name in each.
            pub const NAMED: &'static [NamedAlgorithm] =
                &[$( NamedAlgorithm { algorithm: Self::$Variant, name: $name, about: &[$($doc),+] }, )+];

            /// Tells if it has to learn of each loss at its time.
            pub const fn needs_loss_times(self) -> bool {
                match self {
                    $( Self::$Variant => $Variant::NEEDS_LOSS_TIMES, )+
                    Self::Own(own) => own.needs_loss_times(),
                    Self::Standard => false,
                }
            }

            /// Tells if a mark slows it down.
            pub const fn heeds_marks(self) -> bool {
                match self {
                    $( Self::$Variant => $Variant::HEEDS_MARKS, )+
                    Self::Own(own) => own.heeds_marks(),
                    Self::Standard => true,
                }
            }

            /// Tells if it makes use of a [capacity](Terms::known_capacity) that is known.
            pub const fn reads_capacity(self) -> bool {
                match self {
                    $( Self::$Variant => $Variant::READS_CAPACITY, )+
                    Self::Own(own) => own.reads_capacity(),
                    Self::Standard => false,
                }
            }
        }

        /// One of the controllers that a transport may use; `S` is its own.
        #[derive(Clone, Debug)]
        // Which it is stands in front of it, and not in one of its gaps: both are read with each packet.
        #[repr(u8)]
        pub enum Controller<S> {
            $( $(#[doc = $doc])+ $Variant(Box<$Variant>), )+
            /// One of the program's own.
            Own(Box<dyn OwnControl>),
            /// The transport's own.
            Standard(S),
        }

        impl<S: CongestionControl> Controller<S> {
            /// The controller of a path by this algorithm, on such terms; `standard` makes the transport's own.
            pub fn of(algorithm: Algorithm, terms: &Terms, standard: impl FnOnce() -> S) -> Self {
                match algorithm {
                    $( Algorithm::$Variant => Self::$Variant(Box::new($Variant::on(terms))), )+
                    Algorithm::Own(own) => Self::Own(own.controller(terms)),
                    Algorithm::Standard => Self::Standard(standard()),
                }
            }

            /// Data was sent, which a pacer is to space: it is asked once which controller it is.
            pub fn on_paced(&mut self, pacer: &mut Pacer, sent: Sent) {
                match self {
                    $( Self::$Variant(controller) => pacer.follow(&mut **controller, sent), )+
                    Self::Own(controller) => pacer.follow(&mut **controller, sent),
                    Self::Standard(controller) => pacer.follow(controller, sent),
                }
            }
        }

        /// Makes the same call on the controller, whichever it is.
        macro_rules! each {
            ($dollar self:ident, $dollar controller:ident => $dollar call:expr) => {
                match $dollar self {
                    $( Controller::$Variant($dollar controller) => $dollar call, )+
                    Controller::Own($dollar controller) => $dollar call,
                    Controller::Standard($dollar controller) => $dollar call,
                }
            };
        }
    };
}

controllers! { $
    /// A small standing queue is kept; losses without one are taken for random. Of this project; wants
    /// `loss_detection = "rack"`.
    Backlog = "backlog",
    /// A model of the path's rate and round trip: BBR version 1, as in Linux. Wants `loss_detection = "rack"`.
    Bbr = "bbr",
    /// Model of the path's rate and round trip, bounded by loss: BBR version 3, draft-ietf-ccwg-bbr. Wants
    /// `loss_detection = "rack"`.
    Bbr3 = "bbr3",
    /// A cubic of the time since the last loss: RFC 9438.
    Cubic = "cubic",
    /// The growth that a path of 25 ms would have: Caini and Firrincieli 2004.
    Hybla = "hybla",
    /// Losses leave what the path has been seen to carry, by the rate at which acknowledgements return: Westwood+ of
    /// Mascolo and others 2001, Grieco and Mascolo 2004.
    Westwood = "westwood",
}

/// Name in files of the standard controller of TCP.
pub const TCP_STANDARD: &str = "new-reno";
/// Name in files of the standard controller of SCTP.
pub const SCTP_STANDARD: &str = "rfc9260";

/// An algorithm of either transport, as files have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedAlgorithm {
    /// The algorithm that is meant.
    pub algorithm: Algorithm,
    /// Name of it in a file.
    pub name: &'static str,
    /// Lines that explain it there.
    pub about: &'static [&'static str],
}

impl<S: CongestionControl> CongestionControl for Controller<S> {
    fn cwnd(&self) -> u64 {
        each!(self, controller => controller.cwnd())
    }

    fn ssthresh(&self) -> u64 {
        each!(self, controller => controller.ssthresh())
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        each!(self, controller => controller.pacing_rate())
    }

    fn send_quantum(&self) -> u64 {
        each!(self, controller => controller.send_quantum())
    }

    fn spacing(&self, bytes: u64) -> Option<Spacing> {
        each!(self, controller => controller.spacing(bytes))
    }

    fn rules_recovery(&self) -> bool {
        each!(self, controller => controller.rules_recovery())
    }

    fn on_sent(&mut self, sent: Sent) {
        each!(self, controller => controller.on_sent(sent));
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        each!(self, controller => controller.on_acknowledged(acknowledged));
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        each!(self, controller => controller.on_segment_lost(lost));
    }

    fn on_lost(&mut self, congestion: Congestion) {
        each!(self, controller => controller.on_lost(congestion));
    }

    fn on_recovered(&mut self, now: Instant) {
        each!(self, controller => controller.on_recovered(now));
    }

    fn on_spurious(&mut self, now: Instant) {
        each!(self, controller => controller.on_spurious(now));
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        each!(self, controller => controller.on_timed_out(timed_out));
    }

    fn on_marked(&mut self, congestion: Congestion) {
        each!(self, controller => controller.on_marked(congestion));
    }

    fn on_idle(&mut self, timeouts: u64) {
        each!(self, controller => controller.on_idle(timeouts));
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        each!(self, controller => controller.limit_cwnd(at_most));
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        each!(self, controller => controller.set_segment_bytes(segment_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::LossEvent;
    use crate::cubic::tests::CONFIG;
    use crate::delivery::DeliveryMeter;
    use crate::terms::tests::TERMS;
    use slantpath_base::Duration;

    /// Remembers what it was told.
    #[derive(Debug, Default)]
    struct Listener(Vec<String>);

    impl CongestionControl for Listener {
        fn cwnd(&self) -> u64 {
            14_600
        }

        fn ssthresh(&self) -> u64 {
            7_300
        }

        fn pacing_rate(&self) -> Option<DataRate> {
            Some(DataRate::from_bits_per_sec(64_000))
        }

        fn send_quantum(&self) -> u64 {
            2_920
        }

        fn spacing(&self, bytes: u64) -> Option<Spacing> {
            Some(Spacing { gap: Duration::from_nanos(bytes), lead: Duration::from_nanos(12) })
        }

        fn rules_recovery(&self) -> bool {
            true
        }

        fn on_sent(&mut self, sent: Sent) {
            self.0.push(format!("{sent:?}"));
        }

        fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
            self.0.push(format!("{acknowledged:?}"));
        }

        fn on_segment_lost(&mut self, lost: &LostSegment) {
            self.0.push(format!("{lost:?}"));
        }

        fn on_lost(&mut self, congestion: Congestion) {
            self.0.push(format!("lost {congestion:?}"));
        }

        fn on_recovered(&mut self, now: Instant) {
            self.0.push(format!("recovered {now:?}"));
        }

        fn on_spurious(&mut self, now: Instant) {
            self.0.push(format!("spurious {now:?}"));
        }

        fn on_timed_out(&mut self, timed_out: TimedOut) {
            self.0.push(format!("{timed_out:?}"));
        }

        fn on_marked(&mut self, congestion: Congestion) {
            self.0.push(format!("marked {congestion:?}"));
        }

        fn on_idle(&mut self, timeouts: u64) {
            self.0.push(format!("idle {timeouts}"));
        }

        fn limit_cwnd(&mut self, at_most: u64) {
            self.0.push(format!("limit {at_most}"));
        }

        fn set_segment_bytes(&mut self, segment_bytes: u64) {
            self.0.push(format!("segment {segment_bytes}"));
        }
    }

    #[test]
    fn a_transports_own_controller_hears_every_event_and_is_asked() {
        let mut controller = Controller::Standard(Listener::default());
        let (sent, acknowledged) = (
            Sent { now: Instant::from_millis(1), bytes: 2, in_flight_before: 3 },
            Acknowledged::of(Instant::from_millis(4), 5, 6),
        );
        let (congestion, timed_out) =
            (Congestion { in_flight: 7 }, TimedOut { in_flight: 8, loss: LossEvent::New });
        controller.on_sent(sent);
        controller.on_acknowledged(&acknowledged);
        let mut meter = DeliveryMeter::default();
        let departure = meter.depart(Instant::START, true, 1_460);
        let segment = meter.lose(1_460, &departure);
        controller.on_segment_lost(&segment);
        controller.on_lost(congestion);
        controller.on_recovered(Instant::from_millis(12));
        controller.on_spurious(Instant::from_millis(13));
        controller.on_timed_out(timed_out);
        controller.on_marked(congestion);
        controller.on_idle(9);
        controller.limit_cwnd(10);
        controller.set_segment_bytes(11);
        assert_eq!((controller.cwnd(), controller.ssthresh()), (14_600, 7_300));
        assert_eq!((controller.send_quantum(), controller.rules_recovery()), (2_920, true));
        assert_eq!(controller.pacing_rate(), Some(DataRate::from_bits_per_sec(64_000)));
        assert_eq!(controller.spacing(1_460).map(|spacing| spacing.gap.as_nanos()), Some(1_460));
        let Controller::Standard(Listener(heard)) = controller else { panic!("it is another by now") };
        let expected = [
            format!("{sent:?}"),
            format!("{acknowledged:?}"),
            format!("{segment:?}"),
            format!("lost {congestion:?}"),
            format!("recovered {:?}", Instant::from_millis(12)),
            format!("spurious {:?}", Instant::from_millis(13)),
            format!("{timed_out:?}"),
            format!("marked {congestion:?}"),
            "idle 9".to_owned(),
            "limit 10".to_owned(),
            "segment 11".to_owned(),
        ];
        assert_eq!(heard, expected);
    }

    #[test]
    fn controllers_of_a_model_rule_recoveries_and_the_others_leave_them_to_the_transport() {
        let said = Algorithm::NAMED.iter().map(|named| {
            let controller = Controller::of(named.algorithm, &TERMS, Listener::default);
            (named.name, controller.cwnd(), controller.rules_recovery())
        });
        let expected = [
            ("backlog", 10_000, true),
            ("bbr", 10_000, true),
            ("bbr3", 10_000, true),
            ("cubic", 10_000, false),
            ("hybla", 10_000, false),
            ("westwood", 10_000, false),
        ];
        assert!(said.eq(expected));
    }

    #[test]
    fn a_controller_that_does_not_pace_lets_everything_leave_together() {
        let cubic = Controller::<Listener>::Cubic(Box::new(Cubic::new(CONFIG)));
        assert_eq!((cubic.pacing_rate(), cubic.send_quantum()), (None, u64::MAX));
    }

    #[test]
    fn cubic_in_its_place_is_cubic() {
        let mut alone = Cubic::new(CONFIG);
        let mut chosen = Controller::<Listener>::Cubic(Box::new(Cubic::new(CONFIG)));
        for millis in 1..200 {
            let acknowledged = Acknowledged::of(Instant::from_millis(millis), 1_460, chosen.cwnd());
            alone.on_acknowledged(&acknowledged);
            chosen.on_acknowledged(&acknowledged);
            if millis == 100 {
                let congestion = Congestion { in_flight: alone.cwnd() };
                alone.on_lost(congestion);
                chosen.on_lost(congestion);
            }
            assert_eq!((chosen.cwnd(), chosen.ssthresh()), (alone.cwnd(), alone.ssthresh()));
        }
        assert!(chosen.ssthresh() < u64::MAX);
    }
}
