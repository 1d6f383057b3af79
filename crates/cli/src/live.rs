//! `slantpath echo` and `slantpath load`: SCTP on this machine's network; `slantpath replay`: the same again.
//! `slantpath gateway` and `slantpath traffic`: signalling on this machine's network.

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod kept_load;
#[cfg(target_os = "linux")]
mod like;
#[cfg(target_os = "linux")]
mod nodes;
#[cfg(target_os = "linux")]
pub(crate) mod outputs;
#[cfg(target_os = "linux")]
mod rebuilt;
#[cfg(target_os = "linux")]
mod replay;
#[cfg(target_os = "linux")]
mod server;
#[cfg(target_os = "linux")]
pub(crate) mod settings;
#[cfg(target_os = "linux")]
mod traffic;

#[cfg(target_os = "linux")]
pub(crate) use client::load;
#[cfg(target_os = "linux")]
pub(crate) use gateway::gateway;
#[cfg(target_os = "linux")]
pub(crate) use rebuilt::{Rebuilt, load_of};
#[cfg(target_os = "linux")]
pub(crate) use replay::replay;
#[cfg(target_os = "linux")]
pub(crate) use server::echo;
#[cfg(target_os = "linux")]
pub(crate) use traffic::traffic;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io::Write;

    use slantpath_runner::OwnKinds;

    use crate::arguments::{
        EchoArguments, GatewayArguments, LoadArguments, ReplayArguments, TrafficArguments,
    };
    use crate::failure::Failure;

    pub(crate) fn echo(
        _: &EchoArguments,
        _: &OwnKinds,
        _: &[String],
        _: &mut impl Write,
    ) -> Result<(), Failure> {
        Err(Failure::Failed(
            "echo needs Linux: its sockets are used for what others have no words for".to_owned(),
        ))
    }

    pub(crate) fn gateway(
        _: &GatewayArguments,
        _: &OwnKinds,
        _: &[String],
        _: &mut impl Write,
    ) -> Result<(), Failure> {
        Err(Failure::Failed(
            "gateway needs Linux: its sockets are used for what others have no words for".to_owned(),
        ))
    }

    pub(crate) fn load(
        _: &LoadArguments,
        _: &OwnKinds,
        _: &[String],
        _: &mut impl Write,
    ) -> Result<(), Failure> {
        Err(Failure::Failed(
            "load needs Linux: its sockets are used for what others have no words for".to_owned(),
        ))
    }

    pub(crate) fn replay(_: &ReplayArguments, _: &OwnKinds, _: &mut impl Write) -> Result<(), Failure> {
        Err(Failure::Failed("replay needs Linux, as what it repeats does".to_owned()))
    }

    pub(crate) fn traffic(_: &TrafficArguments, _: &OwnKinds, _: &mut impl Write) -> Result<(), Failure> {
        Err(Failure::Failed(
            "traffic needs Linux: its sockets are used for what others have no words for".to_owned(),
        ))
    }
}
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{echo, gateway, load, replay, traffic};
