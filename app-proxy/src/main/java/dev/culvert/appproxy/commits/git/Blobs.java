package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectLoader;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.Repository;

/** Reads the contents of files. */
public final class Blobs {
    private Blobs() {}

    /**
     * Reads a blob from the local objects. Throws HandlerException BODY_TOO_LARGE beyond {@code maxBytes}.
     * Blocks.
     */
    public static byte[] read(Repository objects, ObjectId id, int maxBytes) throws IOException {
        try (ObjectReader reader = objects.newObjectReader()) {
            ObjectLoader loader = reader.open(id, Constants.OBJ_BLOB);
            if (loader.getSize() > maxBytes) {
                throw HandlerException.of(Reason.BODY_TOO_LARGE,
                        "the file has " + loader.getSize() + " bytes; at most " + maxBytes + " are read");
            }
            return loader.getCachedBytes(maxBytes);
        }
    }
}
