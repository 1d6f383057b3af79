//! Arguments of `slantpath sctp`.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::SctpArguments;

#[derive(Args, Clone, Debug)]
pub(crate) struct ProgramArguments {
    /// An address that programs have; several make several paths. All of the machine's if absent, those of the loopback
    /// included, and those that come later.
    #[arg(long = "address", value_name = "ADDRESS")]
    pub(crate) addresses: Vec<IpAddr>,
    /// Carry SCTP in UDP (RFC 6951), to this port of peers, for which no privilege is needed. It is so without this
    /// flag where raw sockets are not permitted.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "9899",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) udp: Option<u16>,
    /// The own UDP port, to which peers send; 9899 if absent, or any that is free if that is in use. 0: any.
    #[arg(long, value_name = "PORT")]
    pub(crate) listen_udp: Option<u16>,
    /// Serve programs that are started elsewhere, by a socket at this path, until Ctrl-C. Only its owner may use it.
    #[arg(long, value_name = "PATH")]
    pub(crate) serve: Option<PathBuf>,
    /// Way in which the program's calls come here; by what the program is if absent.
    #[arg(long, value_enum)]
    pub(crate) door: Option<Door>,
    #[command(flatten)]
    pub(crate) sctp: SctpArguments,
    /// Write all packets, in both directions, into this file, as pcapng. They are in IP, whatever carries them.
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,
    /// Write what each association decided and why into this file, for `slantpath explain`.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write all that the sockets were told into this file, for `slantpath replay`. It is not for others while the run
    /// lasts: it has the secret of its cookies, and all messages.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// The program, with its arguments. Its exit status is this command's.
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Way in which calls of a program come to the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Door {
    /// A library in front of the C library: for programs that are linked to glibc.
    Preload,
    /// The kernel notifies of system calls: for static programs, musl and Go.
    Notify,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct NotifierArguments {
    /// The program, with its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}
