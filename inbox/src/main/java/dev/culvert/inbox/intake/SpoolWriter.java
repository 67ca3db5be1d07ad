package dev.culvert.inbox.intake;

import dev.culvert.inbox.intake.SignatureCheck.Running;
import dev.culvert.inbox.store.SpoolFolder;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes one large body to its file. All methods block. They are called one at a time, on the threads for
 * files.
 */
final class SpoolWriter {
    /**
     * The bytes written between two syncs. A commit of a small webhook also flushes the unsynced bytes of
     * large ones, so this bounds them for each.
     */
    private static final int SYNCED = 64 << 10;

    private final SpoolFolder folder;
    private final Path file;
    private final MessageDigest digest;
    private final @Nullable Running check;
    private @Nullable FileChannel channel;
    private int unsynced;

    SpoolWriter(SpoolFolder folder, String id, MessageDigest digest, @Nullable Running check) {
        this.folder = folder;
        this.file = folder.create(id);
        this.digest = digest;
        this.check = check;
    }

    Path file() {
        return file;
    }

    /** Writes buffers and takes ownership of them. */
    void write(List<ByteBuf> bodies) throws IOException {
        try {
            for (ByteBuf body : bodies) {
                for (ByteBuffer part : body.nioBuffers()) {
                    write(part);
                }
            }
        } finally {
            bodies.forEach(ByteBuf::release);
        }
    }

    private void write(ByteBuffer part) throws IOException {
        FileChannel to = channel;
        if (to == null) {
            to = SpoolFolder.write(file);
            channel = to;
        }
        digest.update(part.duplicate());
        if (check != null) {
            check.update(part.duplicate());
        }
        unsynced += part.remaining();
        while (part.hasRemaining()) {
            to.write(part);
        }
        if (unsynced >= SYNCED) {
            unsynced = 0;
            to.force(false);
        }
    }

    /** Forces the file and its name to disk. */
    void finish() throws IOException {
        FileChannel to = channel;
        if (to != null) {
            channel = null;
            try (to) {
                to.force(true);
            }
        }
        folder.sync();
    }

    void abort() {
        try {
            FileChannel to = channel;
            channel = null;
            if (to != null) {
                to.close();
            }
            Files.deleteIfExists(file);
        } catch (IOException left) {
            // The next start removes the file, because no row names it.
        }
    }
}
