//! `slantpath sctp`: a program that exists, with the SCTP sockets of RFC 6458 in the place of a kernel's.

#[cfg(target_os = "linux")]
mod executable;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod library;
#[cfg(target_os = "linux")]
mod opened;
#[cfg(target_os = "linux")]
mod serving;
#[cfg(target_os = "linux")]
mod started;
#[cfg(target_os = "linux")]
mod usual;

#[cfg(target_os = "linux")]
pub(crate) use opened::repeated_settings;
#[cfg(target_os = "linux")]
pub(crate) use serving::{main, notifier};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use slantpath_runner::OwnKinds;

    use crate::arguments::{NotifierArguments, ProgramArguments};
    use crate::failure::Failure;

    pub(crate) fn main(_: &ProgramArguments, _: &OwnKinds, _: &[String]) -> Result<(), Failure> {
        Err(Failure::Failed(
            "sctp needs Linux: its sockets are used for what others have no words for".to_owned(),
        ))
    }

    pub(crate) fn notifier(_: &NotifierArguments) -> Result<(), Failure> {
        Err(Failure::Failed("sctp needs Linux".to_owned()))
    }
}
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{main, notifier};
