//! Configurations of TCP: values that contradict each other.

use slantpath_base::{DataSize, Duration};
use slantpath_cc::OwnControllers;
use slantpath_reader::{Fault, Faults, Tables};
use slantpath_tcp as tcp;

use super::schema::TcpProfile;
use crate::congestion::{self, Governed};
use crate::fault::{positive, timeouts, within};

/// The delay of an ACK that RFC 9293, section 3.8.6.3, does not allow any more.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(500);
/// One byte more than nothing beside the largest options would be too little to call a segment.
const LEAST_MSS: DataSize = DataSize::from_bytes(64);
const LARGEST_MSS: DataSize = DataSize::from_bytes(65_535 - 40);
/// 16 bits of window shifted by 14 (RFC 7323, section 2.3).
const LARGEST_TCP_WINDOW: DataSize = DataSize::from_bytes(65_535 << 14);

/// Finds controllers of the program's own, reports values of profiles that contradict each other, and warns of those
/// that are probably a mistake.
pub fn check(profiles: &mut Tables<TcpProfile>, controllers: &OwnControllers, faults: &mut Faults) {
    for (_, profile) in profiles.iter_mut() {
        congestion::resolve(&mut profile.congestion_control, controllers, faults);
        timeouts(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
        values(profile, faults);
    }
}

fn values(profile: &TcpProfile, faults: &mut Faults) {
    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.3
    //# an ACK should not be excessively delayed; in particular, the delay MUST be less than 0.5 seconds
    if profile.delayed_ack.quantity().is_some_and(|delay| delay >= LONGEST_ACK_DELAY) {
        let message = format!("an ACK cannot be held back for {}", *profile.delayed_ack);
        let help = "RFC 9293, section 3.8.6.3: less than 500 ms";
        faults.report(profile.delayed_ack.place(), Fault::new(message).help(help));
    }
    within("mss", &profile.mss, LEAST_MSS, LARGEST_MSS, faults);
    within("receive_buffer", &profile.receive_buffer, *profile.mss, LARGEST_TCP_WINDOW, faults);
    for (name, count) in [("duplicate_ack_threshold", &profile.duplicate_ack_threshold)] {
        if **count == 0 {
            let fault = Fault::new(format!("with `{name} = 0` everything counts as lost"));
            faults.report(count.place(), fault.help("write 1 or more; RFC 5681 has 3"));
        }
    }
    if *profile.byte_counting_limit == 0 {
        let fault = Fault::new("with `byte_counting_limit = 0` no window ever opens");
        faults.report(profile.byte_counting_limit.place(), fault.help("write 1 or 2; RFC 5681 has 1"));
    }
    positive(&profile.clock_granularity, "a clock's tick", faults);
    let is_timed = profile.loss_detection.policy() == tcp::LossDetection::Rack;
    if is_timed && !*profile.sack {
        let fault = Fault::new("without SACK no loss is found by time");
        faults.report(profile.loss_detection.place(), fault.help("write `sack = true`"));
    }
    let governed = Governed {
        algorithm: profile.congestion_control.policy(),
        place: profile.congestion_control.place(),
        is_timed,
        known_capacity: &profile.known_capacity,
        ecn: &profile.ecn,
        initial_cwnd: profile.initial_cwnd.quantity().map(|size| (size, profile.initial_cwnd.place())),
        send_buffer: *profile.send_buffer,
        receive_buffer: *profile.receive_buffer,
    };
    congestion::check(&governed, faults);
}
