/** Routes by path, method and header fields, and their announcements. */
@NullMarked
package dev.culvert.relay.route;

import org.jspecify.annotations.NullMarked;
