//! Ends of a process that pass its destructors by: `_exit` and `_Exit`.

use libc::c_int;

use crate::ending::mark_all;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _exit(status: c_int) -> ! {
    end(status)
}

fn end(status: c_int) -> ! {
    mark_all();
    // SAFETY: The call ends the process.
    unsafe { libc::syscall(libc::SYS_exit_group, status) };
    unreachable!("the process has ended")
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _Exit(status: c_int) -> ! {
    end(status)
}
