//! Ports at which programs of a network namespace listen, as the kernel's tables tell.

use std::io;

/// Tables of sockets, of the calling thread's network namespace.
const TABLES: [(&str, &str); 4] = [
    ("/proc/thread-self/net/tcp", LISTENING),
    ("/proc/thread-self/net/tcp6", LISTENING),
    ("/proc/thread-self/net/udp", BOUND),
    ("/proc/thread-self/net/udp6", BOUND),
];

/// Table of the kernel's SCTP, which has a form of its own.
const SCTP_ENDPOINTS: &str = "/proc/thread-self/net/sctp/eps";

/// TCP_LISTEN, which sockets of SCTP have as well, as their table writes it.
const SCTP_LISTENING: &str = "10";

/// States of sockets, as the tables write them: TCP_LISTEN, and TCP_CLOSE, in which a socket of UDP without a peer is.
const LISTENING: &str = "0A";
const BOUND: &str = "07";

/// Tells if somebody listens at a port of TCP or the kernel's SCTP, or waits at one of UDP, in the calling thread's
/// network namespace.
///
/// # Errors
/// If the tables cannot be read.
pub(crate) fn is_listened_at(port: u16) -> io::Result<bool> {
    for (table, state) in TABLES {
        match std::fs::read_to_string(table) {
            Ok(text) if has_port(&text, state, port) => return Ok(true),
            Ok(_) => {}
            // A kernel without IPv6 has no table of it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    match std::fs::read_to_string(SCTP_ENDPOINTS) {
        Ok(text) => Ok(has_sctp_port(&text, port)),
        // A kernel without SCTP, or one that has not been asked for it yet, has none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells if the table of SCTP's endpoints has one that listens at this port, whatever its addresses. A row is two
/// pointers, the socket's style, its state, a bucket, its port, and more: all but the pointers are decimal.
fn has_sctp_port(table: &str, port: u16) -> bool {
    table.lines().skip(1).any(|row| {
        let mut words = row.split_whitespace().skip(3);
        let state = words.next();
        let own_port = words.nth(1).and_then(|port| port.parse::<u16>().ok());
        own_port == Some(port) && state == Some(SCTP_LISTENING)
    })
}

/// Tells if a table has a socket in this state whose own port is this one. A row is its number, its own address and
/// port, its peer's, its state, and more.
fn has_port(table: &str, state: &str, port: u16) -> bool {
    table.lines().skip(1).any(|row| {
        let mut words = row.split_whitespace().skip(1);
        let own = words.next().and_then(|own| own.rsplit_once(':'));
        let own_port = own.and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
        own_port == Some(port) && words.nth(1) == Some(state)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0050 0100007F:1F41 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
";
    const UDP6: &str = "  sl  local_address                         remote_address                        st
 9: 00000000000000000000000000000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000000
";

    /// As Linux 6.1 has it, while a socket of one-to-one style and one of one-to-many style, neither of which listens,
    /// have associations with port 2905.
    const SCTP: &str = " ENDPT     SOCK   STY SST HBKT LPORT   UID INODE LADDRS
b40cac38 6182fe28 0   10  19   5000      0   130 0000:0000:0000:0000:0000:0000:0000:0000
9919ece3 23db21e7 2   10  36   2905      0   129 127.0.0.1
";

    #[test]
    fn endpoints_of_sctp_that_listen_are_found() {
        assert!(has_sctp_port(SCTP, 2_905));
        assert!(has_sctp_port(SCTP, 5_000));
        // The one in hexadecimal, a user, an inode, and a bucket.
        for other in [0x2905, 0, 129, 36] {
            assert!(!has_sctp_port(SCTP, other), "{other}");
        }
        // TCP_CLOSE: bound, and nobody is let in.
        assert!(!has_sctp_port(&SCTP.replace(" 10 ", " 7  "), 2_905));
    }

    #[test]
    fn who_listens_is_found_and_who_is_connected_is_not() {
        assert!(has_port(TCP, LISTENING, 8_000));
        for other in [80, 8_001, 0x1f] {
            assert!(!has_port(TCP, LISTENING, other), "{other}");
        }
        assert!(has_port(UDP6, BOUND, 5_353));
        assert!(!has_port(UDP6, LISTENING, 5_353));
    }

    #[test]
    fn any_table_is_read_to_an_end() {
        for cut in 0..TCP.len() {
            has_port(&TCP[..cut], LISTENING, 8_000);
        }
        for cut in 0..SCTP.len() {
            has_sctp_port(&SCTP[..cut], 2_905);
        }
        assert!(!has_sctp_port("\n1 2 3 10 5 65536\n a b c 10\n", 0));
        assert!(!has_port("\n:\n a b:zz c d\n", LISTENING, 8_000));
    }

    #[test]
    fn a_socket_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listened_at(port).unwrap());
        drop(listener);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(is_listened_at(socket.local_addr().unwrap().port()).unwrap());
    }
}
