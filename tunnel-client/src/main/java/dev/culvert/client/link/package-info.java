/** Tunnels that are up: reconnecting, forwarding streams, hand-over. */
@NullMarked
package dev.culvert.client.link;

import org.jspecify.annotations.NullMarked;
