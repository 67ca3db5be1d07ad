package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.io.OutputStream;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectLoader;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.Repository;

/** Reads the contents of files. Blocks. */
public final class Blobs {
    /** From this size on, files that are stored whole are streamed. */
    private static final int STREAMED_BYTES = 1 << 20;

    private Blobs() {}

    /** The size of a blob of the local objects, without reading it. */
    public static long size(Repository objects, ObjectId id) throws IOException {
        try (ObjectReader reader = objects.newObjectReader()) {
            return reader.getObjectSize(id, Constants.OBJ_BLOB);
        }
    }

    /**
     * Writes a blob of the local objects. Most large ones are streamed; one that is stored as a difference to
     * another is in memory meanwhile.
     */
    public static void copy(Repository objects, ObjectId id, OutputStream to) throws IOException {
        try (ObjectReader reader = objects.newObjectReader()) {
            int usual = reader.getStreamFileThreshold();
            reader.setStreamFileThreshold(STREAMED_BYTES);
            ObjectLoader loader;
            try {
                loader = reader.open(id, Constants.OBJ_BLOB);
            } catch (IOException e) {
                reader.setStreamFileThreshold(usual); // a difference to a large object can't be streamed
                loader = reader.open(id, Constants.OBJ_BLOB);
            }
            loader.copyTo(to);
        }
    }

    /**
     * Reads a blob from the local objects. Throws HandlerException BODY_TOO_LARGE beyond {@code maxBytes},
     * before it is in memory.
     */
    public static byte[] read(Repository objects, ObjectId id, int maxBytes) throws IOException {
        try (ObjectReader reader = objects.newObjectReader()) {
            long size = reader.getObjectSize(id, Constants.OBJ_BLOB);
            if (size > maxBytes) {
                throw HandlerException.of(Reason.BODY_TOO_LARGE,
                        "the file has " + size + " bytes; at most " + maxBytes + " are read");
            }
            return reader.open(id, Constants.OBJ_BLOB).getCachedBytes(maxBytes);
        }
    }
}
