/** The HTTP server of handlers: admin API, health, App-Proxy, control plane. */
@NullMarked
package dev.culvert.handlers.server;

import org.jspecify.annotations.NullMarked;
