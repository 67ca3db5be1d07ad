package dev.culvert.platform.host.spi;

import java.sql.Connection;
import java.sql.SQLException;

/** The long-lived keys of runtimes, with which they call the platform. */
public interface RuntimeKeys {
    /**
     * Stores the key of a new runtime, by its hash. The key ends with the runtime ({@link RuntimeEnds}).
     * Blocks. Throws {@link dev.culvert.store.StoreException.Full}.
     *
     * @param text the key: an enrolment token, {@code culvert1.<id>.<secret>.<pin>}
     */
    void add(Connection change, String account, String runtime, String text) throws SQLException;

    /** As {@link #add}, with a new key that enrols nobody. Returns its text, which is shown this once. */
    String create(Connection change, String account, String runtime) throws SQLException;
}
