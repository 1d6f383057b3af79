//! Next function of each name: that of the C library, or of another library that was loaded before it.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Function that is looked up once.
pub(crate) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn of(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Address of the function; null if no library has it.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.look_up() } else { found }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: The name ends with a zero byte; the linker answers with an address or none.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// Calls the next function of a name, with its C type.
macro_rules! next {
    ($name:ident as fn($($argument:ident: $kind:ty),* $(,)?) -> $result:ty) => {{
        static NEXT: $crate::next::Next = {
            const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
                concat!(stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => panic!("a name without a zero byte"),
            };
            $crate::next::Next::of(NAME)
        };
        let address = NEXT.address();
        if address.is_null() {
            $crate::outcome::fail(slantpath_requests::Errno(38)) as $result
        } else {
            // SAFETY: It is the C function of this name, and this its type; the arguments are those of the program.
            let function = unsafe {
                std::mem::transmute::<
                    *mut std::ffi::c_void,
                    unsafe extern "C-unwind" fn($($kind),*) -> $result,
                >(address)
            };
            // SAFETY: As above.
            unsafe { function($($argument),*) }
        }
    }};
}

pub(crate) use next;
