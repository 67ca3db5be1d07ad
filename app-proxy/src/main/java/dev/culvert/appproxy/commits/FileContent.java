package dev.culvert.appproxy.commits;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;

/** The immutable bytes of a file. */
final class FileContent {
    private final byte[] bytes;

    private FileContent(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Takes ownership of the array. */
    static FileContent of(byte[] bytes) {
        return new FileContent(bytes);
    }

    static FileContent of(String text) {
        return new FileContent(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Its size in bytes. */
    int length() {
        return bytes.length;
    }

    ObjectId insert(ObjectInserter inserter) throws IOException {
        return inserter.insert(Constants.OBJ_BLOB, bytes);
    }
}
