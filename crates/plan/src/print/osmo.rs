//! Configuration of osmo-stp, whole: a signalling gateway that the program starts with.

use core::fmt::Write as _;

use super::configurations::unmet;
use crate::answer::Answer;
use crate::question::Question;

/// The longest T(r) that osmo-stp takes, in milliseconds.
const RECOVERY_MS_MAX: f64 = 2_000.0;

/// A file of configuration, with what nobody has said and whoever pastes it has to fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The whole file.
    pub text: String,
    /// Blanks of it: what is missing, and the flag that says it.
    pub blanks: Vec<&'static str>,
}

/// Values that stand in the file, or blanks in their places, at which the program stops.
struct Blanks(Vec<&'static str>);

impl Blanks {
    fn value(&mut self, value: Option<String>, blank: &str, missing: &'static str) -> String {
        value.unwrap_or_else(|| {
            if !self.0.contains(&missing) {
                self.0.push(missing);
            }
            format!("FILL-IN-{blank}")
        })
    }
}

/// For osmo-stp as a signalling gateway that serves one application server over M3UA. What of SCTP it does not
/// configure is the kernel's, for which [`linux_sysctl`](super::linux_sysctl) is.
pub fn osmo_stp(question: &Question, answer: &Answer) -> Configuration {
    let gateway = question.gateway.whole().expect("a question without fault is whole");
    let mut blanks = Blanks(Vec::new());
    let code = |code: &Option<slantpath_reader::Setting<String>>| code.as_ref().map(|code| (**code).clone());
    let own_code = blanks.value(code(&gateway.point_code), "POINT-CODE", "the own point code, --point-code");
    let peer_code = blanks.value(
        code(&gateway.peer_point_code),
        "PEER-POINT-CODE",
        "the point code of the application server, --peer-point-code",
    );
    let context = blanks.value(
        gateway.routing_context.map(|context| context.to_string()),
        "ROUTING-CONTEXT",
        "the routing context, --routing-context",
    );
    let mut lines_of = |addresses: &[std::net::IpAddr], key: &str, blank: &str, missing: &'static str| {
        let mut addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        if addresses.is_empty() {
            addresses.push(blanks.value(None, blank, missing));
        }
        addresses.iter().fold(String::new(), |lines, address| lines + "  " + key + " " + address + "\n")
    };
    let own = lines_of(&gateway.addresses, "local-ip", "ADDRESS", "the own addresses, --address");
    let peer = lines_of(
        &gateway.peer_addresses,
        "remote-ip",
        "PEER-ADDRESS",
        "the addresses of the peer, --peer-address",
    );
    let has_dashes = own_code.starts_with(|first: char| first.is_ascii_digit()) && own_code.contains('-');
    let mask = match (own_code.matches(['.', '-']).count(), has_dashes) {
        (0, _) if !own_code.starts_with("FILL") => "16383",
        (_, true) => "7-255-7",
        _ => "7.255.7",
    };
    let mut text = String::from(
        "! osmo-stp (1.6 and later) as a signalling gateway: M3UA to one application server.\n! Of SCTP the timers, \
         retransmissions and buffers are the kernel's: set those of `slantpath plan --format sysctl` first.\n! The \
         kernel's window follows RFC 9260 and is not fixed.\n",
    );
    text.push_str(&unmet(answer));
    let mut write =
        |arguments: core::fmt::Arguments<'_>| text.write_fmt(arguments).expect("a string takes everything");
    write(format_args!(
        "log stderr\n logging filter all 1\n logging color 0\n logging print category 1\n logging timestamp 0\n \
         logging level set-all notice\nline vty\n no login\ncs7 instance 0\n"
    ));
    if has_dashes {
        write(format_args!(" point-code delimiter dash\n"));
    }
    write(format_args!(" point-code {own_code}\n xua rkm routing-key-allocation static-only\n"));
    let (port, associations) = (*gateway.port, answer.value("sctp.associations"));
    let asps: Vec<u16> = (1..=16).take_while(|&number| f64::from(number) <= associations).collect();
    for number in &asps {
        // Each association of one peer comes from a port of its own.
        let peer_port = port.saturating_add(number - 1);
        write(format_args!(
            " asp satellite-{number} {peer_port} {port} m3ua\n{own}{peer}  role sg\n  sctp-role server\n"
        ));
    }
    write(format_args!(" as satellite m3ua\n"));
    for number in &asps {
        write(format_args!("  asp satellite-{number}\n"));
    }
    let recovery = answer.setting("m3ua.t_r").map_or(RECOVERY_MS_MAX, |timer| timer.value * 1e3);
    if recovery > RECOVERY_MS_MAX {
        write(format_args!("  ! T(r) of {recovery:.0} ms is more than osmo-stp takes\n"));
    }
    write(format_args!(
        "  routing-key {context} {peer_code}\n  traffic-mode loadshare\n  recovery-timeout {:.0}\n route-table \
         system\n  update route {peer_code} {mask} linkset satellite\n listen m3ua {port}\n{own}  \
         accept-asp-connections pre-configured\n",
        recovery.min(RECOVERY_MS_MAX),
    ));
    Configuration { text, blanks: blanks.0 }
}
