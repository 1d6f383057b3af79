//! The path MTU of one address, by probe packets (RFC 8899): which size is probed next, and what an answer, its
//! absence, a report of ICMP and the loss of long packets mean.
//!
//! All sizes are those of whole packets in bytes, IP header included; they differ from the sizes "at the PL" of RFC
//! 8899 by the length of that header.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_cc::CongestionControl;

use super::{Fragments, LEAST_MTU_V4, LEAST_MTU_V6, Path, pmdcs};
use crate::config::SctpConfig;

/// Greatest distance at which the search stops: the next probe could gain no more bytes than this.
const LEAST_GAIN: u16 = 16;
/// Number of bytes that every link of IPv4 carries (RFC 791, section 3.2).
const LEAST_LINK_MTU_V4: u16 = 68;
/// PROBE_TIMER is never less.
//= https://www.rfc-editor.org/rfc/rfc8899#section-5.1.1
//# This value MUST NOT be smaller than 1 second
const LEAST_PROBE_TIMER: Duration = Duration::from_secs(1);

/// State of the discovery on a path (RFC 8899, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryState {
    /// DISABLED: the path is not known to work.
    Disabled,
    /// BASE: it is asked whether the least size that is expected anywhere passes.
    Base,
    /// SEARCHING: larger ones are probed.
    Searching,
    /// SEARCH_COMPLETE: the largest that passes is in use.
    Complete,
    /// ERROR: not even BASE_PLPMTU passes; packets are shorter, and IP may cut them.
    Error,
}

/// State of the probing of the present size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// Nothing, until then if ever.
    Idle { until: Option<Instant> },
    /// A probe packet is to go out.
    Due,
    /// One has gone out and is to be answered by `deadline`.
    Awaited { deadline: Instant },
}

/// Record common to the probes of one size: a late answer to the first says as much as one to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SentProbe {
    nonce: u64,
    first_at: Instant,
}

/// Classes of packets whose fate tells of the path MTU: they are longer than what would be sent if they did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Long {
    /// Longer than BASE_PLPMTU.
    AboveBase = 0,
    /// Longer than MIN_PLPMTU, and no longer than BASE_PLPMTU.
    UpToBase = 1,
}

/// Losses in a row, each of what was sent after the one before was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Losses {
    count: u32,
    noticed_at: Instant,
}

impl Losses {
    const NONE: Self = Self { count: 0, noticed_at: Instant::START };
}

/// A probe packet that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProbePacket {
    /// Length of the packet in bytes, IP header included.
    pub(crate) size: u16,
    pub(crate) nonce: u64,
}

/// State of the MTU discovery of one path.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    state: DiscoveryState,
    /// MIN_PLPMTU, BASE_PLPMTU and MAX_PLPMTU.
    least: u16,
    base: u16,
    most: u16,
    /// MAX_PROBES.
    max_probes: u32,
    /// PMTU_RAISE_TIMER.
    raise_timer: Duration,
    plpmtu: u16,
    /// The least size that is known not to pass.
    too_big: Option<u16>,
    /// PROBED_SIZE.
    probed_size: u16,
    /// PROBE_COUNT, of this size.
    probe_count: u32,
    probe: Probe,
    /// Once one of this size has gone out.
    sent: Option<SentProbe>,
    /// Instant at which the search was completed last, or the last probe failed where the path does not carry
    /// BASE_PLPMTU.
    rested_at: Instant,
    /// Losses of packets longer than BASE_PLPMTU, and of those that are not but longer than MIN_PLPMTU.
    losses: [Losses; 2],
    /// True if the packet that is being made is a probe.
    is_departing: bool,
    pub(crate) probes_sent: u64,
    pub(crate) black_holes: u64,
}

impl Discovery {
    pub(crate) fn new(destination: IpAddr, config: &SctpConfig) -> Self {
        // Packets of SCTP are whole words.
        let least = if destination.is_ipv6() { LEAST_MTU_V6 } else { LEAST_MTU_V4 };
        let base = (config.base_path_mtu & !3).max(least);
        let most = (config.max_path_mtu & !3).max(base);
        Self {
            state: DiscoveryState::Disabled,
            least,
            base,
            most,
            max_probes: config.max_probes.max(1),
            raise_timer: config.pmtu_raise_timer,
            plpmtu: base,
            too_big: None,
            probed_size: base,
            probe_count: 0,
            probe: Probe::Idle { until: None },
            sent: None,
            rested_at: Instant::START,
            losses: [Losses::NONE; 2],
            is_departing: false,
            probes_sent: 0,
            black_holes: 0,
        }
    }

    pub(crate) const fn state(&self) -> DiscoveryState {
        self.state
    }

    /// The longest packet that may be sent without being cut.
    pub(crate) const fn plpmtu(&self) -> u16 {
        self.plpmtu
    }

    /// Tells if IP may cut whatever is sent.
    pub(crate) fn is_cut(&self) -> bool {
        self.state == DiscoveryState::Error
    }

    /// Tells if a packet is long, so that its fate tells of the path MTU.
    pub(crate) const fn long(&self, needed_mtu: u16) -> Option<Long> {
        if needed_mtu > self.base && self.plpmtu > self.base {
            Some(Long::AboveBase)
        } else if needed_mtu > self.least {
            Some(Long::UpToBase)
        } else {
            None
        }
    }

    /// Instant at which something is to be done.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.probe {
            Probe::Idle { until } => until,
            Probe::Due => None,
            Probe::Awaited { deadline } => Some(deadline),
        }
    }

    /// Tells if a probe packet is to be made.
    pub(crate) const fn is_due(&self) -> bool {
        matches!(self.probe, Probe::Due)
    }

    /// The path works.
    pub(crate) fn start(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc8899#section-6.2.1.1
        //# A sender can therefore enter the BASE state as soon
        //# as connectivity has been confirmed.
        match self.state {
            DiscoveryState::Disabled => self.enter_base(),
            // It may carry more than before it failed.
            DiscoveryState::Error if matches!(self.probe, Probe::Idle { .. }) => self.probe_size(self.base),
            DiscoveryState::Base
            | DiscoveryState::Complete
            | DiscoveryState::Error
            | DiscoveryState::Searching => {}
        }
    }

    /// The path does not work any more.
    pub(crate) fn fail(&mut self) {
        match self.state {
            // It may work but for packets of this size, of which the probes tell: a path that fails by a few losses,
            // each time that it works again, would else be asked for ever.
            DiscoveryState::Base | DiscoveryState::Error => {}
            DiscoveryState::Complete | DiscoveryState::Disabled | DiscoveryState::Searching => {
                self.stop();
                // What goes there all the same is not to fail by its length.
                self.plpmtu = self.plpmtu.min(self.base);
            }
        }
    }

    /// The path needs no MTU any more.
    pub(crate) fn stop(&mut self) {
        self.state = DiscoveryState::Disabled;
        self.probe = Probe::Idle { until: None };
        self.sent = None;
    }

    fn enter_base(&mut self) {
        //= https://www.rfc-editor.org/rfc/rfc8899#section-5.2
        //# On entry, the PROBED_SIZE is set to the BASE_PLPMTU size, and the
        //# PROBE_COUNT is set to zero.
        self.state = DiscoveryState::Base;
        self.plpmtu = self.base;
        self.too_big = None;
        self.losses = [Losses::NONE; 2];
        self.probe_size(self.base);
    }

    fn enter_error(&mut self, hint: Option<u16>) {
        self.state = DiscoveryState::Error;
        //= https://www.rfc-editor.org/rfc/rfc8899#section-5.2
        //# It signals a
        //# conservative value of the MPS to the higher layer by the PL.
        self.plpmtu = self.least;
        self.too_big = hint.map(|hint| hint.saturating_add(4));
        self.losses = [Losses::NONE; 2];
        match hint.filter(|hint| *hint > self.least) {
            Some(hint) => self.probe_size(hint),
            None => self.probe_size(self.base),
        }
    }

    fn probe_size(&mut self, size: u16) {
        self.probed_size = size;
        self.probe_count = 0;
        self.probe = Probe::Due;
        self.sent = None;
    }

    /// Probes the next size, unless too little can be gained by any.
    fn search_on(&mut self, now: Instant) {
        self.state = DiscoveryState::Searching;
        let limit = self.too_big.map_or(self.most, |too_big| too_big.min(self.most));
        let next = match self.too_big {
            //= https://www.rfc-editor.org/rfc/rfc8899#section-5.3.2
            //# Implementations SHOULD select the set of probe packet sizes to
            //# maximize the gain in PLPMTU from each search step.
            None => self.most,
            Some(_) => (self.plpmtu + (limit.max(self.plpmtu) - self.plpmtu) / 2) & !3,
        };
        let has_gain = limit.saturating_sub(self.plpmtu) > LEAST_GAIN || self.too_big.is_none();
        if self.plpmtu < self.most && next > self.plpmtu && has_gain {
            self.probe_size(next);
        } else {
            self.complete(now);
        }
    }

    fn complete(&mut self, now: Instant) {
        self.state = DiscoveryState::Complete;
        self.rested_at = now;
        // What is at its most cannot be raised.
        let until = (self.plpmtu < self.most).then(|| now.saturating_add(self.raise_timer));
        self.probe = Probe::Idle { until };
        self.sent = None;
    }

    /// The probe that is due goes out on a path with this RTO.
    pub(crate) fn send(&mut self, now: Instant, rto: Duration, random: &mut Stream) -> Option<ProbePacket> {
        if !self.is_due() {
            return None;
        }
        let sent = *self.sent.get_or_insert_with(|| SentProbe { nonce: random.next_u64(), first_at: now });
        //= https://www.rfc-editor.org/rfc/rfc8899#section-6.2.1.2
        //# The Heartbeat timer can be used to implement the
        //# PROBE_TIMER.
        let deadline = now + rto.max(LEAST_PROBE_TIMER);
        self.probe = Probe::Awaited { deadline };
        self.probes_sent += 1;
        self.is_departing = true;
        Some(ProbePacket { size: self.probed_size, nonce: sent.nonce })
    }

    /// Tells if the packet that has been made is a probe, which IP must not cut.
    pub(crate) const fn take_departing(&mut self) -> bool {
        core::mem::replace(&mut self.is_departing, false)
    }

    /// The time has come to look at the deadline. `last_data_at`: when DATA was sent last.
    pub(crate) fn handle_deadline(&mut self, now: Instant, last_data_at: Option<Instant>) {
        match self.probe {
            Probe::Idle { until: Some(until) } if until <= now => {
                self.probe = Probe::Idle { until: None };
                self.resume(now, last_data_at);
            }
            Probe::Awaited { deadline } if deadline <= now => self.on_unanswered(now),
            Probe::Idle { .. } | Probe::Awaited { .. } | Probe::Due => {}
        }
    }

    /// The time to look for a larger size has come: it is used if the path is.
    pub(crate) fn resume(&mut self, now: Instant, last_data_at: Option<Instant>) {
        //= https://www.rfc-editor.org/rfc/rfc8899#section-5.1.1
        //# DPLPMTUD MAY inhibit sending probe packets when no application
        //# data has been sent since the previous probe packet.
        let is_resting = self.probe == Probe::Idle { until: None };
        if !is_resting || last_data_at.is_none_or(|at| at < self.rested_at) {
            return;
        }
        match self.state {
            DiscoveryState::Complete if self.plpmtu < self.most => {
                self.too_big = None;
                self.search_on(now);
            }
            DiscoveryState::Error => self.probe = Probe::Due,
            DiscoveryState::Complete
            | DiscoveryState::Disabled
            | DiscoveryState::Base
            | DiscoveryState::Searching => {}
        }
    }

    fn on_unanswered(&mut self, now: Instant) {
        self.probe_count = self.probe_count.saturating_add(1);
        match self.state {
            DiscoveryState::Error => {
                // A path that does not carry even this is asked ever less often.
                let doublings = self.probe_count.min(20);
                let pause = (LEAST_PROBE_TIMER * (1 << doublings)).min(self.raise_timer);
                if self.probe_count >= self.max_probes {
                    self.probed_size = self.base;
                }
                self.rested_at = now;
                self.probe = Probe::Idle { until: Some(now + pause) };
            }
            _ if self.probe_count < self.max_probes => self.probe = Probe::Due,
            //= https://www.rfc-editor.org/rfc/rfc8899#section-5.2
            //# The state is also left when the PROBE_COUNT reaches MAX_PROBES or
            //# a received PTB message is validated.
            DiscoveryState::Base => self.enter_error(None),
            //= https://www.rfc-editor.org/rfc/rfc8899#section-5.3.1
            //= type=exception
            //= reason=One size that does not pass says nothing of those below it: the search goes on there.
            //# If the
            //# value of the PROBE_COUNT reaches MAX_PROBES, probing will stop, and
            //# the PL sender enters the SEARCH_COMPLETE state.
            DiscoveryState::Searching => {
                self.too_big = Some(self.probed_size);
                self.search_on(now);
            }
            DiscoveryState::Complete | DiscoveryState::Disabled => {
                self.probe = Probe::Idle { until: None };
            }
        }
    }

    /// An answer has come with this nonce: the round trip, if it can be told, or `None` if nobody waits for it.
    pub(crate) fn on_answered(&mut self, now: Instant, nonce: u64) -> Option<Answer> {
        let sent = self.sent.filter(|sent| sent.nonce == nonce)?;
        let round_trip = (self.probe_count == 0).then(|| now.saturating_since(sent.first_at));
        self.probe_count = 0;
        self.plpmtu = self.probed_size;
        // What has passed refutes whoever has said that it does not.
        self.too_big = self.too_big.filter(|too_big| *too_big > self.plpmtu);
        match self.state {
            DiscoveryState::Error if self.plpmtu < self.base => self.complete(now),
            _ => self.search_on(now),
        }
        Some(Answer { round_trip })
    }

    /// A report of ICMP, which has been validated, says that packets of `mtu` bytes pass and longer ones do not
    /// (section 4.6.2). Returns whether it was of use.
    pub(crate) fn on_too_big(&mut self, now: Instant, mtu: u16) -> bool {
        let mtu = mtu & !3;
        let tried = match self.probe {
            Probe::Awaited { .. } | Probe::Due => self.probed_size.max(self.plpmtu),
            Probe::Idle { .. } => self.plpmtu,
        };
        //= https://www.rfc-editor.org/rfc/rfc8899#section-4.6.2
        //# PTB messages that have been validated MAY be utilized by the DPLPMTUD
        //# algorithm but MUST NOT be used directly to set the PLPMTU.
        if self.state == DiscoveryState::Disabled || mtu >= tried {
            return false;
        }
        let too_big = Some(mtu + 4);
        if mtu < self.base {
            // Of IPv4, whose packets routers may cut, a link may carry less than the least size that is tried.
            let is_credible = mtu >= if self.least == LEAST_MTU_V4 { LEAST_LINK_MTU_V4 } else { self.least };
            let is_news =
                self.state != DiscoveryState::Error || self.too_big != too_big && mtu < self.probed_size;
            if is_credible && is_news {
                self.enter_error(Some(mtu));
            }
            return is_credible && is_news;
        }
        //= https://www.rfc-editor.org/rfc/rfc8899#section-4.6.2
        //# The PLPMTU SHOULD
        //# be set to BASE_PLPMTU (the PLPMTU is reduced to the BASE_PLPMTU
        //# to avoid unnecessary packet loss when a black hole is
        //# encountered).
        if mtu < self.plpmtu {
            self.plpmtu = self.base;
        }
        self.too_big = too_big;
        if matches!(self.state, DiscoveryState::Searching | DiscoveryState::Complete) {
            self.state = DiscoveryState::Searching;
            if mtu > self.plpmtu {
                //= https://www.rfc-editor.org/rfc/rfc8899#section-4.6.2
                //# The PL can use the reported PL_PTB_SIZE from the PTB message as
                //# the next search point when it resumes the search algorithm.
                self.probe_size(mtu);
            } else {
                self.complete(now);
            }
        }
        true
    }

    /// Something in a [long](Self::long) packet has arrived: shorter ones pass as well.
    pub(crate) const fn on_long_arrived(&mut self, long: Long) {
        self.losses[Long::UpToBase as usize].count = 0;
        if matches!(long, Long::AboveBase) {
            self.losses[Long::AboveBase as usize].count = 0;
        }
    }

    /// Something in a [long](Self::long) packet was lost that was sent at `sent_at`. Returns whether that shows that
    /// the path carries no such packets any more.
    pub(crate) fn on_long_lost(&mut self, now: Instant, sent_at: Instant, long: Long) -> bool {
        // While it is asked whether the path carries BASE_PLPMTU, the probes decide: to ask anew at each third loss
        // might never come to an answer.
        if matches!(self.state, DiscoveryState::Disabled | DiscoveryState::Base) {
            return false;
        }
        // Many that are lost together are lost once.
        let losses = &mut self.losses[long as usize];
        if losses.count > 0 && sent_at < losses.noticed_at {
            return false;
        }
        *losses = Losses { count: losses.count + 1, noticed_at: now };
        //= https://www.rfc-editor.org/rfc/rfc8899#section-4.3
        //# This could use a
        //# mechanism implemented within the PL to detect excessive loss of
        //# data sent with a specific packet size and then conclude that this
        //# excessive loss could be a result of an invalid PLPMTU
        let is_black_hole = losses.count >= self.max_probes;
        if is_black_hole {
            self.black_holes += 1;
            if self.plpmtu < self.base {
                self.enter_error(None);
            } else {
                self.enter_base();
            }
        }
        is_black_hole
    }
}

impl Path {
    /// Follows what discovery has found out. Returns whether the path MTU is another one.
    pub(super) fn follow_discovery(&mut self) -> bool {
        let Some(discovery) = &self.discovery else { return false };
        let mtu_before = core::mem::replace(&mut self.mtu, discovery.plpmtu());
        let is_cut = discovery.is_cut() && self.destination.is_ipv4();
        self.fragments = if is_cut { Fragments::OfAll } else { Fragments::OfTooLong };
        let is_news = self.mtu != mtu_before;
        if is_news {
            self.pmdcs = pmdcs(self.mtu, self.destination);
            self.cc.set_segment_bytes(self.pmdcs() as u64);
        }
        is_news
    }

    /// Something that was sent here has arrived, in a packet that passes with an MTU of `needed_mtu`.
    #[inline]
    pub(crate) fn on_size_arrived(&mut self, needed_mtu: u16) {
        if let Some(discovery) = &mut self.discovery
            && let Some(long) = discovery.long(needed_mtu)
        {
            discovery.on_long_arrived(long);
        }
    }

    /// Something that was sent here at `sent_at` was lost, in such a packet.
    pub(crate) fn on_size_lost(&mut self, now: Instant, sent_at: Instant, needed_mtu: u16) {
        if let Some(discovery) = &mut self.discovery
            && let Some(long) = discovery.long(needed_mtu)
        {
            discovery.on_long_lost(now, sent_at, long);
        }
    }

    /// Tells if the packet that has been made is a probe of the path MTU, which IP must not cut.
    pub(crate) fn is_probe_departing(&mut self) -> bool {
        self.discovery.as_mut().is_some_and(|discovery| discovery.take_departing())
    }
}

/// A probe has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Round-trip time of the probe, if it was sent once.
    pub(crate) round_trip: Option<Duration>,
}

#[cfg(test)]
mod tests;
