/**
 * The tunnel client. Obtains an identity, dials the server, keeps the tunnel up, and forwards its streams to
 * a router in the same process or to one upstream. Read {@link dev.culvert.client.TunnelClient} first, then
 * {@code Link}, which is one connection of the tunnel, and {@code StreamForwarder}. For the identity start
 * with {@link dev.culvert.client.identity.IdentitySource}, which reads the stored one or enrols with a token
 * (docs/enrolment.md).
 *
 * <p>A connection, its session, its streams and their upstream connections share one event loop. Files and
 * names of servers are read on the bounded elastic scheduler.
 */
@NullMarked
package dev.culvert.client;

import org.jspecify.annotations.NullMarked;
