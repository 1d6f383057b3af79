//! A transport's choice of controller, told apart by an enum: no dynamic dispatch. All but the
//! transport's own are allocated apart, so that a connection that uses none is no larger for them.

use slantpath_base::{DataRate, Instant};

use crate::backlog::Backlog;
use crate::bbr::Bbr;
use crate::bbr3::Bbr3;
use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, Spacing, TimedOut};
use crate::cubic::Cubic;
use crate::delivery::LostSegment;
use crate::hybla::Hybla;
use crate::pacer::Pacer;

/// The algorithm that governs a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// [`Backlog`]: a small standing queue, whatever is lost at random.
    Backlog,
    /// [`Bbr`], version 1.
    Bbr,
    /// [`Bbr3`], version 3.
    Bbr3,
    /// CUBIC (RFC 9438).
    Cubic,
    /// [`Hybla`]: the growth of a short path on a long one.
    Hybla,
    /// The transport's own: RFC 5681 for TCP, RFC 9260, section 7.2, for SCTP.
    #[default]
    Standard,
}

/// One of the controllers that a transport may use; `S` is its own.
#[derive(Clone, Debug)]
// Which it is stands in front of it, and not in one of its gaps: both are read with each packet.
#[repr(u8)]
pub enum Controller<S> {
    /// Controller that leads the window to a target of the backlog.
    Backlog(Box<Backlog>),
    /// BBR, version 1.
    Bbr(Box<Bbr>),
    /// BBR, version 3.
    Bbr3(Box<Bbr3>),
    /// CUBIC.
    Cubic(Box<Cubic>),
    /// Controller of TCP Hybla.
    Hybla(Box<Hybla>),
    /// The transport's own.
    Standard(S),
}

/// Makes the same call on the controller, whichever it is.
macro_rules! each {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Controller::Backlog($controller) => $call,
            Controller::Bbr($controller) => $call,
            Controller::Bbr3($controller) => $call,
            Controller::Cubic($controller) => $call,
            Controller::Hybla($controller) => $call,
            Controller::Standard($controller) => $call,
        }
    };
}

impl<S: CongestionControl> Controller<S> {
    /// Data was sent, which a pacer is to space: it is asked once which controller it is.
    pub fn on_paced(&mut self, pacer: &mut Pacer, sent: Sent) {
        match self {
            Self::Backlog(controller) => pacer.follow(&mut **controller, sent),
            Self::Bbr(controller) => pacer.follow(&mut **controller, sent),
            Self::Bbr3(controller) => pacer.follow(&mut **controller, sent),
            Self::Cubic(controller) => pacer.follow(&mut **controller, sent),
            Self::Hybla(controller) => pacer.follow(&mut **controller, sent),
            Self::Standard(controller) => pacer.follow(controller, sent),
        }
    }
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
    use crate::backlog::BacklogConfig;
    use crate::bbr::BbrConfig;
    use crate::control::LossEvent;
    use crate::cubic::tests::CONFIG;
    use crate::delivery::DeliveryMeter;
    use crate::hybla::HyblaConfig;
    use crate::slow_start::SlowStart;
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
        let bbr = BbrConfig { segment_bytes: 1_000, initial_cwnd_bytes: 10_000, max_cwnd_bytes: 1 << 20 };
        let (segment_bytes, initial_cwnd_bytes, max_cwnd_bytes) = (1_000, 11_000, 1 << 20);
        let backlog = BacklogConfig { segment_bytes, initial_cwnd_bytes, max_cwnd_bytes, capacity: None };
        let hybla = HyblaConfig {
            segment_bytes,
            initial_cwnd_bytes: 12_000,
            initial_ssthresh_bytes: None,
            max_cwnd_bytes,
            slow_start: SlowStart::Standard,
        };
        let controllers: [Controller<Listener>; 5] = [
            Controller::Backlog(Box::new(Backlog::new(backlog))),
            Controller::Bbr(Box::new(Bbr::new(bbr))),
            Controller::Bbr3(Box::new(Bbr3::new(bbr))),
            Controller::Cubic(Box::new(Cubic::new(CONFIG))),
            Controller::Hybla(Box::new(Hybla::new(hybla))),
        ];
        let said = controllers.map(|controller| (controller.cwnd(), controller.rules_recovery()));
        assert_eq!(said, [(11_000, true), (10_000, true), (10_000, true), (10_000, false), (12_000, false)]);
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
