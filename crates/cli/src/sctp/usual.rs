//! Settings of programs that choose none, where neither a profile nor a flag says anything: Linux's.

use slantpath_daemon::Sockets;
use slantpath_profiles::Assignment;

use crate::arguments::SctpArguments;

/// Lays flags above Linux's values. A profile, or a preset, has values of its own for all keys.
pub(super) fn above_usual(arguments: &SctpArguments) -> SctpArguments {
    let mut arguments = arguments.clone();
    let names_preset = arguments.assignments().iter().any(|one| one.key == "preset");
    if arguments.profile.is_some() || names_preset {
        return arguments;
    }
    let usual = Sockets::usual_settings();
    let streams = usual.inbound_streams.to_string();
    let keys = [("inbound_streams", streams.as_str()), ("extensions", "[\"partial-reliability\"]")];
    arguments.lay_below(keys.map(|(key, value)| Assignment::new(key, key, value)));
    arguments
}

/// Number of streams that a program asks for which has not said how many: as many as have a value of their own at
/// least.
pub(super) fn outbound_streams(arguments: &SctpArguments) -> u16 {
    let valued = u16::try_from(arguments.stream_values.len()).unwrap_or(u16::MAX);
    Sockets::usual_settings().outbound_streams.max(valued)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use slantpath_live::{Extension, SctpConfig};
    use slantpath_runner::OwnKinds;

    use super::*;
    use crate::arguments::{Arguments, Command};
    use crate::live::settings::profile;

    fn settings(words: &[&str]) -> SctpConfig {
        let line = [&["slantpath", "sctp"], words, &["--", "true"]].concat();
        let Command::Sctp(arguments) = Arguments::parse_from(line).command else { panic!("another command") };
        let profile = profile(&above_usual(&arguments.sctp), &OwnKinds::none()).unwrap();
        profile.config(outbound_streams(&arguments.sctp))
    }

    #[test]
    fn what_nobody_sets_is_linux_s_and_flags_stand_above_it() {
        let usual = Sockets::usual_settings();
        let of = |words: &[&str]| {
            let config = settings(words);
            (config.outbound_streams, config.inbound_streams, config.extensions)
        };
        assert_eq!(of(&[]), (usual.outbound_streams, usual.inbound_streams, usual.extensions));
        assert_eq!(of(&["--sctp", "inbound_streams=7"]).1, 7);
        let own = of(&["--sctp", "extensions=[\"stream-reconfiguration\"]"]).2;
        assert!(own.contain(Extension::Reconfiguration) && !own.contain(Extension::PartialReliability));
        let preset = of(&["--sctp", "preset=rfc2960"]);
        assert_eq!(
            (preset.1, preset.2),
            (SctpConfig::rfc2960().inbound_streams, SctpConfig::rfc2960().extensions)
        );
        let values = of(&["--stream-scheduling", "priority", "--stream-values", "1,1,1,1,1,1,1,1,1,1,1,1"]);
        assert_eq!(values.0, 12);
    }
}
