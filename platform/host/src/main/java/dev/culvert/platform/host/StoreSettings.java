package dev.culvert.platform.host;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.store.DatabaseServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the control plane keeps its data.
 *
 * @param kind the engine
 * @param url the server of {@code postgres}, without user and password
 * @param user the role
 * @param passwordFile the file with its password
 * @param tls how connections are protected
 * @param ca further authorities for the server's certificate
 * @param maxConnections the number of connections of this process
 * @param statementTimeout how long a statement may run
 * @param startTimeout how long a start waits for the server
 */
public record StoreSettings(
        @Setting(value = "Engine: sqlite is a file in dataDir and one process; postgres is a server and any number of processes", byDefault = "sqlite") Kind kind,
        @Setting(value = "Hosts and database of postgres; of several hosts the primary is used", accepts = "a URL as postgresql://db1:5432,db2/culvert, without user and password") @Nullable String url,
        @Setting(value = "Role of postgres, which owns the tables", byDefault = "culvert") String user,
        @Setting("File with the role's password, read for each connection; left out: none is sent") @Nullable Path passwordFile,
        @Setting(value = "verify: TLS, and the certificate must be valid for the host; off: no TLS, for a server or a proxy to it on this machine", byDefault = "verify") Protection tls,
        @Setting("PEM file of the authorities that are trusted for the server's certificate; left out: the public ones") @Nullable Path ca,
        @Setting(value = "Connections of this process, of which a third, at most 3, is for reads alone; 1,000 more operations wait for up to 5 s, further ones are refused", byDefault = "10", accepts = "2..200") int maxConnections,
        @Setting(value = "Longest time of a statement of postgres; a COMMIT that waits for a replica may take 15 s longer", byDefault = "10s", accepts = "1s..5m") Duration statementTimeout,
        @Setting(value = "How long a start waits for postgres while it is away", byDefault = "30s", accepts = "0s..10m") Duration startTimeout) {
    private static final Pattern URL = Pattern
            .compile("postgres(?:ql)?://([A-Za-z0-9._:\\[\\],-]+)/([A-Za-z0-9_-]{1,63})");
    private static final Pattern LOCAL_HOSTS = hosts("(?:localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1])");
    /** Operations that wait for the database; more are refused at once. */
    private static final int MAX_WAITING_FOR_FILE = 10_000;
    private static final int MAX_WAITING = 1_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(5);

    public StoreSettings {
        if (url == null ? kind == Kind.POSTGRES : !URL.matcher(url).matches()) {
            throw new ConfigException("url",
                    "hosts and a database, as postgresql://db1.example.com:5432,db2.example.com/culvert");
        }
        if (kind == Kind.POSTGRES && tls == Protection.OFF && !isLocal(url)) {
            throw new ConfigException("tls",
                    "verify for a host that is not this machine (off: only for 127.0.0.1, ::1, localhost)");
        }
        if (maxConnections < 2 || maxConnections > 200) {
            throw new ConfigException("maxConnections", "2..200");
        }
        require("statementTimeout", statementTimeout, Duration.ofSeconds(1), Duration.ofMinutes(5));
        require("startTimeout", startTimeout, Duration.ZERO, Duration.ofMinutes(10));
    }

    private static Pattern hosts(String host) {
        String one = host + "(?::[0-9]{1,5})?";
        return Pattern.compile(one + "(?:," + one + ")*");
    }

    /** The engines. */
    public enum Kind {
        SQLITE, POSTGRES
    }

    /** How connections are protected. */
    public enum Protection {
        VERIFY, OFF
    }

    /** A file in {@code dataDir}. */
    public static StoreSettings sqlite() {
        return of(Kind.SQLITE, null, "culvert", Protection.VERIFY);
    }

    /** A server without password and TLS, for tests on one machine. */
    public static StoreSettings postgres(String url, String user) {
        return of(Kind.POSTGRES, url, user, Protection.OFF);
    }

    private static StoreSettings of(Kind kind, @Nullable String url, String user, Protection tls) {
        return new StoreSettings(kind, url, user, null, tls, null, 10, Duration.ofSeconds(10),
                Duration.ofSeconds(30));
    }

    /** The number of operations that may wait for the database; more are refused at once. */
    public int maxWaiting() {
        return kind == Kind.POSTGRES ? MAX_WAITING : MAX_WAITING_FOR_FILE;
    }

    /** The server of {@code postgres}. */
    DatabaseServer server() {
        Matcher parts = URL.matcher(String.valueOf(url));
        if (!parts.matches()) {
            throw new IllegalStateException("a server without a URL");
        }
        return new DatabaseServer(parts.group(1), parts.group(2), user, passwordFile, tls == Protection.OFF,
                ca,
                maxConnections, maxWaiting(), CONNECT_TIMEOUT, statementTimeout, LOCK_TIMEOUT, startTimeout);
    }

    private static boolean isLocal(@Nullable String url) {
        Matcher parts = URL.matcher(String.valueOf(url));
        return parts.matches() && LOCAL_HOSTS.matcher(parts.group(1)).matches();
    }

    private static void require(String key, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new ConfigException(key, key.equals("startTimeout") ? "0s..10m" : "1s..5m");
        }
    }
}
