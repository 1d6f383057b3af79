//! Request of a client: any bytes give what is asked, or that more are to come.

use httparse::{EMPTY_HEADER, Error, Request, Status};

/// Longest head of a request, in bytes.
pub(super) const HEAD_MAX: usize = 8_192;
/// Lines of a head, at most.
const HEADERS_MAX: usize = 64;
/// Path of the figures.
const PATH: &str = "/metrics";

/// Something that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// For the figures, or for the head of their answer alone.
    Figures { with_body: bool },
    /// For something at another path.
    Elsewhere,
    /// For something to be done.
    NoReading,
    /// The head is too long.
    TooLong,
    /// The bytes are no request.
    Nonsense,
}

/// Reads the head of a request; `None` while it is not whole.
pub(super) fn asked(head: &[u8]) -> Option<Asked> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Complete(length)) if length <= HEAD_MAX => {}
        Ok(Status::Partial) if head.len() <= HEAD_MAX => return None,
        Ok(_) | Err(Error::TooManyHeaders) => return Some(Asked::TooLong),
        Err(_) => return Some(Asked::Nonsense),
    }
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    Some(match request.method {
        Some("GET") if path == PATH => Asked::Figures { with_body: true },
        Some("HEAD") if path == PATH => Asked::Figures { with_body: false },
        Some("GET" | "HEAD") => Asked::Elsewhere,
        _ => Asked::NoReading,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_request_is_for_the_figures_or_told_what_is_wrong() {
        for (head, wanted) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", Some(Asked::Figures { with_body: true })),
            ("GET /metrics?a=b HTTP/1.0\r\n\r\n", Some(Asked::Figures { with_body: true })),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", Some(Asked::Figures { with_body: false })),
            ("GET / HTTP/1.1\r\n\r\n", Some(Asked::Elsewhere)),
            ("GET /metricsx HTTP/1.1\r\n\r\n", Some(Asked::Elsewhere)),
            ("POST /metrics HTTP/1.1\r\n\r\n", Some(Asked::NoReading)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n", None),
            ("", None),
            ("{\"status\":{}}\r\n\r\n", Some(Asked::Nonsense)),
        ] {
            assert_eq!(asked(head.as_bytes()), wanted, "{head:?}");
        }
        let long = format!("GET /metrics HTTP/1.1\r\nA: {}", "b".repeat(HEAD_MAX));
        assert_eq!(asked(long.as_bytes()), Some(Asked::TooLong));
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS_MAX + 1));
        assert_eq!(asked(many.as_bytes()), Some(Asked::TooLong));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_none(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            text in "(GET|PUT|x) /(metrics)?.{0,9} HTTP/1.[01x](\r\n.{0,9}){0,3}\r\n\r\n",
        ) {
            let _ = asked(&bytes);
            let _ = asked(text.as_bytes());
        }
    }
}
