package dev.culvert.relay.listen;

import java.time.Duration;

/**
 * The balancers whose connections begin with a PROXY header.
 *
 * @param peers the balancers' addresses; other peers may not connect, because PROXY headers are trusted
 * @param patience the time that a balancer has to send its header
 */
public record ProxySenders(PlainPeers peers, Duration patience) {}
