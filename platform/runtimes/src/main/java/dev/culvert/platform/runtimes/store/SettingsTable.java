package dev.culvert.platform.runtimes.store;

import dev.culvert.platform.host.spi.AccountSettings.GitSettings;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;

/** The Git settings of accounts. Every method runs in the caller's transaction and blocks. */
public final class SettingsTable {
    private SettingsTable() {}

    /** The settings of an account. */
    public static GitSettings of(Connection connection, String account) throws SQLException {
        GitSettings found = Rows.first(connection,
                row -> new GitSettings(row.getString(1), row.getString(2), row.getString(3)),
                "SELECT git_provider, git_api_url, shared_config_repo FROM runtimes_settings"
                        + " WHERE account = ?",
                account);
        return found == null ? GitSettings.NONE : found;
    }

    /** Replaces the settings of an account. */
    public static void put(Connection connection, String account, GitSettings settings) throws SQLException {
        Rows.update(connection,
                "INSERT INTO runtimes_settings (account, git_provider, git_api_url, shared_config_repo)"
                        + " VALUES (?, ?, ?, ?) ON CONFLICT (account) DO UPDATE SET"
                        + " git_provider = excluded.git_provider, git_api_url = excluded.git_api_url,"
                        + " shared_config_repo = excluded.shared_config_repo",
                account, settings.gitProvider(), settings.gitApiUrl(), settings.sharedConfigRepo());
    }

    /** Deletes the settings of an account. */
    public static void remove(Connection connection, String account) throws SQLException {
        Rows.update(connection, "DELETE FROM runtimes_settings WHERE account = ?", account);
    }
}
