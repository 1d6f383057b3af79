//! Configurations of SCTP: values that contradict each other.

use slantpath_base::DataSize;
use slantpath_cc::OwnControllers;
use slantpath_cc::sctp::WindowPolicy;
use slantpath_reader::{Fault, Faults, Origin, Place, Setting, Tables, fault_of};
use slantpath_sctp::{self as sctp, Algorithm, ConfigFinding, PathMtuDiscovery};

use super::authentication;
use super::schema::{FixedCwnd, SctpProfile};
use super::threshold::Threshold;
use crate::congestion::{self, Governed};
use crate::fault::{timeouts, within};

/// The least a_rwnd that an INIT may advertise (RFC 9260, section 3.3.2).
const LEAST_WINDOW: DataSize = DataSize::from_bytes(1_500);
/// The least IPv4 packet that every host accepts (RFC 791, section 3.1).
pub const LEAST_PATH_MTU: DataSize = DataSize::from_bytes(576);
const LARGEST_PATH_MTU: DataSize = DataSize::from_bytes(65_535);

/// Finds controllers of the program's own, reports values of profiles that contradict each other, and warns of those
/// that are probably a mistake.
pub fn check(profiles: &mut Tables<SctpProfile>, controllers: &OwnControllers, faults: &mut Faults) {
    for (_, profile) in profiles.iter_mut() {
        congestion::resolve(&mut profile.congestion_control, controllers, faults);
        timeouts(&profile.rto_initial, &profile.rto_min, &profile.rto_max, faults);
        values(profile, faults);
    }
}

fn values(profile: &SctpProfile, faults: &mut Faults) {
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
    let governed = Governed {
        algorithm: profile.congestion_control.policy(),
        place: profile.congestion_control.place(),
        is_timed: profile.loss_detection.policy() == sctp::LossDetection::Rack,
        known_capacity: &profile.known_capacity,
        ecn: &profile.ecn,
        initial_cwnd: profile.initial_cwnd.quantity().map(|size| (size, profile.initial_cwnd.place())),
        send_buffer: *profile.send_buffer,
        receive_buffer: *profile.receive_buffer,
    };
    congestion::check(&governed, faults);
    path_mtu(profile, faults);
    authentication::check(profile, faults);
    multipath(profile, governed.algorithm, faults);
    largest_window(profile, faults);
    buffers_hold(profile, faults);
    if governed.algorithm != Algorithm::Standard && *profile.fixed_cwnd != FixedCwnd::Off {
        let fault = Fault::new("a fixed window is not governed by a controller");
        faults.report(
            profile.fixed_cwnd.place(),
            fault.help("write `fixed_cwnd` or `congestion_control`, not both"),
        );
    }
    for finding in profile.config(1).check() {
        doubt(profile, finding, faults);
    }
    if *profile.inbound_streams == 0 {
        let fault = Fault::new("an association has one inbound stream at least");
        faults.report(profile.inbound_streams.place(), fault.help("write `inbound_streams = 1`, or more"));
    }
}

/// Says what the configuration itself finds in its values, at the key that has them; what the checks of keys say in
/// words of their own is left to them.
fn doubt(profile: &SctpProfile, finding: ConfigFinding, faults: &mut Faults) {
    let at = |setting: &[(Place, Origin)]| {
        let given = setting.iter().find(|(_, origin)| *origin == Origin::Given);
        given.or(setting.first()).map_or(profile.preset.place(), |(place, _)| *place)
    };
    let fault = |help: &str| Fault::new(finding.to_string()).help(help);
    match finding {
        // By `timeouts`, `buffers_hold`, `within` and the bounds of keys.
        ConfigFinding::RtoMinAboveMax { .. }
        | ConfigFinding::RtoInitialOutside { .. }
        | ConfigFinding::WindowBeyondBuffer { .. }
        | ConfigFinding::SackDelayTooLong { .. }
        | ConfigFinding::ReceiveBufferTooSmall { .. }
        | ConfigFinding::PathMtuTooSmall { .. } => {}
        ConfigFinding::AddressesNeverAuthenticated => {
            let place = profile.extensions.as_ref().map_or(profile.preset.place(), Setting::place);
            let help = "add \"authentication\" to `extensions`, or write `unauthenticated_addresses = true`";
            faults.warn(place, fault(help));
        }
        ConfigFinding::NeverAgreed { .. } => {
            let place = profile.required_extensions.as_ref().map_or(profile.preset.place(), Setting::place);
            let help = "add them to `extensions`, too, and to \"dynamic-addresses\" \"authentication\"";
            faults.report(place, fault(help));
        }
        ConfigFinding::SwitchoverTooEarly(error) => {
            let fault = fault_of(&error, "let it be larger");
            faults.report(profile.primary_switchover_max_retrans.place(), fault);
        }
        ConfigFinding::RtoMinWithinSackDelay { .. } => {
            let (min, delay) = (&profile.rto_min, &profile.sack_delay);
            let place = at(&[(min.place(), min.origin()), (delay.place(), delay.origin())]);
            faults.warn(place, fault("let `rto_min` be above `sack_delay`"));
        }
        ConfigFinding::PathOutlivesAssociation { .. } => {
            let (path, all) = (&profile.path_max_retrans, &profile.association_max_retrans);
            let place = at(&[(path.place(), path.origin()), (all.place(), all.origin())]);
            faults.warn(place, fault("let `association_max_retrans` be above `path_max_retrans`"));
        }
        ConfigFinding::NeverPotentiallyFailed { .. } => {
            let place = profile.potentially_failed_max_retrans.place();
            let help = "let `potentially_failed_max_retrans` be below `path_max_retrans`, or write \"off\"";
            faults.warn(place, fault(help));
        }
    }
}

/// Warns of a window that is never filled, for a buffer holds less: what the peer has room for (`peer_rwnd` begins with
/// its `receive_buffer`), or what may be in flight.
fn buffers_hold(profile: &SctpProfile, faults: &mut Faults) {
    let config = profile.config(1);
    let fixed = match config.congestion.window {
        WindowPolicy::Fixed { cwnd } => Some(("a fixed window of", cwnd, profile.fixed_cwnd.place())),
        WindowPolicy::Adaptive => None,
    };
    let most = config.congestion.max_cwnd.map(|most| {
        let place = profile.max_cwnd.as_ref().map_or(profile.preset.place(), Setting::place);
        ("a window of at most", most, place)
    });
    let (name, least) = if *profile.send_buffer < *profile.receive_buffer {
        ("send_buffer", *profile.send_buffer)
    } else {
        ("receive_buffer", *profile.receive_buffer)
    };
    for (what, cwnd, place) in fixed.into_iter().chain(most) {
        let cwnd = DataSize::from_bytes(cwnd);
        if cwnd > least {
            let message = format!("{what} {cwnd} is never filled: `{name}` holds {least}");
            let help = format!("make `{name}` {cwnd} or larger, or the window smaller");
            faults.warn(place, Fault::new(message).help(help));
        }
    }
}

/// Reports keys that only several paths at once give a meaning, and what their pooled windows want.
fn multipath(profile: &SctpProfile, algorithm: Algorithm, faults: &mut Faults) {
    if let Some(split) = profile.split_buffers.as_ref().filter(|_| !profile.multipath().is_on()) {
        let fault = Fault::new("`split_buffers` says nothing where one path is used at a time");
        faults.report(split.place(), fault.help("write `multipath = \"concurrent\"`, or leave it out"));
    }
    if let Some(choice) = &profile.multipath
        && profile.multipath().is_pooled()
        && (algorithm != Algorithm::Standard || *profile.fixed_cwnd != FixedCwnd::Off)
    {
        let fault = Fault::new("only windows of RFC 9260's own controller can be pooled");
        let help = "write `congestion_control = \"rfc9260\"`, or `multipath = \"concurrent\"`";
        faults.report(choice.place(), fault.help(help));
    }
}

/// Sizes between which the path MTU is looked for, where it is.
fn path_mtu(profile: &SctpProfile, faults: &mut Faults) {
    let sizes = [("base_path_mtu", &profile.base_path_mtu), ("max_path_mtu", &profile.max_path_mtu)];
    if profile.path_mtu_discovery() == PathMtuDiscovery::Off {
        let places = sizes.map(|(name, size)| (name, size.as_ref().map(Setting::place)));
        let others = [
            ("max_probes", profile.max_probes.as_ref().map(Setting::place)),
            ("pmtu_raise_timer", profile.pmtu_raise_timer.as_ref().map(Setting::place)),
        ];
        for (name, place) in places.into_iter().chain(others) {
            if let Some(place) = place {
                let fault = Fault::new(format!("`{name}` says nothing where no probe is sent"));
                faults.report(place, fault.help("write `path_mtu_discovery = \"probing\"`, or leave it out"));
            }
        }
        return;
    }
    for (name, size) in sizes {
        if let Some(size) = size {
            within(name, size, LEAST_PATH_MTU, LARGEST_PATH_MTU, faults);
        }
    }
    if let Some(probes) = profile.max_probes.as_ref().filter(|probes| ***probes == 0) {
        let fault = Fault::new("a size that is never probed is never known to pass");
        faults.report(probes.place(), fault.help("write 1 or more; RFC 8899 has 3"));
    }
    let config = profile.config(1);
    if config.max_path_mtu < config.base_path_mtu {
        let message = format!(
            "no packet is longer than {} bytes, and {} are taken for granted",
            config.max_path_mtu, config.base_path_mtu
        );
        let place = profile.max_path_mtu.as_ref().or(profile.base_path_mtu.as_ref()).map(Setting::place);
        let place = place.unwrap_or_else(|| profile.preset.place());
        faults.report(place, Fault::new(message).help("let `base_path_mtu` be the lesser"));
    }
}

/// A limit of cwnd that leaves a window, and one that it can reach.
fn largest_window(profile: &SctpProfile, faults: &mut Faults) {
    let Some(most) = &profile.max_cwnd else { return };
    if most.as_bytes() == 0 {
        never_sends("max_cwnd", most.place(), faults);
    }
    if *profile.fixed_cwnd != FixedCwnd::Off {
        let fault = Fault::new("a fixed window grows to no limit");
        faults.report(most.place(), fault.help("write `fixed_cwnd` or `max_cwnd`, not both"));
    }
    if let Some(initial) = profile.initial_cwnd.quantity().filter(|initial| *initial > **most) {
        let message =
            format!("an initial window of {initial} is larger than what it may grow to, {}", **most);
        faults
            .report(most.place(), Fault::new(message).help("make it larger, or the initial window smaller"));
    }
}

fn never_sends(name: &str, place: Place, faults: &mut Faults) {
    faults
        .report(place, Fault::new(format!("with `{name} = 0` nothing is ever sent")).help("write 1 or more"));
}
