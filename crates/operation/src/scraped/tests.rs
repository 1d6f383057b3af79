use std::time::Duration as Wait;

use super::*;

fn open() -> ScrapeSocket {
    ScrapeSocket::open(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap()
}

fn client(socket: &ScrapeSocket, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(socket.address().unwrap()).unwrap();
    stream.set_read_timeout(Some(Wait::from_mins(1))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Looks until so many clients are left: what was sent over the loopback has come when the call that sent it is back.
fn look(socket: &mut ScrapeSocket, now: Instant, collected: &mut u32) {
    socket.look(now, &mut || {
        *collected += 1;
        format!("figure {collected}\n")
    });
}

fn told(mut client: TcpStream) -> String {
    let mut told = String::new();
    client.read_to_string(&mut told).unwrap();
    told
}

const GET: &str = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn figures_are_told_with_their_length_and_collected_once_a_second() {
    let mut socket = open();
    let mut collected = 0;
    for (millis, request, figure) in [(0, GET, 1), (999, GET, 1), (1_000, GET, 2)] {
        let client = client(&socket, request);
        look(&mut socket, Instant::from_millis(millis), &mut collected);
        let told = told(client);
        assert!(
            told.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n")
        );
        let rest = format!("\r\nContent-Length: 9\r\nConnection: close\r\n\r\nfigure {figure}\n");
        assert!(told.ends_with(&rest), "{told}");
    }
    let head = client(&socket, "HEAD /metrics HTTP/1.1\r\n\r\n");
    look(&mut socket, Instant::from_millis(1_000), &mut collected);
    let told = told(head);
    assert!(told.contains("\r\nContent-Length: 9\r\n") && told.ends_with("\r\n\r\n"), "{told}");
}

#[test]
fn a_request_may_come_in_pieces_and_its_client_goes_when_it_is_answered() {
    let mut socket = open();
    let mut collected = 0;
    let mut client = client(&socket, "GET /met");
    look(&mut socket, Instant::START, &mut collected);
    assert_eq!((socket.clients.len(), collected), (1, 0));
    client.write_all(b"rics HTTP/1.0\r\n\r\n").unwrap();
    look(&mut socket, Instant::from_secs(1), &mut collected);
    assert!(told(client).ends_with("figure 1\n"));
    look(&mut socket, Instant::from_secs(2), &mut collected);
    assert_eq!(socket.clients.len(), 0);
}

#[test]
fn what_is_not_for_the_figures_is_told_so() {
    let mut socket = open();
    for (request, status) in [
        ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
        ("DELETE /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
        ("nonsense\r\n\r\n", "400 Bad Request"),
        (
            &format!("GET /metrics HTTP/1.1\r\n{}", "A: b\r\n".repeat(100)),
            "431 Request Header Fields Too Large",
        ),
    ] {
        let client = client(&socket, request);
        look(&mut socket, Instant::START, &mut 0);
        let told = told(client);
        assert!(told.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{told}");
    }
}

#[test]
fn a_client_that_says_nothing_has_its_time_and_no_more() {
    let mut socket = open();
    let _mute = client(&socket, "");
    look(&mut socket, Instant::START, &mut 0);
    look(&mut socket, Instant::from_millis(9_999), &mut 0);
    assert_eq!(socket.clients.len(), 1);
    look(&mut socket, Instant::from_secs(10), &mut 0);
    assert_eq!(socket.clients.len(), 0);
}

#[test]
fn one_that_reads_nothing_holds_a_bounded_amount_and_others_are_answered() {
    let mut socket = open();
    let _deaf = client(&socket, GET);
    let long = "x".repeat(64 << 20);
    for second in 0..9 {
        socket.look(Instant::from_secs(second), &mut || long.clone());
    }
    assert_eq!(socket.clients.len(), 1);
    let other = client(&socket, "GET / HTTP/1.1\r\n\r\n");
    look(&mut socket, Instant::from_secs(9), &mut 0);
    assert!(told(other).starts_with("HTTP/1.1 404 "));
    look(&mut socket, Instant::from_secs(10), &mut 0);
    assert!(socket.clients.iter().all(|client| matches!(client.stage, Stage::Answered)));
}

#[test]
fn a_newcomer_has_the_place_of_the_oldest() {
    let mut socket = open();
    let _crowd: Vec<_> = (0..CLIENTS_MAX).map(|_| client(&socket, "")).collect();
    look(&mut socket, Instant::START, &mut 0);
    assert_eq!(socket.clients.len(), CLIENTS_MAX);
    let newcomer = client(&socket, GET);
    look(&mut socket, Instant::START, &mut 0);
    assert_eq!(socket.clients.len(), CLIENTS_MAX);
    assert!(told(newcomer).ends_with("figure 1\n"));
}
