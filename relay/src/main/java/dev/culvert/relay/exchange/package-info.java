/** One request and its response, independent of the HTTP version. */
@NullMarked
package dev.culvert.relay.exchange;

import org.jspecify.annotations.NullMarked;
