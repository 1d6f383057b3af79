//! Keys of profiles that act only beside another setting, which is not made: their values change nothing.

use slantpath_cc::sctp::WindowPolicy;
use slantpath_profiles::sctp::SctpProfile;
use slantpath_profiles::tcp::TcpProfile;
use slantpath_profiles::tcp::schema as tcp_schema;
use slantpath_reader::{Fault, Faults, Origin, Place, Setting};
use slantpath_scenario::schema::File;
use slantpath_sctp::{Algorithm, PathMtuDiscovery};
use slantpath_tcp::{self as tcp_stack, TcpConfig};

/// End of the warning of such a key.
pub(crate) const NO_EFFECT: &str = "has no effect";

/// Algorithm that begins with no ssthresh.
const fn has_no_ssthresh(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::Backlog | Algorithm::Bbr | Algorithm::Bbr3)
}

/// Warns of keys that were given another value than their default's, and to no effect. A value that is the default's
/// is written in merged forms, and says what holds anyway.
pub(crate) fn check(file: &File, faults: &mut Faults) {
    for (_, profile) in file.sctp.iter() {
        sctp(profile, faults);
    }
    for (_, profile) in file.tcp.iter() {
        tcp(profile, faults);
    }
}

/// A key that may have no effect.
struct Key {
    name: &'static str,
    place: Place,
    /// True if somebody gave it another value than it has by default.
    is_changed: bool,
}

impl Key {
    fn of<T>(name: &'static str, setting: &Setting<T>, differs: bool) -> Self {
        let is_changed = differs && setting.origin() == Origin::Given;
        Self { name, place: setting.place(), is_changed }
    }

    fn warn(&self, when: &str, help: &str, faults: &mut Faults) {
        if self.is_changed {
            let fault = Fault::new(format!("{when}, `{}` {NO_EFFECT}", self.name));
            faults.warn(self.place, fault.help(format!("{help}, or leave it out")));
        }
    }
}

fn sctp(profile: &SctpProfile, faults: &mut Faults) {
    let (own, usual) = (profile.config(1), profile.preset.config());
    let algorithm = own.congestion_control;
    let (policy, default) = (own.congestion, usual.congestion);
    let growth = Key::of("cwnd_growth", &profile.cwnd_growth, policy.growth != default.growth);
    let fast = policy.fast_retransmit != default.fast_retransmit;
    let fast = Key::of("fast_retransmit_window", &profile.fast_retransmit_window, fast);
    let ssthresh = own.initial_ssthresh_bytes != usual.initial_ssthresh_bytes;
    let ssthresh = Key::of("initial_ssthresh", &profile.initial_ssthresh, ssthresh);
    if matches!(policy.window, WindowPolicy::Fixed { .. }) {
        let cwnd = own.initial_cwnd_bytes != usual.initial_cwnd_bytes;
        let cwnd = Key::of("initial_cwnd", &profile.initial_cwnd, cwnd);
        let slow_start = policy.slow_start != default.slow_start;
        let slow_start = Key::of("slow_start", &profile.slow_start, slow_start);
        for key in [growth, fast, ssthresh, cwnd, slow_start] {
            key.warn("beside a fixed window", "write `fixed_cwnd = \"off\"`", faults);
        }
    } else {
        if algorithm != Algorithm::Standard {
            for key in [growth, fast] {
                let when = "with another controller than RFC 9260's own";
                key.warn(when, "write `congestion_control = \"rfc9260\"`", faults);
            }
        }
        if has_no_ssthresh(algorithm) {
            let when = "with a controller that has no ssthresh";
            ssthresh.warn(when, "choose a `congestion_control` other than BBR and `backlog`", faults);
        }
    }
    let gives_way = own.fast_convergence != usual.fast_convergence;
    let gives_way = Key::of("fast_convergence", &profile.fast_convergence, gives_way);
    if algorithm != Algorithm::Cubic {
        gives_way.warn("without CUBIC", "write `congestion_control = \"cubic\"`", faults);
    }
    if own.path_mtu_discovery == PathMtuDiscovery::Probing {
        let mtu = own.initial_path_mtu != usual.initial_path_mtu;
        let mtu = Key::of("initial_path_mtu", &profile.initial_path_mtu, mtu);
        mtu.warn("where probes look for the path MTU", "write `base_path_mtu` in its place", faults);
    }
}

fn tcp(profile: &TcpProfile, faults: &mut Faults) {
    let usual = TcpConfig::default();
    let algorithm = profile.congestion_control.policy();
    if algorithm != Algorithm::Cubic {
        let differs = *profile.fast_convergence != usual.fast_convergence;
        let key = Key::of("fast_convergence", &profile.fast_convergence, differs);
        key.warn("without CUBIC", "write `congestion_control = \"cubic\"`", faults);
    }
    if algorithm != Algorithm::Standard {
        let differs = profile.unused_window.policy() != usual.unused_window;
        let key = Key::of("unused_window", &profile.unused_window, differs);
        let when = "with another controller than `new-reno`";
        key.warn(when, "write `congestion_control = \"new-reno\"`", faults);
    }
    if profile.loss_detection.policy() != tcp_stack::LossDetection::Rack {
        let differs = *profile.max_ack_delay != usual.max_ack_delay;
        let key = Key::of("max_ack_delay", &profile.max_ack_delay, differs);
        key.warn("without loss probes", "write `loss_detection = \"rack\"`", faults);
    }
    if *profile.initial_cwnd != tcp_schema::InitialCwnd::Rule {
        let differs = *profile.initial_window != tcp_schema::InitialWindowRule::Rfc6928;
        let key = Key::of("initial_window", &profile.initial_window, differs);
        key.warn("beside `initial_cwnd`", "leave `initial_cwnd` out", faults);
    }
}
