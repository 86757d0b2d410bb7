// A compiler that is set to an older language. See check_refused.py.

// refused: the_client_in_cxx20
// flags: -std=c++20
// message: the Couchbase client needs C++23 (-std=c++23); the retry library alone needs C++20
// errors: 1
#include <reprise/couchbase.hpp>

// accepted: the_client_in_cxx23
// flags: -std=c++23
#include <reprise/couchbase.hpp>
