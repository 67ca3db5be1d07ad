package dev.culvert.relay.exchange;

import java.util.function.BiConsumer;

/** A request that has ended, as a line of the {@link AccessLog}. */
public interface AccessLine {
    /**
     * Passes keys and values to {@code line}, in their order, on the log's thread. Text of callers is bounded
     * and printable.
     */
    void tell(BiConsumer<String, Object> line);
}
