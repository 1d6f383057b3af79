//! `[signalling.points.<name>.sccp]`: timers and bounds of the SCCP of a signalling point.

use slantpath_base::{DataSize, Duration};
use slantpath_reader::{Setting, choice, section};
use slantpath_ss7::sccp::{Capability, ConnectionLimits, Form, ReassemblyLimits, Timers};

use crate::bounds::{BUFFER, CONNECTIONS, MESSAGES, SCCP_MESSAGE, TIMER};

/// Timers where nobody says otherwise.
fn timers() -> Timers {
    Timers::default()
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
        /// T(conn est): waiting for CC or CREF.
        t_conn_est: Setting<Duration> = timers().connection_establishment, at most TIMER;
        /// T(ias): sending nothing on a connection, before IT is sent.
        t_ias: Setting<Duration> = timers().inactivity_send, at most TIMER;
        /// T(iar): receiving nothing on a connection, before it is released.
        t_iar: Setting<Duration> = timers().inactivity_receive, at most TIMER;
        /// T(rel): waiting for RLC.
        t_rel: Setting<Duration> = timers().release, at most TIMER;
        /// T(repeat rel): between further RLSD after T(rel).
        t_repeat_rel: Setting<Duration> = timers().repeat_release, at most TIMER;
        /// T(int): waiting for RLC after T(rel), before the connection is given up.
        t_int: Setting<Duration> = timers().interval, at most TIMER;
        /// T(guard): after a restart, before connections are made again.
        t_guard: Setting<Duration> = timers().guard, at most TIMER;
        /// T(reset): waiting for RSC.
        t_reset: Setting<Duration> = timers().reset, at most TIMER;
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
        /// Time for which a local reference is not used again. Q.714 leaves it open.
        reference_freeze: Setting<Duration> = timers().reference_freeze, at most TIMER;
        /// Connections at one time, with the references that are frozen.
        connections: Setting<u32> = count(ConnectionLimits::default().references), at most CONNECTIONS;
        /// The window that is granted in class 3, 1 to 127 messages.
        credit: Setting<u8> = ConnectionLimits::default().credit;
        /// The longest message of a connection's user.
        connection_message: Setting<DataSize> = octets(ConnectionLimits::default().message_octets), at most BUFFER;
        /// Messages that wait for the window of a connection of class 3.
        connection_queue: Setting<u32> = count(ConnectionLimits::default().queued_messages), at most MESSAGES;
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
    pub(crate) fn timer_settings(&self) -> [(&'static str, &Setting<Duration>); 15] {
        [
            ("T(conn est)", &self.t_conn_est),
            ("T(ias)", &self.t_ias),
            ("T(iar)", &self.t_iar),
            ("T(rel)", &self.t_rel),
            ("T(repeat rel)", &self.t_repeat_rel),
            ("T(int)", &self.t_int),
            ("T(guard)", &self.t_guard),
            ("T(reset)", &self.t_reset),
            ("T(reass)", &self.t_reass),
            ("T(stat info)", &self.t_stat_info),
            ("T(stat info), longest", &self.t_stat_info_longest),
            ("T(coord chg)", &self.t_coord_chg),
            ("T(ignore SST)", &self.t_ignore_sst),
            ("Ta", &self.ta),
            ("Td", &self.td),
        ]
    }

    /// The values of all timers.
    pub fn timers(&self) -> Timers {
        Timers {
            connection_establishment: *self.t_conn_est,
            inactivity_send: *self.t_ias,
            inactivity_receive: *self.t_iar,
            release: *self.t_rel,
            repeat_release: *self.t_repeat_rel,
            interval: *self.t_int,
            guard: *self.t_guard,
            reset: *self.t_reset,
            reassembly: *self.t_reass,
            status_information: *self.t_stat_info,
            status_information_longest: *self.t_stat_info_longest,
            coordinated_change: *self.t_coord_chg,
            ignore_status_test: *self.t_ignore_sst,
            attack: *self.ta,
            decay: *self.td,
            reference_freeze: *self.reference_freeze,
        }
    }

    /// Limits on the number of connections, and on what they hold.
    pub fn connection_limits(&self) -> ConnectionLimits {
        ConnectionLimits {
            references: usize_of(*self.connections),
            message_octets: octets_of(*self.connection_message),
            queued_messages: usize_of(*self.connection_queue),
            credit: *self.credit,
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
            t_conn_est = "61 s"
            t_ias = "301 s"
            t_iar = "662 s"
            t_rel = "11 s"
            t_repeat_rel = "12 s"
            t_int = "63 s"
            t_guard = "1381 s"
            t_reset = "13 s"
            t_reass = "14 s"
            t_stat_info = "6 s"
            t_stat_info_longest = "601 s"
            t_coord_chg = "64 s"
            t_ignore_sst = "31 s"
            ta = "401 ms"
            td = "3 s"
            reference_freeze = "15 s"
            connections = 70
            credit = 9
            connection_message = "71 B"
            connection_queue = 72
            reassembled_messages = 73
            reassembled_data = "74 B"
            highest_form = "long"
            longest_message = "75 B"
        "#;
        let (entries, _) = Document::parse("t", text).entries().unwrap();
        let sccp = Sccp::read(&entries, "sccp", Place::default(), &mut Faults::default()).unwrap();
        let seconds = Duration::from_secs;
        let timers = Timers {
            connection_establishment: seconds(61),
            inactivity_send: seconds(301),
            inactivity_receive: seconds(662),
            release: seconds(11),
            repeat_release: seconds(12),
            interval: seconds(63),
            guard: seconds(1_381),
            reset: seconds(13),
            reassembly: seconds(14),
            status_information: seconds(6),
            status_information_longest: seconds(601),
            coordinated_change: seconds(64),
            ignore_status_test: seconds(31),
            attack: Duration::from_millis(401),
            decay: seconds(3),
            reference_freeze: seconds(15),
        };
        assert_eq!(sccp.timers(), timers);
        let limits = ConnectionLimits { references: 70, credit: 9, message_octets: 71, queued_messages: 72 };
        assert_eq!(sccp.connection_limits(), limits);
        assert_eq!(sccp.reassembly_limits(), ReassemblyLimits { messages: 73, octets: 74 });
        assert_eq!(sccp.capability(), Capability { highest: Form::Long, message_octets: 75 });
    }
}
