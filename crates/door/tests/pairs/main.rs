//! The calls of a door on real pairs, whose other end is held by the test.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "the frames of tests, too, fail at once")]

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, listen, recvmsg, sendmsg,
    socket_with, socketpair,
};
use slantpath_door::{Begun, Came, Claim, NextInfo};
use slantpath_requests::{
    self as requests, Errno, FromProgram, HEADER_LEN, MessageInfo, OpenRequest, PIECE_MAX, Reply, SendInfo,
    Style, ToProgram,
};
use slantpath_system::peeking;

/// A pair as the daemon makes it: the program's end, and its own.
fn pair() -> (OwnedFd, OwnedFd) {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let (program, daemon) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("slantpath-sctp/door-{}-{made}", std::process::id());
    bind(&daemon, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
    peeking::set_offset(&program, 0).unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&program, 212_992).unwrap();
    (program, daemon)
}

fn peer() -> SocketAddr {
    ([10, 0, 0, 2], 5000).into()
}

fn data(stream: u16, is_end: bool) -> ToProgram {
    let info = MessageInfo { stream, ..MessageInfo::default() };
    ToProgram::Data { is_end, info, source: peer() }
}

fn give(daemon: &OwnedFd, piece: ToProgram, bytes: &[u8], descriptor: Option<&OwnedFd>) {
    let header = piece.header();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let beside = descriptor.map(|descriptor| [descriptor.as_fd()]);
    if let Some(beside) = &beside {
        control.push(SendAncillaryMessage::ScmRights(beside));
    }
    let all = [IoSlice::new(&header), IoSlice::new(bytes)];
    sendmsg(daemon, &all, &mut control, SendFlags::NOSIGNAL).unwrap();
}

/// A piece from the program, with the descriptor beside it.
fn next(daemon: &OwnedFd) -> (FromProgram, Vec<u8>, Option<OwnedFd>) {
    let mut bytes = vec![0; HEADER_LEN + PIECE_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let came = recvmsg(daemon, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::empty()).unwrap();
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let (piece, rest) = FromProgram::decode(&bytes[..came.bytes]).unwrap();
    (piece, rest.to_vec(), descriptor)
}

fn take(program: &OwnedFd, claim: &mut Claim, room: usize) -> Result<Option<(Came, Vec<u8>)>, Errno> {
    read(program, claim, room, false)
}

fn read(
    program: &OwnedFd,
    claim: &mut Claim,
    room: usize,
    leaves: bool,
) -> Result<Option<(Came, Vec<u8>)>, Errno> {
    let mut bytes = vec![0; room];
    // Two buffers, so that a place within the second one is met, too.
    let (one, two) = bytes.split_at_mut(room / 3);
    let mut buffers = [IoSliceMut::new(one), IoSliceMut::new(two)];
    let came = slantpath_door::receive(program, claim, &mut buffers, leaves)?;
    Ok(came.map(|came| (came, bytes[..came.len].to_vec())))
}

#[test]
fn a_pair_is_recognised_and_nothing_else() {
    let (program, daemon) = pair();
    assert!(slantpath_door::is_pair(&program));
    assert!(slantpath_door::is_pair(program.try_clone().unwrap()));
    assert!(!slantpath_door::is_pair(&daemon), "the program's end has no name");
    assert!(!slantpath_door::is_pair(std::io::stdin()));
    let (other, _kept) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(!slantpath_door::is_pair(&other));
    drop(daemon);
    assert!(slantpath_door::is_pair(&program), "after the daemon's end, too");
}

#[test]
fn a_short_read_leaves_the_rest_for_the_next_one() {
    let (program, daemon) = pair();
    let mut claim = Claim::default();
    assert_eq!(take(&program, &mut claim, 10).unwrap_err(), Errno::EAGAIN);
    give(&daemon, data(3, true), b"abcdefgh", None);
    give(&daemon, data(4, true), b"xyz", None);
    let came = |len, stream, is_end| Came { len, piece: data(stream, true), is_end };
    assert_eq!(take(&program, &mut claim, 5), Ok(Some((came(5, 3, false), b"abcde".to_vec()))));
    assert_eq!(take(&program, &mut claim, 2), Ok(Some((came(2, 3, false), b"fg".to_vec()))));
    assert_eq!(take(&program, &mut claim, 5), Ok(Some((came(1, 3, true), b"h".to_vec()))));
    assert_eq!(take(&program, &mut claim, 5), Ok(Some((came(3, 4, true), b"xyz".to_vec()))));
    assert_eq!(peeking::offset(&program).unwrap(), 0);
    drop(daemon);
    assert_eq!(take(&program, &mut claim, 5), Ok(None));
}

#[test]
fn a_piece_that_another_process_has_begun_is_gone_on_with() {
    let (program, daemon) = pair();
    give(&daemon, data(3, true), b"abcdefgh", None);
    take(&program, &mut Claim::default(), 5).unwrap();
    let came = Came { len: 3, piece: data(3, true), is_end: true };
    assert_eq!(take(&program, &mut Claim::default(), 5), Ok(Some((came, b"fgh".to_vec()))));
}

#[test]
fn what_is_only_peeked_at_stays() {
    let (program, daemon) = pair();
    let mut claim = Claim::default();
    give(&daemon, data(3, true), b"abcdefgh", None);
    let seen = |claim: &mut Claim, room| read(&program, claim, room, true).unwrap().unwrap().1;
    assert_eq!(seen(&mut claim, 3), b"abc");
    assert_eq!(seen(&mut claim, 20), b"abcdefgh");
    assert_eq!(take(&program, &mut claim, 3).unwrap().unwrap().1, b"abc");
    assert_eq!(seen(&mut claim, 2), b"de");
    assert_eq!(seen(&mut claim, 20), b"defgh");
    assert_eq!(take(&program, &mut claim, 20).unwrap().unwrap().1, b"defgh");
    assert_eq!(take(&program, &mut claim, 20).unwrap_err(), Errno::EAGAIN);
}

#[test]
fn a_message_of_several_pieces_is_one_for_who_has_room() {
    let (program, daemon) = pair();
    let mut claim = Claim::default();
    give(&daemon, data(3, false), b"abcd", None);
    give(&daemon, data(3, true), b"efgh", None);
    give(&daemon, data(4, true), b"xyz", None);
    let peeked = read(&program, &mut claim, 20, true).unwrap().unwrap();
    assert_eq!(peeked, (Came { len: 8, piece: data(3, false), is_end: true }, b"abcdefgh".to_vec()));
    assert_eq!(take(&program, &mut claim, 20), Ok(Some(peeked)));
    assert_eq!(take(&program, &mut claim, 20).unwrap().unwrap().1, b"xyz");
}

#[test]
fn who_takes_alone_has_the_same_and_leaves_a_piece_that_was_begun_to_claims() {
    let (program, daemon) = pair();
    let mut claim = Claim::default();
    let mut begun = Begun::No;
    let mut alone = |room: usize| {
        let mut bytes = vec![0; room];
        let buffers = &mut [IoSliceMut::new(&mut bytes)];
        let came = slantpath_door::receive_alone(&program, &mut claim, buffers, begun).unwrap()?;
        if claim.is_unfinished() {
            begun = Begun::Perhaps;
        }
        Some((came.len, came.is_end, bytes[..came.len].to_vec()))
    };
    give(&daemon, data(2, true), b"whole", None);
    give(&daemon, data(2, true), b"small", None);
    assert_eq!(alone(PIECE_MAX), Some((5, true, b"whole".to_vec())));
    assert_eq!(alone(8), Some((5, true, b"small".to_vec())), "by a claim of all of it");
    give(&daemon, data(3, true), b"abcdefgh", None);
    give(&daemon, data(3, false), b"ijkl", None);
    give(&daemon, data(3, true), b"mnop", None);
    give(&daemon, data(4, true), b"xyz", None);
    assert_eq!(alone(3), Some((3, false, b"abc".to_vec())));
    assert_eq!(alone(2 * PIECE_MAX), Some((5, true, b"defgh".to_vec())));
    assert_eq!(alone(PIECE_MAX), Some((8, true, b"ijklmnop".to_vec())), "the second one by a claim");
    assert_eq!(alone(PIECE_MAX), Some((3, true, b"xyz".to_vec())));
    drop(daemon);
    assert_eq!(alone(PIECE_MAX), None);
}

#[test]
fn threads_share_what_comes_and_nothing_is_lost() {
    let (program, daemon) = pair();
    let claim = Mutex::new(Claim::default());
    let sum = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let mut bytes = [0; 3];
                    let mut turn = claim.lock().unwrap();
                    let mut buffers = [IoSliceMut::new(&mut bytes)];
                    match slantpath_door::receive(&program, &mut turn, &mut buffers, false) {
                        Ok(Some(came)) => {
                            drop(turn);
                            let part: u32 = bytes[..came.len].iter().map(|byte| u32::from(*byte)).sum();
                            sum.fetch_add(part, Ordering::Relaxed);
                        }
                        Ok(None) => break,
                        Err(error) => {
                            assert_eq!(error, Errno::EAGAIN);
                            drop(turn);
                            rustix::net::recv(&program, &mut [0_u8; 0], RecvFlags::PEEK).unwrap();
                        }
                    }
                }
            });
        }
        for _ in 0..500 {
            give(&daemon, data(0, true), &[1, 2, 3, 4, 5, 6, 7, 8], None);
        }
        rustix::net::shutdown(&daemon, rustix::net::Shutdown::Write).unwrap();
    });
    assert_eq!(sum.into_inner(), 500 * 36);
}

#[test]
fn a_message_crosses_with_its_options() {
    let (program, daemon) = pair();
    let info = SendInfo { stream: 7, key: Some(2), ..SendInfo::default() };
    let message = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cd")];
    assert_eq!(slantpath_door::send(&program, Some(info), Some(peer()), &message, false), Ok(4));
    let piece = FromProgram::Data { is_more: false, info: Some(info), destination: Some(peer()) };
    let (came, bytes, _) = next(&daemon);
    assert_eq!((came, &*bytes), (piece, &b"abcd"[..]));
    slantpath_door::close(&program);
    assert_eq!(next(&daemon).0, FromProgram::Closing);
}

#[test]
fn a_long_message_crosses_in_pieces_and_a_full_pair_says_so() {
    let (program, daemon) = pair();
    let long: Vec<u8> = (0..150_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    let message = [IoSlice::new(&long[..100_000]), IoSlice::new(&long[100_000..])];
    assert_eq!(slantpath_door::send(&program, None, None, &message, false), Ok(150_000));
    let mut came = Vec::new();
    for is_more in [true, true, false] {
        let (piece, bytes, _) = next(&daemon);
        assert_eq!(piece, FromProgram::Data { is_more, info: None, destination: None });
        came.extend(bytes);
    }
    assert!(came == long);
    let full = loop {
        let sent = slantpath_door::send(&program, None, None, &[IoSlice::new(&[0; 1000])], false);
        if let Err(error) = sent {
            break error;
        }
    };
    assert_eq!(full, Errno::EAGAIN);
    drop(daemon);
    let sent = slantpath_door::send(&program, None, None, &message, false);
    assert_eq!(sent, Err(Errno::ECONNRESET), "what was unread");
    assert_eq!(slantpath_door::send(&program, None, None, &message, false), Err(Errno::ECONNRESET));
}

#[test]
fn a_request_has_its_reply() {
    let (program, daemon) = pair();
    let pending = slantpath_door::ask(&program, &requests::Request::LocalName, false).unwrap();
    assert!(pending.take().unwrap().is_none());
    let (piece, bytes, channel) = next(&daemon);
    assert_eq!(
        (piece, requests::Request::decode(&bytes)),
        (FromProgram::Request, Ok(requests::Request::LocalName))
    );
    let reply = Reply { address: Some(peer()), ..Reply::default() };
    let channel = channel.unwrap();
    rustix::net::send(&channel, &reply.encode(), SendFlags::NOSIGNAL).unwrap();
    let answer = pending.wait(false).unwrap();
    assert_eq!(answer.reply, reply);
    assert!(answer.descriptor.is_none());
    drop(slantpath_door::ask(&program, &requests::Request::LocalName, false).unwrap());

    let pending = slantpath_door::ask(&program, &requests::Request::PeerName, false).unwrap();
    drop(daemon);
    assert_eq!(pending.wait(false).unwrap_err(), Errno::ECONNRESET, "no daemon, no reply");
    assert_eq!(
        slantpath_door::ask(&program, &requests::Request::PeerName, true).unwrap_err(),
        Errno::ECONNRESET
    );
}

#[test]
fn the_message_behind_one_is_known_as_soon_as_it_is_there() {
    let (program, daemon) = pair();
    let mut claim = Claim::default();
    give(&daemon, data(3, true), b"abcdefgh", None);
    assert_eq!(take(&program, &mut claim, 9).unwrap().unwrap().1, b"abcdefgh");
    assert_eq!(slantpath_door::peek_next(&program, &claim), None);
    give(&daemon, data(4, true), b"xyz", None);
    give(&daemon, data(5, false), b"parts", None);
    give(&daemon, ToProgram::Notification { is_end: true, source: peer() }, &[0; 20], None);
    let whole = NextInfo { stream: 4, flags: 0x8, length: 3, ..NextInfo::default() };
    for _ in 0..2 {
        assert_eq!(slantpath_door::peek_next(&program, &claim), Some(whole), "a look takes nothing");
    }
    assert_eq!(take(&program, &mut claim, 2).unwrap().unwrap().1, b"xy");
    assert_eq!(slantpath_door::peek_next(&program, &claim), None, "the rest of the one at hand comes first");
    assert_eq!(take(&program, &mut claim, 9).unwrap().unwrap().1, b"z");
    let part = NextInfo { stream: 5, length: 5, ..NextInfo::default() };
    assert_eq!(slantpath_door::peek_next(&program, &claim), Some(part));
    take(&program, &mut claim, 5).unwrap();
    let notification = NextInfo { flags: 0x8008, length: 20, ..NextInfo::default() };
    assert_eq!(slantpath_door::peek_next(&program, &claim), Some(notification));
}

#[test]
fn an_association_is_accepted_with_its_socket() {
    let (program, daemon) = pair();
    assert_eq!(slantpath_door::accept(&program).unwrap_err(), Errno::EAGAIN);
    let (accepted, kept) = pair();
    give(&daemon, ToProgram::Accepted { peer: peer() }, &[], Some(&accepted));
    drop(accepted);
    rustix::net::recv(&program, &mut [0_u8; 0], RecvFlags::PEEK).unwrap();
    let accepted = slantpath_door::accept(&program).unwrap();
    assert_eq!(accepted.peer, peer());
    assert_eq!(next(&kept).0, FromProgram::Accepted);
    give(&kept, data(1, true), b"ab", None);
    assert_eq!(take(&accepted.descriptor, &mut Claim::default(), 9).unwrap().unwrap().1, b"ab");
    drop(daemon);
    assert_eq!(slantpath_door::accept(&program).unwrap_err(), Errno::EINVAL);
}

#[test]
fn a_pair_is_opened_at_the_daemons_socket() {
    let name = format!("slantpath-door-daemon-{}", std::process::id());
    let listener =
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    let wish = OpenRequest { style: Style::OneToMany, family: requests::Family::V6 };
    let daemon_name = format!("@{name}");
    assert_eq!(
        slantpath_door::ask_to_open(daemon_name.as_bytes(), wish).unwrap_err(),
        Errno::EPROTONOSUPPORT
    );
    bind(&listener, &SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap()).unwrap();
    listen(&listener, 5).unwrap();
    let pending = slantpath_door::ask_to_open(daemon_name.as_bytes(), wish).unwrap();
    let asked = rustix::net::accept(&listener).unwrap();
    let mut bytes = [0; 100];
    let (len, _) = rustix::net::recv(&asked, &mut bytes, RecvFlags::empty()).unwrap();
    assert_eq!(OpenRequest::decode(&bytes[..len]), Ok(wish));
    let (program, _daemon) = pair();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let beside = [program.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&beside));
    let reply = Reply::default().encode();
    sendmsg(&asked, &[IoSlice::new(&reply)], &mut control, SendFlags::NOSIGNAL).unwrap();
    let answer = pending.wait(true).unwrap();
    assert!(slantpath_door::is_pair(answer.descriptor.unwrap()));
}
