package dev.culvert.server.page.request;

import dev.culvert.relay.observe.RequestRecord;
import org.jspecify.annotations.Nullable;

/** Records of requests for tests. */
final class RequestTexts {
    private RequestTexts() {}

    static RequestRecord of(String method, String host, String path) {
        return of(method, host, path, null, new long[]{1000, 0, 0, 0, 0, 0}, 1000);
    }

    /** @param micros queue, body, window, tunnel, router and upstream */
    static RequestRecord of(String method, String host, String path, @Nullable String hop, long[] micros,
            long total) {
        return new RequestRecord("1", "2027-01-01T00:00:00.123456Z", "id-1", "acme/prod", "192.0.2.7", method,
                host, path, "HTTP/2", "TLSv1.3/X25519", "-", 502, hop == null ? null : "upstream-refused",
                hop,
                hop == null ? null : "no connection", "complete", 0, 0, "curl", micros[0], micros[1],
                micros[2], micros[3], micros[4], micros[5], total);
    }
}
