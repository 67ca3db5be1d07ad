package dev.culvert.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import dev.culvert.store.DatabaseServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;

/** Makes the pool and single connections from the settings of a server. All methods may block. */
final class PostgresPool {
    /** A connection is not older than this, so that changed passwords, certificates and addresses count. */
    private static final Duration MAX_LIFE = Duration.ofMinutes(30);
    /** How much longer than a statement a socket may be silent. Bounds a COMMIT, too. */
    private static final Duration SOCKET_SPARE = Duration.ofSeconds(15);

    private PostgresPool() {}

    /** A pool that opens connections when they are needed, and does not fail when there is no server. */
    static HikariDataSource of(DatabaseServer server) {
        var config = new HikariConfig();
        config.setPoolName("culvert");
        config.setDriverClassName(Driver.class.getName());
        config.setJdbcUrl(url(server));
        config.setDataSourceProperties(properties(server));
        config.setCredentialsProvider(() -> Credentials.of(server.user(), password(server.passwordFile())));
        config.setMaximumPoolSize(server.maxConnections());
        config.setMinimumIdle(1);
        config.setAutoCommit(false);
        config.setConnectionTimeout(server.connectTimeout().toMillis());
        config.setValidationTimeout(Math.min(1_000, server.connectTimeout().toMillis()));
        config.setInitializationFailTimeout(-1);
        config.setMaxLifetime(MAX_LIFE.toMillis());
        config.setKeepaliveTime(Duration.ofSeconds(30).toMillis());
        return new HikariDataSource(config);
    }

    static String url(DatabaseServer server) {
        return "jdbc:postgresql://" + server.hosts() + "/" + server.database();
    }

    static Properties properties(DatabaseServer server) {
        var properties = new Properties();
        properties.setProperty("ApplicationName", "culvert");
        properties.setProperty("connectTimeout", seconds(server.connectTimeout()));
        properties.setProperty("loginTimeout", seconds(server.connectTimeout()));
        properties.setProperty("socketTimeout", seconds(server.statementTimeout().plus(SOCKET_SPARE)));
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("gssEncMode", "disable");
        // It shows rows, and messages go to logs.
        properties.setProperty("logServerErrorDetail", "false");
        // Also with one host: a server that has become a replica must not be used.
        properties.setProperty("targetServerType", "primary");
        properties.setProperty("hostRecheckSeconds", "1");
        properties.setProperty("options", "-c statement_timeout=" + server.statementTimeout().toMillis()
                + " -c lock_timeout=" + server.lockTimeout().toMillis()
                + " -c idle_in_transaction_session_timeout="
                + server.statementTimeout().plus(SOCKET_SPARE).toMillis());
        if (server.isPlain()) {
            properties.setProperty("sslmode", "disable");
        } else {
            properties.setProperty("sslmode", "verify-full");
            Path ca = server.ca();
            if (ca == null) {
                properties.setProperty("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
            } else {
                properties.setProperty("sslrootcert", ca.toAbsolutePath().toString());
            }
        }
        return properties;
    }

    /** Read for each connection, so that a changed password needs no restart. */
    static @Nullable String password(@Nullable Path file) {
        if (file == null) {
            return null;
        }
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return null; // the server refuses, which names the file
        }
    }

    private static String seconds(Duration time) {
        return String.valueOf(Math.max(1, time.toSeconds()));
    }
}
