#pragma once

/// Whether this code is compiled for AddressSanitizer or ThreadSanitizer: GCC and clang say it in
/// ways of their own.
#if defined(__SANITIZE_ADDRESS__)
#define PENSTOCK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENSTOCK_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define PENSTOCK_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PENSTOCK_THREAD_SANITIZER 1
#endif
#endif
#ifndef PENSTOCK_ADDRESS_SANITIZER
#define PENSTOCK_ADDRESS_SANITIZER 0
#endif
#ifndef PENSTOCK_THREAD_SANITIZER
#define PENSTOCK_THREAD_SANITIZER 0
#endif
