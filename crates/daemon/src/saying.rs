//! Lines about programs that are said once, to whoever has started the daemon.

/// Said where no more files may be opened.
pub(crate) const SHORTAGE: &str = "no more files may be opened here, so that programs are refused \
     SCTP sockets and ports: each socket takes one file, and on raw sockets each port one for each address; \
     raise the limit (`ulimit -n`)";
/// Said of a piece that no door has written.
pub(crate) const STRANGERS: &str = "something was written to an SCTP socket past its door, and is lost: \
     by a descriptor that was passed on under --door notify, or by a way that has no door (io_uring, splice); \
     --door preload serves what is passed on";

/// Line that is said once.
#[derive(Debug)]
pub(crate) struct Saying {
    line: &'static str,
    phase: Phase,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Unseen,
    Seen,
    Said,
}

impl Saying {
    pub(crate) const fn new(line: &'static str) -> Self {
        Self { line, phase: Phase::Unseen }
    }

    /// Notes that there is a reason to say it.
    pub(crate) fn note(&mut self) {
        if self.phase == Phase::Unseen {
            self.phase = Phase::Seen;
        }
    }

    /// Takes the line, once.
    pub(crate) fn take(&mut self) -> Option<&'static str> {
        (self.phase == Phase::Seen).then(|| {
            self.phase = Phase::Said;
            self.line
        })
    }
}
