//! Decision if a session may begin: by the number of sessions under way, and by the delay and throughput that they have
//! now.

use std::collections::VecDeque;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_host::{CongestionSample, SocketId};

use crate::sessions::NewSession;

/// Conditions on the sessions of a source under which another one may begin. Each limit that is given holds; without a
/// session under way every one may begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmissionConfig {
    /// Greatest number of sessions under way.
    pub max_sessions: Option<u32>,
    /// The longest mean of their smoothed round-trip times.
    pub max_round_trip: Option<Duration>,
    /// The least mean of their throughputs, each taken as what is outstanding over the smoothed round-trip time, which
    /// by Little's law is what its path delivers.
    pub min_throughput: Option<DataRate>,
    /// Treatment of a session that may not begin.
    pub otherwise: Otherwise,
}

/// Treatment of a session that may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The session ends at once.
    Refuse,
    /// The session queues behind those that came before it, and ends at once if `most` are queued already.
    Wait {
        /// Greatest number of sessions queued.
        most: u32,
        /// Interval at which delay and throughput are measured while a session is queued; the end of a session is known
        /// at once.
        recheck_interval: Duration,
    },
}

/// Why a session may not begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refusal {
    Sessions(u32),
    RoundTrip(Duration),
    Throughput(DataRate),
    /// Others wait before it.
    Behind,
    /// So many wait already.
    Waiting(u32),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not admitted: ")?;
        match self {
            Self::Sessions(count) => write!(f, "{count} sessions are under way"),
            Self::RoundTrip(mean) => write!(f, "round trips take {:.3} s", mean.as_secs_f64()),
            Self::Throughput(mean) => write!(f, "sessions get {mean}"),
            Self::Behind => write!(f, "others wait"),
            Self::Waiting(count) => write!(f, "{count} sessions wait"),
        }
    }
}

/// The sessions of a source that are under way, and those that wait.
#[derive(Debug)]
pub(crate) struct Admission {
    config: AdmissionConfig,
    live: Vec<SocketId>,
    waiting: VecDeque<NewSession>,
    /// Instant of the next check of the queued sessions, if delay or throughput may let the first begin.
    next_check: Option<Instant>,
}

impl Admission {
    pub(crate) const fn new(config: AdmissionConfig) -> Self {
        Self { config, live: Vec::new(), waiting: VecDeque::new(), next_check: None }
    }

    /// The sessions under way, to be measured.
    pub(crate) fn live(&self) -> &[SocketId] {
        &self.live
    }

    /// Decides if a session may begin beside those under way, of which `measured` are samples.
    pub(crate) fn judge(&self, measured: impl IntoIterator<Item = CongestionSample>) -> Result<(), Refusal> {
        let count = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
        if self.config.max_sessions.is_some_and(|most| count >= most) {
            return Err(Refusal::Sessions(count));
        }
        if self.admits_several() {
            return Ok(());
        }
        let (mut timed, mut round_trips, mut bits_per_sec) = (0_u32, Duration::ZERO, 0.0);
        for sample in measured {
            let Some(srtt) = sample.srtt.filter(|srtt| *srtt > Duration::ZERO) else { continue };
            timed += 1;
            round_trips += srtt;
            bits_per_sec += 8.0 * sample.outstanding_bytes as f64 / srtt.as_secs_f64();
        }
        if timed == 0 {
            return Ok(());
        }
        let round_trip = round_trips / u64::from(timed);
        if self.config.max_round_trip.is_some_and(|most| round_trip > most) {
            return Err(Refusal::RoundTrip(round_trip));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float becomes the nearest integer"
        )]
        let throughput = DataRate::from_bits_per_sec((bits_per_sec / f64::from(timed)).round() as u64);
        match self.config.min_throughput {
            Some(least) if throughput < least => Err(Refusal::Throughput(throughput)),
            _ => Ok(()),
        }
    }

    /// Has a session wait that may not begin, or gives it back with the reason if it must not.
    pub(crate) fn defer(
        &mut self,
        now: Instant,
        new: NewSession,
        refusal: Refusal,
    ) -> Result<(), (NewSession, Refusal)> {
        let Otherwise::Wait { most, recheck_interval } = self.config.otherwise else {
            return Err((new, refusal));
        };
        if self.waiting.len() >= most as usize {
            return Err((new, Refusal::Waiting(most)));
        }
        self.waiting.push_back(new);
        if !self.admits_several() {
            self.next_check.get_or_insert_with(|| now.saturating_add(recheck_interval));
        }
        Ok(())
    }

    /// Tells if a session is queued, behind which every new one takes its place.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Tells if several may begin at once: otherwise the effect of one on delay and throughput is not seen before the
    /// next check.
    pub(crate) const fn admits_several(&self) -> bool {
        self.config.max_round_trip.is_none() && self.config.min_throughput.is_none()
    }

    /// The first that waits, which may begin now.
    pub(crate) fn take_waiting(&mut self) -> Option<NewSession> {
        self.waiting.pop_front()
    }

    /// Sessions that are queued, for their records.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &NewSession> {
        self.waiting.iter()
    }

    /// A check is over, at which those that still wait may not begin.
    pub(crate) fn end_check(&mut self, now: Instant) {
        if self.waiting.is_empty() {
            self.next_check = None;
        } else if let (Some(next), Otherwise::Wait { recheck_interval, .. }) =
            (&mut self.next_check, self.config.otherwise)
            && *next <= now
        {
            *next = now.saturating_add(recheck_interval);
        }
    }

    /// Instant at which the next check is due.
    pub(crate) const fn next_check(&self) -> Option<Instant> {
        self.next_check
    }

    /// A session has begun.
    pub(crate) fn add(&mut self, socket: SocketId) {
        self.live.push(socket);
    }

    /// A session is over. Another may have its place already, and its name: either of the two then stands for both.
    pub(crate) fn remove(&mut self, socket: SocketId) {
        if let Some(place) = self.live.iter().position(|live| *live == socket) {
            self.live.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: AdmissionConfig = AdmissionConfig {
        max_sessions: None,
        max_round_trip: None,
        min_throughput: None,
        otherwise: Otherwise::Refuse,
    };

    fn with_live(config: AdmissionConfig, count: u32) -> Admission {
        let mut admission = Admission::new(config);
        (0..count).for_each(|number| admission.add(SocketId(number)));
        admission
    }

    /// A session with so much outstanding, and so long a round trip.
    fn sample(outstanding_bytes: u64, srtt_ms: Option<u64>) -> CongestionSample {
        let srtt = srtt_ms.map(Duration::from_millis);
        CongestionSample { cwnd_bytes: 1, outstanding_bytes, srtt, retransmissions: 0 }
    }

    #[test]
    fn as_many_are_under_way_as_may_be_and_one_that_is_over_makes_room() {
        let mut admission = with_live(AdmissionConfig { max_sessions: Some(2), ..OPEN }, 1);
        assert_eq!(admission.judge([]), Ok(()));
        admission.add(SocketId(7));
        assert_eq!(admission.judge([]), Err(Refusal::Sessions(2)));
        admission.remove(SocketId(9));
        assert_eq!(admission.judge([]), Err(Refusal::Sessions(2)));
        admission.remove(SocketId(0));
        assert_eq!((admission.judge([]), admission.live()), (Ok(()), &[SocketId(7)][..]));
    }

    #[test]
    fn the_mean_round_trip_of_those_that_have_one_counts() {
        let limit = Duration::from_millis(300);
        let admission = with_live(AdmissionConfig { max_round_trip: Some(limit), ..OPEN }, 3);
        let judge = |trips: [Option<u64>; 3]| admission.judge(trips.map(|trip| sample(0, trip)));
        assert_eq!(judge([Some(200), Some(400), None]), Ok(()));
        assert_eq!(judge([Some(201), Some(401), None]), Err(Refusal::RoundTrip(Duration::from_millis(301))));
        assert_eq!(judge([None; 3]), Ok(()));
    }

    #[test]
    fn the_mean_throughput_is_what_is_outstanding_over_the_round_trip() {
        let least = DataRate::from_bits_per_sec(100_000);
        let admission = with_live(AdmissionConfig { min_throughput: Some(least), ..OPEN }, 2);
        // 50 kbit/s and 150 kbit/s.
        let [slow, fast] = [sample(1_250, Some(200)), sample(3_750, Some(200))];
        assert_eq!(admission.judge([slow, fast]), Ok(()));
        let refused = Refusal::Throughput(DataRate::from_bits_per_sec(50_000));
        assert_eq!(admission.judge([slow, slow]), Err(refused));
        assert_eq!(refused.to_string(), "not admitted: sessions get 50 kbit/s");
    }
}
