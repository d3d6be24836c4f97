#pragma once

#include <string>

#include "penstock/base/random.h"

namespace penstock::formats {

/// Appends a random JSON value, with whitespace here and there, at most `depth` containers deep.
/// Keys of one object differ.
void appendRandomValue(base::Random& random, int depth, std::string* out);

/// Appends a random object.
void appendRandomObject(base::Random& random, int depth, std::string* out);

/// Appends a random string literal: plain text, escapes, characters of two to four bytes.
void appendRandomString(base::Random& random, std::string* out);

/// Replaces, removes, inserts or doubles one byte, often by one that means something to JSON.
void mutateOneByte(base::Random& random, std::string* text);

}  // namespace penstock::formats
