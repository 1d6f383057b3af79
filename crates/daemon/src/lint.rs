//! Settings of programs that are probably a mistake, each said once, with the reason and a value.

use std::collections::BTreeSet;

use slantpath_base::Duration;
use slantpath_live::SctpConfig;
use slantpath_requests as requests;

/// Looks at what programs set.
#[derive(Debug)]
pub(crate) struct Lint {
    sack_delay: Duration,
    told: BTreeSet<Doubt>,
    sayings: Vec<String>,
}

/// Kind of setting that is doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    Heartbeat,
    RtoMin,
    Window,
}

// Linux's numbers.
const SOL_SCTP: i32 = 132;
const SCTP_RTOINFO: i32 = 0;
const SCTP_PEER_ADDR_PARAMS: i32 = 9;
const SOL_SOCKET: i32 = 1;
const SO_RCVBUF: i32 = 8;

/// Place of `srto_min` in `struct sctp_rtoinfo`: behind the association, `srto_initial` and `srto_max`.
const SRTO_MIN_AT: usize = 12;
/// Place of `spp_hbinterval` in `struct sctp_paddrparams`: behind the association and a `struct sockaddr_storage`.
const SPP_HBINTERVAL_AT: usize = 4 + 128;
/// Place of `spp_flags`: behind the interval, `spp_pathmaxrxt`, `spp_pathmtu` and `spp_sackdelay`.
const SPP_FLAGS_AT: usize = SPP_HBINTERVAL_AT + 4 + 2 + 4 + 4;
const SPP_HB_ENABLE: u32 = 1;

/// Delay of acknowledgements that another end may have, if nothing else is known of it (RFC 9260, section 6.2).
const PEERS_SACK_DELAY: Duration = Duration::from_millis(200);
/// Time between handovers of a constellation in a low orbit, which reassigns satellites so often.
const HANDOVER: Duration = Duration::from_secs(15);
/// Round trip over a geostationary satellite and what a link there carries at least: 600 ms at 10 Mbit/s.
const GEO_WINDOW_BYTES: u32 = 750_000;

impl Lint {
    pub(crate) fn of(defaults: &SctpConfig) -> Self {
        Self {
            sack_delay: defaults.sack_delay.max(PEERS_SACK_DELAY),
            told: BTreeSet::new(),
            sayings: Vec::new(),
        }
    }

    /// Looks at a request.
    pub(crate) fn look(&mut self, request: &requests::Request) {
        let requests::Request::SetOption { level, name, value, .. } = request else { return };
        let word = |at: usize| value.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
        match (*level, *name) {
            (SOL_SCTP, SCTP_RTOINFO) => {
                let Some(millis) = word(SRTO_MIN_AT).filter(|millis| *millis > 0) else { return };
                let (min, delay) = (Duration::from_millis(millis.into()), self.sack_delay);
                if min <= delay {
                    self.say(
                        Doubt::RtoMin,
                        format!(
                            "a program has set RTO.Min to {min}, and its peer may hold acknowledgements back for \
                             {delay}: messages are retransmitted that have arrived; set at least {}",
                            delay.saturating_add(Duration::from_millis(50))
                        ),
                    );
                }
            }
            (SOL_SCTP, SCTP_PEER_ADDR_PARAMS) => {
                let is_enabled = word(SPP_FLAGS_AT).is_some_and(|flags| flags & SPP_HB_ENABLE != 0);
                let Some(millis) = word(SPP_HBINTERVAL_AT).filter(|_| is_enabled) else { return };
                let interval = Duration::from_millis(millis.into());
                if interval > HANDOVER {
                    self.say(
                        Doubt::Heartbeat,
                        format!(
                            "a program has set the HEARTBEAT interval to {interval}, and satellites in low orbits \
                             change every {HANDOVER}: an idle path that a handover has broken is found late; set 5 s"
                        ),
                    );
                }
            }
            (SOL_SOCKET, SO_RCVBUF) => {
                let Some(bytes) = word(0).filter(|bytes| (1..GEO_WINDOW_BYTES / 2).contains(bytes)) else {
                    return;
                };
                self.say(
                    Doubt::Window,
                    format!(
                        "a program has set SO_RCVBUF to {bytes} bytes, which counts twice: a link over a \
                         geostationary satellite (600 ms) carries {} kbit/s at most with it; 10 Mbit/s need {}",
                        u64::from(bytes) * 2 * 8 / 600,
                        GEO_WINDOW_BYTES / 2
                    ),
                );
            }
            _ => {}
        }
    }

    fn say(&mut self, doubt: Doubt, saying: String) {
        if self.told.insert(doubt) {
            self.sayings.push(saying);
        }
    }

    /// Takes what is to be said.
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sayings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(level: i32, name: i32, value: &[u8]) -> Vec<String> {
        let mut lint = Lint::of(&SctpConfig::default());
        for _ in 0..2 {
            lint.look(&requests::Request::SetOption { level, name, value: value.to_vec(), waits: false });
        }
        lint.take()
    }

    fn rtoinfo(min: u32) -> Vec<u8> {
        [0, 1_000, 60_000, min].into_iter().flat_map(u32::to_ne_bytes).collect()
    }

    fn paddrparams(interval: u32, flags: u32) -> Vec<u8> {
        let mut value = vec![0; SPP_FLAGS_AT + 10];
        value[SPP_HBINTERVAL_AT..][..4].copy_from_slice(&interval.to_ne_bytes());
        value[SPP_FLAGS_AT..][..4].copy_from_slice(&flags.to_ne_bytes());
        value
    }

    #[test]
    fn each_doubt_is_said_once_with_its_reason_and_a_value() {
        let of_rto = said(SOL_SCTP, SCTP_RTOINFO, &rtoinfo(100));
        assert_eq!(of_rto.len(), 1);
        assert!(
            of_rto[0].contains("RTO.Min to 100 ms") && of_rto[0].ends_with("at least 250 ms"),
            "{of_rto:?}"
        );
        let of_heartbeat = said(SOL_SCTP, SCTP_PEER_ADDR_PARAMS, &paddrparams(30_000, SPP_HB_ENABLE));
        assert!(of_heartbeat.len() == 1 && of_heartbeat[0].contains("to 30 s"), "{of_heartbeat:?}");
        let of_window = said(SOL_SOCKET, SO_RCVBUF, &65_536_u32.to_ne_bytes());
        assert!(of_window.len() == 1 && of_window[0].contains("need 375000"), "{of_window:?}");
    }

    #[test]
    fn what_is_meant_is_passed_over() {
        for (level, name, value) in [
            (SOL_SCTP, SCTP_RTOINFO, rtoinfo(201)),
            (SOL_SCTP, SCTP_RTOINFO, rtoinfo(0)),
            (SOL_SCTP, SCTP_RTOINFO, rtoinfo(100)[..12].to_vec()),
            (SOL_SCTP, SCTP_PEER_ADDR_PARAMS, paddrparams(15_000, SPP_HB_ENABLE)),
            (SOL_SCTP, SCTP_PEER_ADDR_PARAMS, paddrparams(30_000, 0)),
            (SOL_SOCKET, SO_RCVBUF, 375_000_u32.to_ne_bytes().to_vec()),
            (SOL_SOCKET, SO_RCVBUF, Vec::new()),
            (SOL_SOCKET, 7, 1_u32.to_ne_bytes().to_vec()),
        ] {
            assert_eq!(said(level, name, &value), [""; 0], "{level} {name}");
        }
    }
}
