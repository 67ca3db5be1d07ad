package dev.culvert.launcher.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import reactor.core.publisher.Flux;

/**
 * A byte stream that is equal in every run and differs at every position, so that loss, reordering and
 * repetition are detected.
 */
final class DemoBytes {
    private static final int CHUNK = 16 * 1024;
    private static final byte[] NOISE = noise();

    private DemoBytes() {}

    /**
     * The first {@code bytes} of the stream, in chunks that are created on demand. The subscriber owns them.
     */
    static Flux<ByteBuf> stream(long bytes) {
        long chunks = (bytes + CHUNK - 1) / CHUNK;
        return Flux.generate(() -> 0L, (index, sink) -> {
            if (index >= chunks) {
                sink.complete();
            } else {
                sink.next(Unpooled.wrappedBuffer(chunk(index, bytes)));
            }
            return index + 1;
        });
    }

    /** The hash of the first {@code bytes} of the stream. */
    static String sha256(long bytes) {
        MessageDigest digest = digest();
        for (long index = 0; index * CHUNK < bytes; index++) {
            digest.update(chunk(index, bytes));
        }
        return hex(digest);
    }

    /** A new SHA-256. */
    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Adds the readable bytes; borrows the buffer for the call. */
    static void update(MessageDigest digest, ByteBuf bytes) {
        digest.update(bytes.nioBuffer());
    }

    /** Ends the digest. */
    static String hex(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    private static byte[] chunk(long index, long total) {
        int length = (int) Math.min(CHUNK, total - index * CHUNK);
        byte[] chunk = new byte[length];
        System.arraycopy(NOISE, 0, chunk, 0, length);
        for (int i = 0; i < Math.min(8, length); i++) {
            chunk[i] = (byte) (index >>> (8 * i));
        }
        return chunk;
    }

    private static byte[] noise() {
        byte[] bytes = new byte[CHUNK];
        new Random(20_261_121).nextBytes(bytes);
        return bytes;
    }
}
