//! Checks of a link's timers, and those of the layers above, against a path: a timer that waits for an answer must be
//! longer than the answer takes.

use core::fmt;

use slantpath_base::Duration;

use crate::m2pa::{Proving, TimerName, Timers};

/// Time that an answer takes over a path, and time that the transport waits before it retransmits what was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTiming {
    /// The round trip without queues.
    pub round_trip: Duration,
    /// The transport's RTO.Min.
    pub rto_min: Duration,
    /// The transport's RTO.Max.
    pub rto_max: Duration,
}

/// A timer that waits for an answer over the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingTimer {
    /// One of the link's.
    M2pa(TimerName),
    /// One of a layer above, by its name, such as "Q.704 T2".
    Other(&'static str),
}

/// A timer that contradicts the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFinding {
    /// Timer that contradicts the path.
    pub timer: WaitingTimer,
    /// Value that was chosen for the timer.
    pub value: Duration,
    /// Bound above which the value must be.
    pub bound: Duration,
    /// Consequence of the short timer.
    pub fault: PathFault,
}

/// Consequence of a timer that is too short for a path, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathFault {
    /// The timer expires before any answer can come. T7 then takes the link out of service with the first message, T2
    /// and T3 never let it align.
    ExpiresAlways,
    /// T1 expires before a peer that has begun to prove a round trip later can be ready.
    ExpiresWhileThePeerProves,
    /// One lost packet is enough: the answer then comes a retransmission timeout and a round trip later.
    ExpiresAfterOneLoss,
    /// The proving period is over before a proving message can have come back: it proves nothing.
    ProvesNothing,
}

impl PathTiming {
    /// An answer to what was lost once: the transport notices after its timeout, which on a path of constant delay
    /// comes down to the smoothed round trip within its bounds (RFC 9260, section 6.3.1).
    pub fn answer_after_one_loss(&self) -> Duration {
        let timeout = self.round_trip.max(self.rto_min).min(self.rto_max.max(self.rto_min));
        timeout.saturating_add(self.round_trip)
    }
}

/// Gives the timers of a link that contradict the path, and those of `others`: timers of the layers above that wait for
/// an answer over the same path (of Q.704: T2, T4, T5, T12, T13, T14; of Q.707: T1).
pub fn check_path(
    timers: &Timers,
    proving: Proving,
    others: &[(&'static str, Duration)],
    path: PathTiming,
) -> Vec<PathFinding> {
    let mut findings = Vec::new();
    let proves = proving != Proving::Omitted;
    let m2pa = WaitingTimer::M2pa;
    let waiting = [(TimerName::T2, timers.t2), (TimerName::T3, timers.t3), (TimerName::T7, timers.t7)];
    let waiting = waiting.into_iter().filter(|(timer, _)| proves || *timer != TimerName::T3);
    let waiting = waiting.map(|(timer, value)| (m2pa(timer), value));
    let others = others.iter().map(|&(name, value)| (WaitingTimer::Other(name), value));
    for (timer, value) in waiting.chain(others) {
        let (always, once) = (path.round_trip, path.answer_after_one_loss());
        if value <= always {
            findings.push(PathFinding { timer, value, bound: always, fault: PathFault::ExpiresAlways });
        } else if value <= once {
            findings.push(PathFinding { timer, value, bound: once, fault: PathFault::ExpiresAfterOneLoss });
        }
    }
    let proved = if proves { timers.t4_normal } else { Duration::ZERO };
    let bound = proved.saturating_add(path.round_trip);
    if timers.t1 <= bound {
        let (timer, fault) = (m2pa(TimerName::T1), PathFault::ExpiresWhileThePeerProves);
        findings.push(PathFinding { timer, value: timers.t1, bound, fault });
    }
    if proves {
        for (timer, value) in
            [(TimerName::T4Normal, timers.t4_normal), (TimerName::T4Emergency, timers.t4_emergency)]
        {
            if value <= path.round_trip {
                let (bound, fault) = (path.round_trip, PathFault::ProvesNothing);
                findings.push(PathFinding { timer: m2pa(timer), value, bound, fault });
            }
        }
    }
    findings.sort_by_key(|finding| finding.fault);
    findings
}

impl fmt::Display for WaitingTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::M2pa(timer) => write!(f, "M2PA {timer}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for PathFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timer, value, bound, fault } = self;
        match fault {
            PathFault::ExpiresAlways => {
                write!(f, "{timer} of {value} over a round trip of {bound} ")?;
                f.write_str(match timer {
                    WaitingTimer::M2pa(TimerName::T7) => "takes the link out of service with every message",
                    WaitingTimer::M2pa(_) => "never lets the link align",
                    WaitingTimer::Other(_) => "expires before any answer",
                })
            }
            PathFault::ExpiresWhileThePeerProves => {
                write!(f, "{timer} of {value} expires while the peer proves, which may take {bound}")
            }
            PathFault::ExpiresAfterOneLoss => {
                write!(f, "{timer} of {value} expires if one packet is lost: the answer then takes {bound}")
            }
            PathFault::ProvesNothing => {
                write!(f, "{timer} of {value} is over before a round trip of {bound}, and proves nothing")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A geostationary path with the defaults of RFC 9260.
    const SATELLITE: PathTiming = PathTiming {
        round_trip: Duration::from_millis(700),
        rto_min: Duration::from_secs(1),
        rto_max: Duration::from_secs(60),
    };

    fn texts(timers: &Timers, others: &[(&'static str, Duration)], path: PathTiming) -> Vec<String> {
        let findings = check_path(timers, Proving::default(), others, path);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_t7_below_the_round_trip_takes_the_link_out() {
        let timers = Timers { t7: Duration::from_millis(500), ..Timers::default() };
        let expected =
            "M2PA T7 of 500 ms over a round trip of 700 ms takes the link out of service with every message";
        assert_eq!(texts(&timers, &[], SATELLITE)[0], expected);
    }

    #[test]
    fn the_defaults_survive_a_satellite_but_for_one_loss_and_an_emergency() {
        let expected = [
            "M2PA T3 of 1.5 s expires if one packet is lost: the answer then takes 1.7 s",
            "M2PA T4 (emergency) of 500 ms is over before a round trip of 700 ms, and proves nothing",
        ];
        assert_eq!(texts(&Timers::default(), &[], SATELLITE), expected);
    }

    #[test]
    fn the_defaults_survive_a_terrestrial_path() {
        let path = PathTiming {
            round_trip: Duration::from_millis(40),
            rto_min: Duration::from_millis(300),
            ..SATELLITE
        };
        assert_eq!(check_path(&Timers::default(), Proving::default(), &[], path), []);
    }

    #[test]
    fn timers_of_the_layers_above_wait_over_the_same_path() {
        let others = [("Q.704 T4", Duration::from_millis(700)), ("Q.704 T2", Duration::from_millis(1_200))];
        let texts = texts(&Timers::default(), &others, SATELLITE);
        assert_eq!(texts[0], "Q.704 T4 of 700 ms over a round trip of 700 ms expires before any answer");
        assert!(texts.contains(
            &"Q.704 T2 of 1.2 s expires if one packet is lost: the answer then takes 1.7 s".to_owned()
        ));
    }

    #[test]
    fn t1_must_outlast_the_peers_proving() {
        let timers =
            Timers { t1: Duration::from_secs(25), t4_normal: Duration::from_secs(30), ..Timers::default() };
        assert_eq!(
            texts(&timers, &[], SATELLITE)[0],
            "M2PA T1 of 25 s expires while the peer proves, which may take 30.7 s"
        );
    }

    #[test]
    fn without_proving_there_is_nothing_to_wait_for() {
        let path = PathTiming { round_trip: Duration::from_millis(1_600), ..SATELLITE };
        let findings = check_path(&Timers::default(), Proving::Omitted, &[], path);
        assert!(findings.iter().all(|finding| finding.timer == WaitingTimer::M2pa(TimerName::T7)));
    }
}
