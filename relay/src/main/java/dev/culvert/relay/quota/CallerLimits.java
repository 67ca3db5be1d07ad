package dev.culvert.relay.quota;

import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.time.Duration;

/**
 * The limits of each caller and each runtime at the edge. The defaults are those of product.md.
 *
 * @param maxHeadBytes the maximum bytes of a request head; above: 431
 * @param maxHeadFields the maximum fields of a request head; above: 431
 * @param maxUriBytes the maximum bytes of a request target; above: 414
 * @param maxStreams the maximum concurrent exchanges of one runtime; above: 503
 * @param headTimeout the maximum time to read a request head; above: 408
 * @param requestBodyIdleTimeout the maximum silence in a request body, until the response begins; above: 408
 * @param responseHeadTimeout the maximum time from the last request byte forwarded to the response head;
 *     above: 504
 * @param requestStallTimeout the maximum time for which an upstream may consume nothing of a waiting request
 *     body, before the response begins; above: 504; 0: no limit
 * @param idleTimeout the maximum idle time of a connection between requests; above: closed
 * @param maxConnectionsPerAddress the maximum open connections of one address, for each listener, also that
 *     of tunnel clients; above: closed
 * @param requestsPerSecond the maximum rate of one runtime; above: 429; 0: no limit
 * @param requestBurst the maximum requests of one runtime at once after a pause; 0: as many as per second
 * @param maxBodyBytes the maximum bytes of a request body; above: 413; 0: no limit
 * @param bytesPerSecond the maximum rate of one runtime's bodies, in each direction; excess bytes wait; 0: no
 *     limit
 * @param minRequestBodyRate the minimum average bytes per second of a request body while the edge waits for
 *     it; 0: no minimum
 * @param responseStallTimeout the maximum time for which a caller may accept nothing of a waiting response;
 *     0: no limit while memory is not short
 * @param maxBufferedBytes the maximum bytes of all bodies in this process; above: 503, and exchanges in
 *     progress stop reading; 0: a quarter of the direct memory
 */
public record CallerLimits(
        @Setting(value = "Bytes of a request head; more is answered 431", byDefault = "64KiB", accepts = "1KiB..1MiB") ByteSize maxHeadBytes,
        @Setting(value = "Fields of a request head; more is answered 431", byDefault = "100", accepts = "1..10000") int maxHeadFields,
        @Setting(value = "Bytes of a request's URI; more is answered 414", byDefault = "16KiB", accepts = "64..64KiB") ByteSize maxUriBytes,
        @Setting(value = "Concurrent streams of one runtime; more is answered 503", byDefault = "1000", accepts = "1..1000000") int maxStreams,
        @Setting(value = "Time to read a request head; slower is answered 408", byDefault = "10s", accepts = "1ms..1h") Duration headTimeout,
        @Setting(value = "Silence allowed in a request body until its response begins; longer is answered 408", byDefault = "60s", accepts = "1ms..24h") Duration requestBodyIdleTimeout,
        @Setting(value = "Time from the last request byte forwarded to the response head; longer is answered 504", byDefault = "60s", accepts = "1ms..24h") Duration responseHeadTimeout,
        @Setting(value = "How long an upstream may take nothing of a request body that waits for it, before the response begins; longer is answered 504. 0: as long as it likes", byDefault = "2m", accepts = "0s..24h") Duration requestStallTimeout,
        @Setting(value = "Idle time of a connection between requests; then it is closed", byDefault = "60s", accepts = "1ms..24h") Duration idleTimeout,
        @Setting(value = "Connections of one address at once (of IPv6: of one /64), of callers and of tunnel clients; more are closed. Many share one address behind a balancer that does not keep it", byDefault = "10000", accepts = "1..1000000") int maxConnectionsPerAddress,
        @Setting(value = "Requests per second of one runtime; more is answered 429. 0: no limit", byDefault = "0", accepts = "0..1000000") int requestsPerSecond,
        @Setting(value = "Requests of one runtime at once after a pause, where requestsPerSecond limits them. 0: as many as that", byDefault = "0", accepts = "0..1000000") int requestBurst,
        @Setting(value = "Bytes of a request body; more is answered 413. 0: no limit", byDefault = "0", accepts = "0..1048576GiB") ByteSize maxBodyBytes,
        @Setting(value = "Body bytes per second of one runtime, in each direction; more wait. 0: no limit", byDefault = "0", accepts = "0, or 1KiB..1024GiB") ByteSize bytesPerSecond,
        @Setting(value = "Bytes per second that a request body must bring on average while the server waits for it: a caller may be silent for requestBodyIdleTimeout, and earns one more second with this number of bytes. gRPC, WebSockets and requests that are answered already are exempt. 0: any", byDefault = "240", accepts = "0..1GiB") ByteSize minRequestBodyRate,
        @Setting(value = "How long a caller may take nothing of a response that waits for it; then its stream is reset. 0: as long as it likes, while maxBufferedBytes is not spent", byDefault = "0s", accepts = "0s..24h") Duration responseStallTimeout,
        @Setting(value = "Bytes of bodies that the server holds at once, in both directions; then requests are answered 503 and those that run stop reading. 0: a quarter of the direct memory (-XX:MaxDirectMemorySize, else the heap's size)", byDefault = "0", accepts = "0, or 1MiB..1024GiB") ByteSize maxBufferedBytes) {

    private static final int MAX_STREAMS = 1_000_000;
    private static final int MAX_FIELDS = 10_000;
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    public CallerLimits {
        require("maxHeadBytes", maxHeadBytes.bytes() >= 1024 && maxHeadBytes.bytes() <= 1 << 20,
                "1KiB..1MiB");
        require("maxHeadFields", maxHeadFields >= 1 && maxHeadFields <= MAX_FIELDS, "1..10000");
        require("maxUriBytes", maxUriBytes.bytes() >= 64 && maxUriBytes.bytes() <= 64 << 10, "64..64KiB");
        require("maxStreams", maxStreams >= 1 && maxStreams <= MAX_STREAMS, "1..1000000");
        require("headTimeout", within(headTimeout, HOUR), "1ms..1h");
        require("requestBodyIdleTimeout", within(requestBodyIdleTimeout, DAY), "1ms..24h");
        require("responseHeadTimeout", within(responseHeadTimeout, DAY), "1ms..24h");
        require("requestStallTimeout",
                !requestStallTimeout.isNegative() && requestStallTimeout.compareTo(DAY) <= 0, "0s..24h");
        require("idleTimeout", within(idleTimeout, DAY), "1ms..24h");
        require("maxConnectionsPerAddress",
                maxConnectionsPerAddress >= 1 && maxConnectionsPerAddress <= MAX_STREAMS, "1..1000000");
        require(RuntimeLimit.REQUESTS_PER_SECOND, requestsPerSecond);
        require(RuntimeLimit.REQUEST_BURST, requestBurst);
        require(RuntimeLimit.MAX_BODY_BYTES, maxBodyBytes.bytes());
        require(RuntimeLimit.BYTES_PER_SECOND, bytesPerSecond.bytes());
        require("minRequestBodyRate", minRequestBodyRate.bytes() <= 1 << 30, "0..1GiB");
        require("responseStallTimeout",
                !responseStallTimeout.isNegative() && responseStallTimeout.compareTo(DAY) <= 0, "0s..24h");
        require("maxBufferedBytes", isBudget(maxBufferedBytes.bytes()), "0, or 1MiB..1024GiB");
    }

    /** Returns the limits of a server that configures none. */
    public static CallerLimits defaults() {
        return new CallerLimits(new ByteSize(64 << 10), 100, new ByteSize(16 << 10), 1000,
                Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(60),
                Duration.ofMinutes(2), Duration.ofSeconds(60), 10_000, 0, 0, new ByteSize(0), new ByteSize(0),
                new ByteSize(240),
                Duration.ZERO,
                new ByteSize(0));
    }

    /** Returns these limits with other time-outs. */
    public CallerLimits within(Duration head, Duration body, Duration response, Duration idle) {
        return new CallerLimits(maxHeadBytes, maxHeadFields, maxUriBytes, maxStreams, head, body, response,
                requestStallTimeout, idle, maxConnectionsPerAddress, requestsPerSecond, requestBurst,
                maxBodyBytes,
                bytesPerSecond, minRequestBodyRate, responseStallTimeout, maxBufferedBytes);
    }

    /** Returns these limits with another maximum of connections of one address. */
    public CallerLimits ofAddress(int connections) {
        return new CallerLimits(maxHeadBytes, maxHeadFields, maxUriBytes, maxStreams, headTimeout,
                requestBodyIdleTimeout, responseHeadTimeout, requestStallTimeout, idleTimeout, connections,
                requestsPerSecond,
                requestBurst, maxBodyBytes, bytesPerSecond, minRequestBodyRate, responseStallTimeout,
                maxBufferedBytes);
    }

    /** Returns these limits with another memory budget. */
    public CallerLimits holding(ByteSize most) {
        return new CallerLimits(maxHeadBytes, maxHeadFields, maxUriBytes, maxStreams, headTimeout,
                requestBodyIdleTimeout, responseHeadTimeout, requestStallTimeout, idleTimeout,
                maxConnectionsPerAddress,
                requestsPerSecond, requestBurst, maxBodyBytes, bytesPerSecond, minRequestBodyRate,
                responseStallTimeout, most);
    }

    /** Returns these limits with another time-out for upstreams that consume nothing. */
    public CallerLimits waiting(Duration requestStall) {
        return new CallerLimits(maxHeadBytes, maxHeadFields, maxUriBytes, maxStreams, headTimeout,
                requestBodyIdleTimeout, responseHeadTimeout, requestStall, idleTimeout,
                maxConnectionsPerAddress, requestsPerSecond, requestBurst, maxBodyBytes, bytesPerSecond,
                minRequestBodyRate, responseStallTimeout, maxBufferedBytes);
    }

    /** Returns these limits with other limits for slow callers. */
    public CallerLimits cutting(ByteSize bodyRate, Duration stall) {
        return new CallerLimits(maxHeadBytes, maxHeadFields, maxUriBytes, maxStreams, headTimeout,
                requestBodyIdleTimeout, responseHeadTimeout, requestStallTimeout, idleTimeout,
                maxConnectionsPerAddress,
                requestsPerSecond, requestBurst, maxBodyBytes, bytesPerSecond, bodyRate, stall,
                maxBufferedBytes);
    }

    /** Returns the limits of each runtime without its own. */
    public RuntimeLimits ofRuntime() {
        return new RuntimeLimits(maxStreams, requestsPerSecond, requestBurst, maxBodyBytes.bytes(),
                bytesPerSecond.bytes());
    }

    private static void require(RuntimeLimit limit, long value) {
        require(limit.key(), limit.takes(value), limit.accepts());
    }

    private static boolean isBudget(long bytes) {
        return bytes == 0 || (bytes >= 1 << 20 && bytes <= 1L << 40);
    }

    private static boolean within(Duration value, Duration most) {
        return value.toMillis() >= 1 && value.compareTo(most) <= 0;
    }

    private static void require(String key, boolean valid, String expected) {
        if (!valid) {
            throw new ConfigException(key, expected);
        }
    }
}
