package dev.culvert.relay.outbound;

import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;

/**
 * The connections of one event loop to one upstream, and the exchanges that wait for one. Used only on that
 * loop.
 */
sealed interface UpstreamPool permits Http1Pool, Http2Pool {
    UpstreamAddress address();

    /** Starts an exchange. */
    RequestSink open(RelayRequest request, UpstreamCall outgoing, ResponseSink response);

    /** Whether the pool has neither connections nor waiting exchanges, so that it can be removed. */
    boolean isEmpty();

    /** The number of exchanges that wait for a connection. */
    int waiting();

    /** Closes the connection that has been idle longest. Returns false if none is idle. */
    boolean closeIdle();

    /** Opens connections for waiting exchanges, within the limits. */
    void serveWaiting();

    /** Refuses the waiting exchanges, because the server stops. */
    void refuseWaiting();
}
