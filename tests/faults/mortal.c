/* Preloaded: kills the process before its n-th change of a file, once `mortal_before` said n. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1;

void mortal_before(long change) { left = change; }

static void *counted(const char *name)
{
    if (left > 0 && --left == 0)
        kill(getpid(), SIGKILL);
    return dlsym(RTLD_NEXT, name);
}

#define CHANGE(type, name, taken, given)            \
    type name taken                                 \
    {                                               \
        type(*real) taken = counted(#name);         \
        return real given;                          \
    }

CHANGE(ssize_t, write, (int file, const void *from, size_t size), (file, from, size))
CHANGE(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at), (file, from, size, at))
CHANGE(ssize_t, pwrite64, (int file, const void *from, size_t size, off_t at), (file, from, size, at))
CHANGE(int, ftruncate, (int file, off_t size), (file, size))
CHANGE(int, ftruncate64, (int file, off_t size), (file, size))
CHANGE(int, unlink, (const char *name), (name))
CHANGE(int, rename, (const char *from, const char *to), (from, to))
