/* Preloaded: after `mortal_before(n)`, kills the process before its n-th change of a file;
 * after `full_at(n)`, lets the n-th change of a file and every later one fail as on a full disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long left = -1;
static long room = -1;
static long made = 0;

void mortal_before(long change) { left = change; }
void full_at(long change) { room = change; }
void room_again(void) { room = -1; }
long changes(void) { return made; }

static void *counted(const char *name)
{
    made++;
    if (left > 0 && --left == 0)
        kill(getpid(), SIGKILL);
    return dlsym(RTLD_NEXT, name);
}

static int is_full(void)
{
    if (room < 0)
        return 0;
    if (room > 1) {
        room--;
        return 0;
    }
    errno = ENOSPC;
    return 1;
}

#define CHANGE(type, name, taken, given)            \
    type name taken                                 \
    {                                               \
        type(*real) taken = counted(#name);         \
        return real given;                          \
    }

/* These need room. Files 0 to 2 are the terminal, or a pipe to the caller. */
#define FILLING(type, name, file, taken, given)     \
    type name taken                                 \
    {                                               \
        type(*real) taken = counted(#name);         \
        return file > 2 && is_full() ? -1 : real given; \
    }

FILLING(ssize_t, write, file, (int file, const void *from, size_t size), (file, from, size))
FILLING(ssize_t, pwrite, file, (int file, const void *from, size_t size, off_t at),
        (file, from, size, at))
FILLING(ssize_t, pwrite64, file, (int file, const void *from, size_t size, off_t at),
        (file, from, size, at))
FILLING(ssize_t, sendfile, to, (int to, int from, off_t *at, size_t size), (to, from, at, size))
FILLING(ssize_t, sendfile64, to, (int to, int from, off_t *at, size_t size), (to, from, at, size))
FILLING(int, mkdir, 3, (const char *name, mode_t mode), (name, mode))
CHANGE(int, ftruncate, (int file, off_t size), (file, size))
CHANGE(int, ftruncate64, (int file, off_t size), (file, size))
CHANGE(int, unlink, (const char *name), (name))
CHANGE(int, unlinkat, (int folder, const char *name, int how), (folder, name, how))
CHANGE(int, rmdir, (const char *name), (name))
CHANGE(int, rename, (const char *from, const char *to), (from, to))
