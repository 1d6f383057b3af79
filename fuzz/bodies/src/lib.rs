//! Fuzz bodies: one function per parser, shared by the fuzz targets and the corpus replay.
