/* What Python's headers of the stable ABI ask of a platform, for all 64-bit platforms of wheels/targets.py: it takes
   the place of the pyconfig.h of the Python that builds. */
#ifndef LINKWORK_PYCONFIG_H
#define LINKWORK_PYCONFIG_H

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define STDC_HEADERS 1

#ifdef _WIN32
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define Py_ENABLE_SHARED 1 /* names are imported from python3.dll */
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#else
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SSIZE_T 1
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#endif

#endif
