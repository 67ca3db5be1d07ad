package dev.culvert.appproxy.credentials;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where encrypted records are. All calls block; one at a time. */
interface TokenStore {
    /** All records by place. */
    Map<TokenPlace, String> read() throws IOException;

    /** Puts a record in place, or with null takes it away; durable when it returns. */
    void write(TokenPlace place, @Nullable String record) throws IOException;
}
