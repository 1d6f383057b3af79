//! Words between a program and the daemon of its SCTP sockets, and the control messages of its calls.

use slantpath_requests::{self as requests, FromProgram, OpenRequest, Reply, ToProgram};

/// Any bytes are a piece of a program, with the request behind it, or an error.
pub fn from_program(data: &[u8]) {
    if let Ok(wish) = OpenRequest::decode(data) {
        assert_eq!(wish.encode(), data);
    }
    let Ok((piece, rest)) = FromProgram::decode(data) else { return };
    let again = [&piece.header()[..], rest].concat();
    assert_eq!(FromProgram::decode(&again), Ok((piece, rest)));
    if let Ok(request) = requests::Request::decode(rest) {
        assert_eq!(requests::Request::decode(&request.encode()), Ok(request));
    }
}

/// Any bytes are a piece for a program, or a reply, or an error.
pub fn to_program(data: &[u8]) {
    if let Ok(reply) = Reply::decode(data) {
        assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
    }
    let Ok((piece, rest)) = ToProgram::decode(data) else { return };
    let again = [&piece.header()[..], rest].concat();
    assert_eq!(ToProgram::decode(&again), Ok((piece, rest)));
}

/// Any bytes are the control messages of a send, or an error. What is received is written into any place, and no
/// further than that.
#[cfg(target_os = "linux")]
pub fn control(data: &[u8]) {
    use slantpath_door::{ControlOut, NextInfo, SendControl, Wanted, address_of, bytes_of, sndinfo};
    use slantpath_requests::MessageInfo;

    let _ = sndinfo(data);
    if let Ok(Some(address)) = address_of(data) {
        assert_eq!(address_of(&bytes_of(address)), Ok(Some(address)));
    }
    if let Ok(read) = SendControl::read(data) {
        let whole = read.whole(Default::default);
        let says_any = read.info.is_some() || read.policy.is_some() || read.key.is_some();
        assert_eq!(whole.is_some(), says_any);
    }
    let [bits, room, ..] = *data else { return };
    let (mut place, room) = ([0xaa; 256], usize::from(room));
    let mut out = ControlOut::new(&mut place[..room]);
    let wanted = Wanted { sndrcv: bits & 1 != 0, rcvinfo: bits & 2 != 0, nxtinfo: bits & 4 != 0 };
    out.put(MessageInfo::default(), Some(NextInfo::default()), wanted);
    let (length, is_cut) = out.done();
    let full: usize = [(wanted.sndrcv, 48), (wanted.rcvinfo, 48), (wanted.nxtinfo, 32)]
        .into_iter()
        .filter_map(|(is_wanted, length)| is_wanted.then_some(length))
        .sum();
    assert!(length <= room && (is_cut || length.next_multiple_of(8) == full), "{length} of {full} in {room}");
}
