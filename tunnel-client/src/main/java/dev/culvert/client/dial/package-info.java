/** Reaching the server: names, proxies, TLS, the WebSocket upgrade. */
@NullMarked
package dev.culvert.client.dial;

import org.jspecify.annotations.NullMarked;
