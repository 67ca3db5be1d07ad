/** One request and its response, whatever version of HTTP carries it. */
@NullMarked
package dev.culvert.relay.exchange;

import org.jspecify.annotations.NullMarked;
