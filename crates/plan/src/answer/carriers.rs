//! Settings of what lies between SCTP and its users: timers and queues of M2PA with MTP3, and of M3UA.

use super::estimate::{Estimate, Load, Range};
use super::loss;
use super::{Impossible, MARGIN, Numbers, Recommendation, Unit, between, kbit, time, up_to};
use crate::timers::{ANSWERS, AnswerTimer, M2PA_T7};

/// Octets of Ethernet of a proving message of M2PA with 80 octets of filler: its headers and state of 20, those of the
/// DATA chunk of 16, of the packet of 50, and its part of SACKs.
const PROVING: f64 = 80.0 + 20.0 + 16.0 + 50.0 + 20.5;

/// Time for which a link is proved that comes into service again, at least, in seconds.
const PROVED_S: f64 = 2.0;

/// Time since the step in which losses count, in seconds.
const LOOKED_AT_S: f64 = 60.0;

/// Interval between proving messages where nothing was said, in seconds.
const PROVING_INTERVAL_S: f64 = 0.01;

/// T(ack) and T(r) of M3UA where nothing asks for more, in seconds (RFC 4666, section 4.3.4.1).
const M3UA_LEAST_S: f64 = 2.0;

impl Numbers {
    /// Timers of M2PA and of MTP3 above it.
    pub(super) fn m2pa_settings(
        &self,
        rto_min: f64,
        outages: &dyn Fn(f64) -> f64,
        estimate: &mut Estimate,
        (settings, impossible): (&mut Vec<Recommendation>, &mut Vec<Impossible>),
    ) {
        for timer in [M2PA_T7].into_iter().chain(ANSWERS) {
            timer_setting(&timer, estimate, (rto_min, outages), settings, impossible);
        }
        self.outage_fault(rto_min, estimate, impossible);
        settings.push(self.proving_setting());
    }

    /// Timers and the queue of M3UA. Another ASP takes over when it has been told and has answered: a round trip.
    pub(super) fn m3ua_settings(
        &self,
        rto_min: f64,
        per_second: f64,
        estimate: &Estimate,
        settings: &mut Vec<Recommendation>,
    ) {
        let answered = estimate.acknowledged.most + 2.0 * self.gateway_delay;
        let value = up_to(MARGIN * (answered + rto_min), 0.1).max(M3UA_LEAST_S);
        let takes = format!("takes {}, after one loss {}", time(answered), time(answered + rto_min));
        settings.push(Recommendation::new("m3ua.t_ack", value, Unit::Second).within(Some(answered), None).because(
            format!("the acknowledgement of ASP Up and ASP Active {takes}; RFC 4666, section 4.3.4.1, begins with 2 s"),
        ));
        settings.push(
            Recommendation::new("m3ua.t_r", value, Unit::Second).within(Some(answered), None).because(
                format!("another ASP takes over as soon as it has been told and has answered, which {takes}"),
            ),
        );
        let came = per_second * value;
        let queue = up_to(MARGIN * came, 100.0);
        settings.push(
            Recommendation::new("m3ua.queue", queue, Unit::Count).within(Some(came), None).because(format!(
                "so many messages come in T(r) of {} for an application server that no ASP serves",
                time(value)
            )),
        );
    }

    /// Gives the interval at which a link that is proved sends messages, so that all links at once leave half of the
    /// band.
    fn proving_setting(&self) -> Recommendation {
        let fills = 8.0 * PROVING * f64::from(self.associations) / self.permanent.max(1.0);
        let value = up_to(2.0 * fills, PROVING_INTERVAL_S).max(PROVING_INTERVAL_S);
        Recommendation::new("m2pa.proving_interval", value, Unit::Second).within(Some(fills), None).because(
            format!(
                "a proving message takes {PROVING:.0} octets of Ethernet: {} {}, and what exceeds the band waits until \
                 T3 repeats it",
                if self.associations == 1 {
                    "a link that is proved sends".to_owned()
                } else {
                    format!("{} links that are proved at once send", self.associations)
                },
                kbit(8.0 * PROVING * f64::from(self.associations) / value),
            ),
        )
    }

    /// Refuses a loss of nothing where T7 is certain to take links out of service: what comes meanwhile is lost.
    fn outage_fault(&self, rto_min: f64, estimate: &mut Estimate, impossible: &mut Vec<Impossible>) {
        if estimate.standstill.least < M2PA_T7.most.as_secs_f64() {
            return;
        }
        let outage = PROVED_S + 2.0 * self.round_trip;
        estimate.lost = Range { least: estimate.lost.least.max(outage / LOOKED_AT_S), most: 1.0 };
        if impossible.iter().any(|impossible| impossible.breaks == "loss") {
            return;
        }
        impossible.push(Impossible {
            concerns: M2PA_T7.name,
            breaks: "loss",
            demand: "links that carry all messages".to_owned(),
            why: format!(
                "all links go out of service when T7 expires, and for {} at least what comes is lost",
                time(outage)
            ),
            possible: format!(
                "T7 of {} beyond the range, {}",
                time(up_to(MARGIN * (estimate.standstill.most + rto_min), 0.1)),
                if self.interruption > 0.0 { "or shorter interruptions" } else { "or a smaller load" }
            ),
        });
    }

    /// Gives the queue above SCTP.
    pub(super) fn queue_setting(&self, load: &Load, queue: f64, waiting: &Range) -> Recommendation {
        let full = queue * 8.0 * load.full.ethernet / (self.permanent + self.on_demand).max(1.0);
        let reason = format!(
            "{:.0} messages wait for the window at most, and a second of load may come at once; a full queue \
             delays by {}",
            waiting.most,
            time(full)
        );
        let setting = Recommendation::new("gateway.transmission_queue", queue, Unit::Count);
        setting.within(Some(waiting.most), None).because(reason)
    }
}

/// A timer that waits for an answer: the middle between what it must outlast and what its standard allows, so that
/// both are far, and the most where one loss would let it expire.
fn timer_setting(
    timer: &AnswerTimer,
    estimate: &Estimate,
    (rto_min, outages): (f64, &dyn Fn(f64) -> f64),
    settings: &mut Vec<Recommendation>,
    impossible: &mut Vec<Impossible>,
) {
    let (least, most) = (timer.least.as_secs_f64(), timer.most.as_secs_f64());
    // T7 runs from the last acknowledgement on: what is behind others does not wait alone.
    let waits = if timer.name == M2PA_T7.name { estimate.standstill } else { estimate.answer };
    let after_loss = waits.most + rto_min;
    // A link that goes out of service drops what waits on it: no later answer is certain then.
    let may_go_out = estimate.lost.most > 0.0 || estimate.standstill.most >= M2PA_T7.most.as_secs_f64();
    let certain = if may_go_out && timer.name != M2PA_T7.name {
        waits.least.min(2.0 * M2PA_T7.most.as_secs_f64())
    } else {
        waits.least
    };
    if certain >= most {
        impossible.push(Impossible {
            concerns: timer.name,
            breaks: timer.name,
            demand: format!("{} of {} at most ({})", timer.name, timer.most, timer.source),
            why: format!("{} takes {}", timer.waits_for, time(waits.least)),
            possible: format!(
                "a value of the equipment beyond the range: {}",
                time(up_to(MARGIN * after_loss, 0.1))
            ),
        });
    }
    let rarely = |value: f64| timer.name != M2PA_T7.name || outages(value) <= loss::RARELY;
    let (value, clause) = if after_loss < most {
        let outlasts = up_to((MARGIN * after_loss).min(most).max(least), 0.1).min(most);
        // Where packets are lost, as many losses in a row as come now and then.
        let mut longer =
            (0..).map(|tenths| outlasts + 0.1 * f64::from(tenths)).take_while(|value| *value < most);
        (longer.find(|value| rarely(*value)).unwrap_or(most), "and outlasts one loss")
    } else {
        (most, "which one loss exceeds: the answer then takes longer than the standard allows")
    };
    settings.push(
        Recommendation::new(timer.name, value, Unit::Second).within(Some(waits.most), None).because(format!(
            "{} takes {}, after one loss {}; {} allows {} to {}, {clause}",
            timer.waits_for,
            between(&waits),
            time(after_loss),
            timer.source,
            timer.least,
            timer.most
        )),
    );
}
