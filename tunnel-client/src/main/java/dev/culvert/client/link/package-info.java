/** Live tunnels: reconnecting, forwarding of streams, hand-over. */
@NullMarked
package dev.culvert.client.link;

import org.jspecify.annotations.NullMarked;
