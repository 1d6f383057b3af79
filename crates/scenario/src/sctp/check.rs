//! Protocol configurations: values that contradict each other.

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Fault, Faults, Place, Setting, fault_of};

use crate::check::positive;
use crate::schema::{File, SctpProfile, TcpProfile, Threshold};

/// The delay of an ACK that RFC 9293, section 3.8.6.3, does not allow any more.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(500);
/// The least a_rwnd that an INIT may advertise (RFC 9260, section 3.3.2).
const LEAST_WINDOW: DataSize = DataSize::from_bytes(1_500);
/// The least IPv4 packet that every host accepts (RFC 791, section 3.1).
pub(crate) const LEAST_PATH_MTU: DataSize = DataSize::from_bytes(576);
const LARGEST_PATH_MTU: DataSize = DataSize::from_bytes(65_535);
/// One byte more than nothing beside the largest options would be too little to call a segment.
const LEAST_MSS: DataSize = DataSize::from_bytes(64);
const LARGEST_MSS: DataSize = DataSize::from_bytes(65_535 - 40);
/// 16 bits of window shifted by 14 (RFC 7323, section 2.3).
const LARGEST_TCP_WINDOW: DataSize = DataSize::from_bytes(65_535 << 14);

pub(crate) fn check(file: &File, faults: &mut Faults) {
    for (_, profile) in file.sctp.iter() {
        rto(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
        sctp(profile, faults);
    }
    for (_, profile) in file.tcp.iter() {
        rto(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
        tcp(profile, faults);
    }
}

fn tcp(profile: &TcpProfile, faults: &mut Faults) {
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
    positive(&profile.clock_granularity, "a clock's tick", faults);
}

fn never_sends(name: &str, place: Place, faults: &mut Faults) {
    faults
        .report(place, Fault::new(format!("with `{name} = 0` nothing is ever sent")).help("write 1 or more"));
}

fn sctp(profile: &SctpProfile, faults: &mut Faults) {
    within(
        "receive_buffer",
        &profile.receive_buffer,
        LEAST_WINDOW,
        DataSize::from_bytes(u32::MAX.into()),
        faults,
    );
    within("initial_path_mtu", &profile.initial_path_mtu, LEAST_PATH_MTU, LARGEST_PATH_MTU, faults);
    for (name, count) in [
        ("sack_frequency", &profile.sack_frequency),
        ("fast_retransmit_threshold", &profile.fast_retransmit_threshold),
        ("byte_counting_limit", &profile.byte_counting_limit),
        ("hb_max_burst", &profile.hb_max_burst),
        ("max_peer_addresses", &profile.max_peer_addresses),
    ] {
        if **count == 0 {
            never_sends(name, count.place(), faults);
        }
    }
    if *profile.max_burst == Threshold::Above(0) {
        never_sends("max_burst", profile.max_burst.place(), faults);
    }
    for (name, shift) in
        [("rto_alpha_shift", &profile.rto_alpha_shift), ("rto_beta_shift", &profile.rto_beta_shift)]
    {
        if **shift == 0 {
            let fault = Fault::new(format!("`{name}` of 0 leaves no average"));
            faults.report(shift.place(), fault.help("let it lie between 1 and 16; the RFC's are 3 and 2"));
        }
    }
    if *profile.rto_back_off_percent < 100 {
        let message = format!("an RTO of {} % after an expiry would shrink", *profile.rto_back_off_percent);
        let help = "write 100 to leave it as it is, 200 to double it as RFC 9260 does";
        faults.report(profile.rto_back_off_percent.place(), Fault::new(message).help(help));
    }
    if let Err(error) = profile.config(1).thresholds().check() {
        let fault = fault_of(&error, "let it be larger");
        faults.report(profile.primary_switchover_max_retrans.place(), fault);
    }
    if *profile.inbound_streams == 0 {
        let fault = Fault::new("an association has one inbound stream at least");
        faults.report(profile.inbound_streams.place(), fault.help("write `inbound_streams = 1`, or more"));
    }
}

fn within(name: &str, size: &Setting<DataSize>, least: DataSize, most: DataSize, faults: &mut Faults) {
    if !(least..=most).contains(&**size) {
        let message = format!("`{name}` of {} cannot be", **size);
        let help = format!("it lies between {} and {} bytes", least.as_bytes(), most.as_bytes());
        faults.report(size.place(), Fault::new(message).help(help));
    }
}

fn rto(initial: &Setting<Duration>, min: &Setting<Duration>, max: &Setting<Duration>, faults: &mut Faults) {
    if **min > **max {
        let message = format!("`rto_min` is {}, `rto_max` is {}: no time-out satisfies both", **min, **max);
        let at = if min.origin() == slantpath_reader::Origin::Given { min } else { max };
        faults.report(at.place(), Fault::new(message).help("let `rto_min` be at most `rto_max`"));
        return;
    }
    if !(**min..=**max).contains(&**initial) {
        let message = format!("`rto_initial` is {}, outside of {} to {}", **initial, **min, **max);
        let at = [initial, min, max].into_iter().find(|s| s.origin() == slantpath_reader::Origin::Given);
        let help = "let it lie between `rto_min` and `rto_max`";
        faults.report(at.unwrap_or(initial).place(), Fault::new(message).help(help));
    }
}
