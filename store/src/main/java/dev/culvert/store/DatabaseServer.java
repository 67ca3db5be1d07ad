package dev.culvert.store;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where a database on a server is, and what may be used of it.
 *
 * @param hosts {@code host[:port]}, several with commas: the one that is the primary is used
 * @param database its name
 * @param user the role
 * @param passwordFile the file with its password, read for each connection; null: none is sent
 * @param isPlain whether connections are without TLS; else the certificate must be valid for the host
 * @param ca PEM file of the authorities that are trusted; null: the public ones
 * @param maxConnections the number of connections, which bounds the transactions at the same time
 * @param maxWaiting the number of operations that may wait for their turn, of which the changes of one {@link
 *     LockScope} get a quarter; further ones are refused at once
 * @param connectTimeout how long an operation waits for a connection
 * @param statementTimeout how long a statement may run; a COMMIT may take longer
 * @param lockTimeout how long an operation waits for its turn in this process, and then a change for those of
 *     other processes
 * @param startTimeout how long the start waits for the server
 */
public record DatabaseServer(String hosts, String database, String user, @Nullable Path passwordFile,
        boolean isPlain, @Nullable Path ca, int maxConnections, int maxWaiting, Duration connectTimeout,
        Duration statementTimeout, Duration lockTimeout, Duration startTimeout) {
    /** Its name in messages. */
    public String name() {
        return "the PostgreSQL database " + database + " at " + hosts;
    }
}
