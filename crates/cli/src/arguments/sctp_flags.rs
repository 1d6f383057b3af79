//! Flags that stand for a setting of SCTP each: `--rto-min "1 s"` is `--sctp rto_min="1 s"`.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches};
use slantpath_profiles::Assignment;

/// Group of all these flags.
pub(super) const GROUP: &str = "sctp_flags";

/// A flag that stands for a setting.
struct Alias {
    flag: &'static str,
    key: &'static str,
    form: Form,
    help: &'static str,
}

/// Form in which a flag has the value.
enum Form {
    /// As a scenario has it; a help calls it by this name.
    Value(&'static str),
    /// Number of bytes.
    Bytes,
    /// Names with commas between, also of several such flags.
    Names,
    /// Flag without a value, which stands for this one.
    Switch(&'static str),
}

const ALIASES: [Alias; 17] = [
    alias("rto-initial", "rto_initial", Form::Value("TIME"), "RTO.Initial, 1 s if absent"),
    alias("rto-min", "rto_min", Form::Value("TIME"), "RTO.Min, 1 s if absent"),
    alias("rto-max", "rto_max", Form::Value("TIME"), "RTO.Max, 60 s if absent"),
    alias("path-max-retrans", "path_max_retrans", Form::Value("N"), "Path.Max.Retrans, 5 if absent"),
    alias(
        "association-max-retrans",
        "association_max_retrans",
        Form::Value("N"),
        "Association.Max.Retrans, 10 if absent",
    ),
    alias(
        "max-init-retransmits",
        "max_init_retransmits",
        Form::Value("N"),
        "Max.Init.Retransmits, 8 if absent: how often INIT, and then COOKIE ECHO, are repeated",
    ),
    alias("heartbeat", "hb_interval", Form::Value("TIME"), "HB.interval, 30 s if absent"),
    alias(
        "sack-delay",
        "sack_delay",
        Form::Value("TIME"),
        "The delay of acknowledgements, 200 ms if absent; they leave at multiples of 4 ms, up to so much before it is \
         over",
    ),
    alias(
        "mtu",
        Assignment::PATH_MTU,
        Form::Bytes,
        "The path MTU to begin with, in bytes of IP, 1500 if absent; with `--probe-mtu` the largest that is tried",
    ),
    alias(
        "probe-mtu",
        "path_mtu_discovery",
        Form::Switch("probing"),
        "Find the path MTU by probe packets (RFC 8899), also where no ICMP comes back",
    ),
    alias(
        "send-buffer",
        "send_buffer",
        Form::Value("SIZE"),
        "The send buffer, messages in flight included, `1 MiB` if absent",
    ),
    alias(
        "receive-buffer",
        "receive_buffer",
        Form::Value("SIZE"),
        "The receive buffer, advertised as a_rwnd, `256 KiB` if absent",
    ),
    alias(
        "stream-scheduling",
        "stream_scheduling",
        Form::Value("NAME"),
        "Scheduler that chooses the next stream (RFC 8260): first-come-first-served, as it is if absent, round-robin, \
         round-robin-per-packet, priority, fair-capacity or weighted-fair-queueing",
    ),
    alias(
        "multipath",
        "multipath",
        Form::Value("NAME"),
        "Let new DATA take several paths at once: concurrent, pooled-v1 or pooled-v2; off, as it is if absent",
    ),
    alias(
        "zero-checksum",
        "zero_checksum",
        Form::Value("METHOD"),
        "Say that something below finds errors as well as the checksum (RFC 9653), so that packets go without one to \
         another end that says the same: dtls",
    ),
    alias(
        "extension",
        "extensions",
        Form::Names,
        "Offer an extension, which is used if the other end offers it, too; several: with commas between. They are \
         partial-reliability, interleaving, nr-sack, stream-reconfiguration, authentication and dynamic-addresses. \
         With authentication, another end that offers it has to authenticate its DATA; one that does not is served all \
         the same, unless --require says otherwise",
    ),
    alias(
        "require",
        "required_extensions",
        Form::Names,
        "Offer an extension, and abort whoever does not offer it, too, with the reason; several: with commas between",
    ),
];

const fn alias(flag: &'static str, key: &'static str, form: Form, help: &'static str) -> Alias {
    Alias { flag, key, form, help }
}

impl Alias {
    fn arg(&self) -> Arg {
        let arg = Arg::new(self.flag).long(self.flag).help(self.help);
        match self.form {
            Form::Value(name) => arg.value_name(name),
            Form::Bytes => arg.value_name("BYTES"),
            Form::Names => arg.value_name("NAME").value_delimiter(',').action(ArgAction::Append),
            Form::Switch(_) => arg.action(ArgAction::SetTrue),
        }
    }

    /// The setting, if the flag was given.
    fn assignment(&self, matches: &ArgMatches) -> Option<Assignment> {
        let one = || matches.get_one::<String>(self.flag);
        let value = match self.form {
            Form::Value(_) => one()?.clone(),
            // With a unit as without one.
            Form::Bytes => {
                let given = one()?;
                let is_number = given.trim().bytes().all(|byte| byte.is_ascii_digit());
                if is_number { format!("{given} B") } else { given.clone() }
            }
            Form::Names => {
                let names: Vec<_> =
                    matches.get_many::<String>(self.flag)?.map(|name| format!("{name:?}")).collect();
                format!("[{}]", names.join(", "))
            }
            Form::Switch(value) => matches.get_flag(self.flag).then(|| value.to_owned())?,
        };
        Some(Assignment::new(format!("--{}", self.flag), self.key, value))
    }
}

/// Settings that were given by flags of their own.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "live commands are refused there"))]
pub(crate) struct Flags(pub(super) Vec<Assignment>);

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        let group = ArgGroup::new(GROUP).args(ALIASES.map(|alias| alias.flag)).multiple(true);
        command.args(ALIASES.map(|alias| alias.arg())).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(ALIASES.iter().filter_map(|alias| alias.assignment(matches)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
