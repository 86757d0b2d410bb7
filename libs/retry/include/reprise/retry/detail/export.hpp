#pragma once

/// The one place for attributes that are not of the language.
///
/// `REPRISE_EXPORT` marks what a shared library of ours exports: everything else stays hidden. The
/// mark is the same for the library and for its users, so no definition has to agree between the
/// two. The single header exports nothing: it is part of the program or plugin that includes it,
/// and with -fvisibility=hidden two plugins can each have a copy.
#if defined(REPRISE_SINGLE_HEADER) || defined(_WIN32) || !defined(__GNUC__)
#define REPRISE_EXPORT
#else
#define REPRISE_EXPORT [[gnu::visibility("default")]]
#endif
