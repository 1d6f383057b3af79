//! The command as its users meet it: real invocations, their words, files and exit status.

#[cfg(target_os = "linux")]
mod caller;
mod check;
#[cfg(target_os = "linux")]
mod control;
mod criteria;
#[cfg(target_os = "linux")]
mod emulate;
#[cfg(target_os = "linux")]
mod emulate_failover;
#[cfg(target_os = "linux")]
mod emulate_frames;
#[cfg(target_os = "linux")]
mod emulate_relay;
mod errors;
mod explain;
mod explain_signalling;
mod explain_what_if;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod gateway_day;
#[cfg(target_os = "linux")]
mod gateway_faults;
#[cfg(target_os = "linux")]
mod gateway_promises;
mod gateway_raw;
mod gateway_record;
mod gateway_registration;
mod gateway_reload;
mod import;
mod keys;
#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod live_settings;
mod new;
mod other_file;
mod place;
mod plan;
mod replay;
mod run;
#[cfg(target_os = "linux")]
mod sctp;
#[cfg(target_os = "linux")]
mod sctp_ends;
mod sweep;
mod topology;
mod traffic;
