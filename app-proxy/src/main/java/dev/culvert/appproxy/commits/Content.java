package dev.culvert.appproxy.commits;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;

/** What a file holds: bytes that nobody changes. */
final class Content {
    private final byte[] bytes;

    private Content(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Takes the array over. */
    static Content of(byte[] bytes) {
        return new Content(bytes);
    }

    static Content of(String text) {
        return new Content(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Its size in bytes. */
    int length() {
        return bytes.length;
    }

    ObjectId insert(ObjectInserter inserter) throws IOException {
        return inserter.insert(Constants.OBJ_BLOB, bytes);
    }
}
