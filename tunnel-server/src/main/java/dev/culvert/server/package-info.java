/**
 * The tunnel server: takes callers' requests at the edge, finds the runtime by host, and forwards them into the tunnel
 * that the runtime's client keeps open; enrols clients; serves the admin API. Read {@link
 * dev.culvert.server.TunnelServer} first, then along a request: the package {@code edge}, {@code TunnelRelay}, {@code TunnelExchange}. {@code TunnelHandshake} and {@code TunnelSessions} let clients in, {@link
 * dev.culvert.server.admin.AdminApi} serves operators.
 *
 * <p>Connections live on the event loop that accepted them, sessions and their streams on that of their connection. The
 * database and the cryptography of enrolment have a thread each; look-ups of runtimes read memory, on any thread.
 */
@NullMarked
package dev.culvert.server;

import org.jspecify.annotations.NullMarked;
