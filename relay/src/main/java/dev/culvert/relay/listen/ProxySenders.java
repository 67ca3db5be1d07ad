package dev.culvert.relay.listen;

import java.time.Duration;

/**
 * The balancers whose connections begin with a PROXY header.
 *
 * @param peers who they are; nobody else may connect, because a header is believed
 * @param patience how long one may take to send its header
 */
public record ProxySenders(PlainPeers peers, Duration patience) {}
