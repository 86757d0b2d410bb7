#pragma once

/// Marks what a shared library of ours exports: everything else stays hidden. The mark is the same
/// for the library and for its users, so no definition has to agree between the two.
#define REPRISE_EXPORT [[gnu::visibility("default")]]
