package dev.culvert.benchmarks.load;

import java.net.URI;
import java.time.Duration;

/**
 * One load.
 *
 * @param url of the resource; a server's certificate is not verified
 * @param host the Host field, or empty for the URL's
 * @param http2 whether callers speak HTTP/2: up to 50 share a connection
 * @param bytes of a request's body or of a WebSocket's message
 * @param callers the exchanges under way at once; in an open loop the most
 * @param rate arrivals a second; 0: a closed loop, in which each caller asks again when it is answered
 * @param warmUp before the measured time
 * @param time measured
 */
public record LoadPlan(URI url, String host, Kind kind, boolean http2, int bytes, int callers, double rate,
        Duration warmUp, Duration time) {}
