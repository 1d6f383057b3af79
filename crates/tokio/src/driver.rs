//! The task of an endpoint: it has the host do what there is to do, and wakes whom that concerns.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use slantpath_live::Woken;
use tokio::io::unix::AsyncFd;

use crate::shared::Shared;

/// Number of batches of packets that are taken in before other tasks of the runtime have their turn.
const TURNS: usize = 16;

/// Has everybody know if the task ends early, by the end of its runtime.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.fail(io::Error::other("the runtime that the endpoint was bound in is gone"));
    }
}

/// Runs until nobody has to do with the endpoint any more, or its sockets fail.
pub(crate) async fn drive(shared: Arc<Shared>, readiness: AsyncFd<OwnedFd>) {
    let last_word = LastWord(Arc::clone(&shared));
    if let Err(error) = run(&shared, &readiness).await {
        shared.fail(error);
    }
    drop(last_word);
}

async fn run(shared: &Shared, readiness: &AsyncFd<OwnedFd>) -> io::Result<()> {
    loop {
        let mut ready = tokio::select! {
            ready = readiness.readable() => Some(ready?),
            () = shared.work.notified() => None,
        };
        let (woken, is_over) = turn(shared)?;
        if is_over {
            return Ok(());
        }
        match (woken, &mut ready) {
            (Woken::Idle, Some(ready)) => ready.clear_ready(),
            (Woken::Idle, None) => {}
            (Woken::Worked, _) => {
                shared.work.notify_one();
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Does some of what there is to do. Gives whether there may be more, and whether all has come to its end.
fn turn(shared: &Shared) -> io::Result<(Woken, bool)> {
    let mut state = shared.lock();
    let mut woken = Woken::Worked;
    for _ in 0..TURNS {
        woken = state.live.turn()?;
        if woken == Woken::Idle {
            break;
        }
    }
    shared.ring(&mut state);
    let is_over = state.holders == 0 && state.live.host().program.held() == 0;
    Ok((woken, is_over))
}
