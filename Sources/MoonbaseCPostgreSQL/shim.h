// The build passes the folder of libpq's header as an option. Tools without the option find the header in the second
// place.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#endif
