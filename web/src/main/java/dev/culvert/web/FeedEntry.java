package dev.culvert.web;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A change of a topic, with the text that viewers receive. It is rendered once, when the first viewer reads
 * it.
 */
final class FeedEntry {
    final long number;
    final String topic;
    private final Supplier<byte[]> rendering;
    private byte @Nullable [] bytes;

    FeedEntry(long number, String topic, Supplier<byte[]> rendering) {
        this.number = number;
        this.topic = topic;
        this.rendering = rendering;
    }

    synchronized byte[] bytes() {
        byte[] made = bytes;
        if (made == null) {
            made = rendering.get();
            bytes = made;
        }
        return made;
    }
}
