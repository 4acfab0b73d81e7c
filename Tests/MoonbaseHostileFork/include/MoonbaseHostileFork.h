#ifndef MOONBASE_HOSTILE_FORK_H
#define MOONBASE_HOSTILE_FORK_H

// Runs `body` in a copy of this process that SIGALRM ends after `seconds`. Gives its exit status, or minus the signal.
int hostile_fork(void (*_Nonnull body)(void *_Nullable context), void *_Nullable context, unsigned seconds);

#endif
