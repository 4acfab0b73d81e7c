#ifdef __linux__
#define _GNU_SOURCE
#endif

#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#ifdef __linux__
#include <stdio_ext.h>
#endif

#include "MoonbaseMeter.h"

// Set when a run ended whose output has no reader. The remaining output is dropped, so that the process can end or
// begin another run.
static atomic_bool isGivenUp;

void moonbase_stream_give_up(void) { atomic_store(&isGivenUp, true); }

void moonbase_stream_wait_again(void) { atomic_store(&isGivenUp, false); }

// Whether writing this many bytes passes data to the system now, instead of only filling the stream's buffer.
static bool passes_on(FILE *stream, size_t length) {
#ifdef __linux__
  return __flbf(stream) || __fpending(stream) + length >= __fbufsize(stream);
#else
  (void)stream, (void)length;
  return true;
#endif
}

static bool is_empty(FILE *stream) {
#ifdef __linux__
  return __fpending(stream) == 0;
#else
  (void)stream;
  return false;
#endif
}

static void drop(FILE *stream) {
#ifdef __linux__
  __fpurge(stream);
#else
  fpurge(stream);
#endif
}

// Whether writing may block until data is read: for pipes, sockets and terminals.
static bool may_wait(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
}

// Waits for room. Returns false, and drops the buffer, if the run on this thread must end meanwhile.
static bool wait_for_room(FILE *stream) {
  for (;;) {
    struct pollfd request = {fileno(stream), POLLOUT, 0};
    int count = poll(&request, 1, 50);
    if (count > 0) return true;
    if (moonbase_meter_look()) moonbase_stream_give_up();
    if (atomic_load(&isGivenUp)) break;
  }
  drop(stream);
  return false;
}

bool moonbase_stream_has_given_up(void) { return atomic_load(&isGivenUp); }

int moonbase_stream_flush(FILE *stream) {
  if (is_empty(stream)) return fflush(stream);
  return may_wait(fileno(stream)) && !wait_for_room(stream) ? 0 : fflush(stream);
}

void moonbase_stream_write(FILE *stream, const void *bytes, size_t length) {
  bool waits = passes_on(stream, length) && may_wait(fileno(stream));
  const char *rest = bytes;
  while (length > 0) {
    // A pipe with room accepts PIPE_BUF bytes. For more, the system would block until all are accepted.
    size_t part = waits && length > PIPE_BUF ? PIPE_BUF : length;
    // The buffer is flushed first, because the buffer and the part would be two writes, and there is room for one.
    if (waits && passes_on(stream, part)) {
      if (moonbase_stream_flush(stream) != 0 || !wait_for_room(stream)) return;
    }
    if (fwrite(rest, 1, part, stream) < part) return;
    rest += part;
    length -= part;
  }
}
