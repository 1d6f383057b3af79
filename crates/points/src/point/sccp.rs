//! `[signalling.points.<name>.sccp]`: timers and bounds of the SCCP of a signalling point.

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Setting, choice, section};
use slantpath_ss7::sccp::{self, Capability, Form, ReassemblyLimits};

use crate::bounds::{BUFFER, MESSAGES, SCCP_MESSAGE, TIMER};

/// Timers where nobody says otherwise.
fn timers() -> sccp::Timers {
    sccp::Timers::default()
}

/// An amount of data.
fn octets(number: usize) -> DataSize {
    DataSize::from_bytes(number as u64)
}

/// A number that nobody exceeds.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

section! {
    /// SCCP of a signalling point.
    pub struct Sccp {
        /// T(reass): waiting for all segments of a message.
        t_reass: Setting<Duration> = timers().reassembly, at most TIMER;
        /// T(stat info): before the first SST about a subsystem; it doubles with each.
        t_stat_info: Setting<Duration> = timers().status_information, at most TIMER;
        /// Longest T(stat info), up to which it doubles.
        t_stat_info_longest: Setting<Duration> = timers().status_information_longest, at most TIMER;
        /// T(coord chg): waiting for SOG.
        t_coord_chg: Setting<Duration> = timers().coordinated_change, at most TIMER;
        /// T(ignore SST): how long after SOG an SST is not answered. Q.714 leaves it to management.
        t_ignore_sst: Setting<Duration> = timers().ignore_status_test, at most TIMER;
        /// Ta: after an MTP-STATUS of congestion, further ones count no more.
        ta: Setting<Duration> = timers().attack, at most TIMER;
        /// Td: without an MTP-STATUS, the restriction of traffic decays by a step.
        td: Setting<Duration> = timers().decay, at most TIMER;
        /// Messages that are put together from segments at one time.
        reassembled_messages: Setting<u32> = count(ReassemblyLimits::default().messages), at most MESSAGES;
        /// Octets of all of them.
        reassembled_data: Setting<DataSize> = octets(ReassemblyLimits::default().octets), at most BUFFER;
        /// The highest form of unitdata that the point understands: others send it no higher one.
        highest_form: Setting<UnitdataForm> = UnitdataForm::Extended;
        /// The longest SCCP message that the network carries to it.
        longest_message: Setting<DataSize> = octets(Capability::default().message_octets), at most SCCP_MESSAGE;
        /// Points that are told when a subsystem here comes or goes: concerned signalling points.
        concerned: Setting<Vec<String>> = Vec::new();
        /// The point whose subsystems of the same numbers take over in a coordinated change.
        backup: Option<Setting<String>>;
    }
    refuses "concerns connections of SCCP (classes 2 and 3), which no scenario opens yet":
        t_conn_est, t_ias, t_iar, t_rel, t_repeat_rel, t_int, t_guard, t_reset, reference_freeze, connections, credit,
        connection_message, connection_queue;
}

choice! {
    /// The form of connectionless messages.
    pub enum UnitdataForm {
        /// XUDT and XUDTS, besides UDT and UDTS.
        Extended = "extended",
        /// LUDT and LUDTS, besides the others.
        Long = "long",
        /// UDT and UDTS.
        Unitdata = "unitdata",
    }
}

fn usize_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn octets_of(size: DataSize) -> usize {
    usize::try_from(size.as_bytes()).unwrap_or(usize::MAX)
}

impl Sccp {
    /// Each timer that Q.714 names, with its value.
    pub(crate) fn timer_settings(&self) -> [(&'static str, &Setting<Duration>); 7] {
        [
            ("T(reass)", &self.t_reass),
            ("T(stat info)", &self.t_stat_info),
            ("T(stat info), longest", &self.t_stat_info_longest),
            ("T(coord chg)", &self.t_coord_chg),
            ("T(ignore SST)", &self.t_ignore_sst),
            ("Ta", &self.ta),
            ("Td", &self.td),
        ]
    }

    /// The values of all timers; those of connections, which no scenario opens, are the usual ones.
    pub fn timers(&self) -> sccp::Timers {
        sccp::Timers {
            reassembly: *self.t_reass,
            status_information: *self.t_stat_info,
            status_information_longest: *self.t_stat_info_longest,
            coordinated_change: *self.t_coord_chg,
            ignore_status_test: *self.t_ignore_sst,
            attack: *self.ta,
            decay: *self.td,
            ..timers()
        }
    }

    /// Limits on the messages that are reassembled at one time.
    pub fn reassembly_limits(&self) -> ReassemblyLimits {
        ReassemblyLimits {
            messages: usize_of(*self.reassembled_messages),
            octets: octets_of(*self.reassembled_data),
        }
    }

    /// Highest form and greatest length of the messages that others may send to the point.
    pub fn capability(&self) -> Capability {
        Capability {
            highest: match *self.highest_form {
                UnitdataForm::Extended => Form::Extended,
                UnitdataForm::Long => Form::Long,
                UnitdataForm::Unitdata => Form::Unitdata,
            },
            message_octets: octets_of(*self.longest_message),
        }
    }
}

#[cfg(test)]
mod tests {
    use slantpath_reader::{Document, Faults, Place, Section};

    use super::*;

    #[test]
    fn each_value_of_sccp_reaches_its_place() {
        let text = r#"
            t_reass = "14 s"
            t_stat_info = "6 s"
            t_stat_info_longest = "601 s"
            t_coord_chg = "64 s"
            t_ignore_sst = "31 s"
            ta = "401 ms"
            td = "3 s"
            reassembled_messages = 73
            reassembled_data = "74 B"
            highest_form = "long"
            longest_message = "75 B"
        "#;
        let (entries, _) = Document::parse("t", text).entries().unwrap();
        let sccp = Sccp::read(&entries, "sccp", Place::default(), &mut Faults::default()).unwrap();
        let seconds = Duration::from_secs;
        let timers = sccp::Timers {
            reassembly: seconds(14),
            status_information: seconds(6),
            status_information_longest: seconds(601),
            coordinated_change: seconds(64),
            ignore_status_test: seconds(31),
            attack: Duration::from_millis(401),
            decay: seconds(3),
            ..sccp::Timers::default()
        };
        assert_eq!(sccp.timers(), timers);
        assert_eq!(sccp.reassembly_limits(), ReassemblyLimits { messages: 73, octets: 74 });
        assert_eq!(sccp.capability(), Capability { highest: Form::Long, message_octets: 75 });
    }
}
