//! Calls of the system that are answered here, and their numbers.

use std::ops::Range;

use slantpath_system::notify::{CallFilter, CallTest, START_MARK};

/// Call on a socket or its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketCall {
    Accept,
    Accept4,
    Bind,
    Close,
    CloseRange,
    Connect,
    Dup,
    Dup2,
    Dup3,
    Exec,
    ExecAt,
    ExitGroup,
    Fcntl,
    GetPeerName,
    GetSockName,
    GetSockOpt,
    Ioctl,
    Listen,
    PSelect6,
    Read,
    ReadV,
    RecvFrom,
    RecvMMsg,
    RecvMsg,
    Select,
    SendFile,
    SendMMsg,
    SendMsg,
    SendTo,
    SetSockOpt,
    Shutdown,
    Socket,
    Write,
    WriteV,
}

/// Number that no call has.
const NONE: u32 = u32::MAX;

/// All of them, with their numbers on x86-64 and on aarch64 (asm/unistd_64.h, asm-generic/unistd.h).
const NUMBERS: [(SocketCall, u32, u32); 34] = [
    (SocketCall::Accept, 43, 202),
    (SocketCall::Accept4, 288, 242),
    (SocketCall::Bind, 49, 200),
    (SocketCall::Close, 3, 57),
    (SocketCall::CloseRange, 436, 436),
    (SocketCall::Connect, 42, 203),
    (SocketCall::Dup, 32, 23),
    (SocketCall::Dup2, 33, NONE),
    (SocketCall::Dup3, 292, 24),
    (SocketCall::Exec, 59, 221),
    (SocketCall::ExecAt, 322, 281),
    (SocketCall::ExitGroup, 231, 94),
    (SocketCall::Fcntl, 72, 25),
    (SocketCall::GetPeerName, 52, 205),
    (SocketCall::GetSockName, 51, 204),
    (SocketCall::GetSockOpt, 55, 209),
    (SocketCall::Ioctl, 16, 29),
    (SocketCall::Listen, 50, 201),
    (SocketCall::PSelect6, 270, 72),
    (SocketCall::Read, 0, 63),
    (SocketCall::ReadV, 19, 65),
    (SocketCall::RecvFrom, 45, 207),
    (SocketCall::RecvMMsg, 299, 243),
    (SocketCall::RecvMsg, 47, 212),
    (SocketCall::Select, 23, NONE),
    (SocketCall::SendFile, 40, 71),
    (SocketCall::SendMMsg, 307, 269),
    (SocketCall::SendMsg, 46, 211),
    (SocketCall::SendTo, 44, 206),
    (SocketCall::SetSockOpt, 54, 208),
    (SocketCall::Shutdown, 48, 210),
    (SocketCall::Socket, 41, 198),
    (SocketCall::Write, 1, 64),
    (SocketCall::WriteV, 20, 66),
];

/// Protocol by which `socket` asks for SCTP.
pub(crate) const IPPROTO_SCTP: u32 = 132;
/// Type of a one-to-many socket, which is SCTP's without a protocol, too.
pub(crate) const SOCK_SEQPACKET: u32 = 5;
/// Bits of a socket's type that are its type, and no flag.
pub(crate) const TYPE_MASK: u32 = 0xf;

impl SocketCall {
    /// Call of this number on this machine.
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        NUMBERS.into_iter().find(|entry| own(*entry) == number).map(|(call, ..)| call)
    }
}

fn own((_, x86_64, aarch64): (SocketCall, u32, u32)) -> u32 {
    if cfg!(target_arch = "aarch64") { aarch64 } else { x86_64 }
}

/// Filter of the calls that are answered here, for descriptors of this range.
pub(crate) fn filter(range: &Range<u32>) -> CallFilter {
    let calls = NUMBERS.into_iter().filter(|entry| own(*entry) != NONE);
    CallFilter::new(calls.map(|entry| (own(entry), tests(entry.0, range))))
}

fn tests(call: SocketCall, range: &Range<u32>) -> Vec<CallTest> {
    match call {
        SocketCall::Socket => vec![
            CallTest::Masked { argument: 2, mask: u32::MAX, value: IPPROTO_SCTP },
            CallTest::Masked { argument: 1, mask: TYPE_MASK, value: SOCK_SEQPACKET },
        ],
        SocketCall::ExecAt | SocketCall::ExitGroup => vec![CallTest::Always],
        // All but the start of the program itself.
        SocketCall::Exec => vec![
            CallTest::Within { argument: 3, first: 0, end: START_MARK },
            CallTest::AtLeast { argument: 3, least: START_MARK + 1 },
        ],
        // Its first argument is the number behind the last that is waited for.
        SocketCall::PSelect6 | SocketCall::Select => {
            vec![CallTest::AtLeast { argument: 0, least: range.start + 1 }]
        }
        // Its second argument is the last number to be closed.
        SocketCall::CloseRange => vec![CallTest::AtLeast { argument: 1, least: range.start }],
        SocketCall::Dup2 | SocketCall::Dup3 => {
            vec![CallTest::within(0, range), CallTest::within(1, range)]
        }
        _ => vec![CallTest::within(0, range)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_of_one_call() {
        let (x86_64, aarch64): (Vec<u32>, Vec<u32>) =
            NUMBERS.into_iter().map(|(_, x86_64, aarch64)| (x86_64, aarch64)).unzip();
        for mut numbers in [x86_64, aarch64] {
            numbers.retain(|own| *own != NONE);
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), all);
        }
        assert_eq!(SocketCall::of_number(own(NUMBERS[0])), Some(SocketCall::Accept));
        assert_eq!(SocketCall::of_number(999), None);
    }
}
