package dev.culvert.appproxy.credentials;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Stores encrypted records. All calls block; one at a time. */
interface TokenStore {
    /** All records by place. */
    Map<TokenPlace, String> read() throws IOException;

    /** Writes a record, or deletes it if null; durable when it returns. */
    void write(TokenPlace place, @Nullable String record) throws IOException;
}
