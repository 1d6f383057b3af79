//! File descriptors of this process, of which each socket of a relay is one.

/// Raises the limit of this process's descriptors to `count`, as far as the system allows it. Programs inherit the
/// limit: those that are started before keep theirs.
#[cfg(unix)]
pub(super) fn allow(count: usize) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = count.try_into().map_or(hard, |count| hard.min(count));
    if wanted > soft {
        // Where it stays as it is, connections beyond it are reset, which is told at the end.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub(super) const fn allow(_: usize) {}
