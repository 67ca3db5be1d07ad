package dev.culvert.appproxy.argo.api;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;

/** Cuts a stream of bytes at its line ends. A line longer than allowed is emitted in pieces. */
public final class LineStream {
    private final int maxBytes;
    private final ByteArrayOutputStream rest = new ByteArrayOutputStream();

    private LineStream(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * The lines of UTF-8 text, without their ends and without empty ones; demand and cancellation go to the
     * source.
     */
    public static Flux<String> of(Flux<byte[]> chunks, int maxBytes) {
        return Flux.defer(() -> {
            var lines = new LineStream(maxBytes);
            return chunks.concatMapIterable(lines::feed, 1).concatWith(Flux.defer(lines::last));
        });
    }

    private List<String> feed(byte[] chunk) {
        var lines = new ArrayList<String>();
        for (byte one : chunk) {
            if (one == '\n') {
                take(lines);
            } else {
                rest.write(one);
                if (rest.size() == maxBytes) {
                    take(lines);
                }
            }
        }
        return lines;
    }

    private Flux<String> last() {
        var lines = new ArrayList<String>();
        take(lines);
        return Flux.fromIterable(lines);
    }

    private void take(List<String> lines) {
        if (rest.size() > 0) {
            lines.add(rest.toString(StandardCharsets.UTF_8));
            rest.reset();
        }
    }
}
