//! Loss recovery, as traces of the window and of what is sent.
