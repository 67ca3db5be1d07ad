/** Connects to the server: names, proxies, TLS, and the WebSocket upgrade. */
@NullMarked
package dev.culvert.client.dial;

import org.jspecify.annotations.NullMarked;
