package dev.culvert.relay.outbound;

import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;

/** The connections of one event loop to one upstream, and the exchanges that wait for one. Used on that loop alone. */
sealed interface UpstreamPool permits Http1Pool, Http2Pool {
    UpstreamAddress address();

    /** Starts an exchange. */
    RequestSink open(RelayRequest request, UpstreamCall outgoing, ResponseSink response);

    /** Whether it has neither connections nor waiting exchanges, and may be forgotten. */
    boolean isEmpty();

    /** How many exchanges wait for a connection. */
    int waiting();

    /** Closes the connection that has been idle longest. False: none is. */
    boolean closeIdle();

    /** Opens connections for those that wait, as far as it may. */
    void serveWaiting();

    /** Refuses those that wait: the server ends. */
    void refuseWaiting();
}
