package dev.culvert.relay.observe;

import org.jspecify.annotations.Nullable;

/**
 * One request that has ended, for readers: the fields of its line in the access log (docs/operations.md),
 * with an id of its own and the problem's detail. It never contains a query, a cookie, {@code Authorization}
 * or a body. All texts are {@link LoggedText}.
 *
 * @param id the record's id; ids increase
 * @param runtime {@code account/name}; empty if no runtime has the host
 * @param status the status; 0: the caller left before a response
 * @param cause the cause of the gateway's problem; null: none
 * @param hop the hop of the problem; null: none
 * @param detail the problem's detail; null: none
 * @param end {@code complete}, {@code caller-left} or {@code reset}
 */
public record RequestRecord(String id, String began, String requestId, String runtime, String caller,
        String method, String host, String path, String protocol, String tls, String onwardTls, int status,
        @Nullable String cause, @Nullable String hop, @Nullable String detail, String end, long bytesIn,
        long bytesOut, String userAgent, long queueMicros, long bodyMicros, long windowMicros,
        long tunnelMicros, long routerMicros, long upstreamMicros, long totalMicros) {}
