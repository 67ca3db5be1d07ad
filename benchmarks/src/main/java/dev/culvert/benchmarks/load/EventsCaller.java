package dev.culvert.benchmarks.load;

import io.netty.buffer.ByteBuf;
import io.netty.handler.ssl.SslContext;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads an event stream of {@link UpstreamServer}, each event of which says when it was written. Each event
 * is an exchange; the stream itself never succeeds. The clock must be the same: both run on one machine.
 */
final class EventsCaller extends Http1Caller {
    private static final String FIELD = "data: ";

    private final StringBuilder line = new StringBuilder();
    private long last;

    EventsCaller(Load load, @Nullable SslContext tls) {
        super(load, tls);
    }

    @Override
    void exchange() {
        line.setLength(0);
        last = System.nanoTime();
        super.exchange();
    }

    /** The stream is one exchange of this caller: its events tell whether it goes on. */
    @Override
    boolean isSilentSince(long time) {
        return isBusy() && last - time < 0;
    }

    @Override
    void whole() {
        failed("the event stream ended");
    }

    @Override
    void received(ByteBuf part) {
        super.received(part);
        String text = part.toString(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n') {
                event(line.toString());
                line.setLength(0);
            } else {
                line.append(c);
            }
        }
    }

    private void event(String text) {
        if (text.startsWith(FIELD)) {
            last = System.nanoTime();
            load.succeeded(Long.parseLong(text.substring(FIELD.length()).strip()));
        }
    }
}
