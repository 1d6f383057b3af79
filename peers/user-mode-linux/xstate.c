/*
 * Lets User-Mode Linux run on processors with AMX.
 *
 * It keeps a process's registers in 2,696 bytes and sets them with as many (PTRACE_SETREGSET of NT_X86_XSTATE), which was
 * all that processors had. With AMX they have 11,008, and Linux takes all or nothing: the guest's first process dies. As
 * a library that is loaded first this sets them all: those that User-Mode Linux knows, and zeros behind them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202

static long set_all(pid_t process, const struct iovec *known) {
    /* Its stacks are small, and it has one thread. */
    static unsigned char registers[65536];
    struct iovec all = {registers, sizeof registers};
    if (syscall(SYS_ptrace, PTRACE_GETREGSET, process, NT_X86_XSTATE, &all) < 0)
        return -1;
    if (known->iov_len < all.iov_len)
        memset(registers + known->iov_len, 0, all.iov_len - known->iov_len);
    memcpy(registers, known->iov_base, known->iov_len < all.iov_len ? known->iov_len : all.iov_len);
    return syscall(SYS_ptrace, PTRACE_SETREGSET, process, NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...) {
    va_list list;
    va_start(list, request);
    pid_t process = va_arg(list, pid_t);
    void *address = va_arg(list, void *);
    void *data = va_arg(list, void *);
    va_end(list);
    if (request == PTRACE_SETREGSET && (unsigned long)address == NT_X86_XSTATE)
        return set_all(process, data);
    if (request != PTRACE_PEEKTEXT && request != PTRACE_PEEKDATA && request != PTRACE_PEEKUSER)
        return syscall(SYS_ptrace, request, process, address, data);
    /* The system writes what these three give; the C library returns it. */
    long word = 0;
    if (syscall(SYS_ptrace, request, process, address, &word) < 0)
        return -1;
    errno = 0;
    return word;
}
