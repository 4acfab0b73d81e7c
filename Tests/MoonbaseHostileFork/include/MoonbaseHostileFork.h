#ifndef MOONBASE_HOSTILE_FORK_H
#define MOONBASE_HOSTILE_FORK_H

// Runs `body` in a forked process that SIGALRM ends after `seconds`. Returns the exit status, or the negated signal.
int hostile_fork(void (*_Nonnull body)(void *_Nullable context), void *_Nullable context, unsigned seconds);

#endif
