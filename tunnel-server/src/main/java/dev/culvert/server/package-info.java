/**
 * The tunnel server: accepts callers' requests at the edge, finds the runtime by host, and forwards them into
 * the tunnel that the runtime's client keeps open. It also enrols clients and serves the admin API. Read
 * {@link dev.culvert.server.TunnelServer} first, then along a request: the package {@code edge}, {@code
 * TunnelRelay}, {@code TunnelExchange}. {@code TunnelHandshake} and {@code TunnelSessions} admit clients,
 * {@link dev.culvert.server.admin.AdminApi} serves operators.
 *
 * <p>A connection stays on the event loop that accepted it; sessions and their streams run on the loop of
 * their connection. The database and the cryptography of enrolment have a thread each. Look-ups of runtimes
 * read memory, on any thread.
 */
@NullMarked
package dev.culvert.server;

import org.jspecify.annotations.NullMarked;
