package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Runs the modules' work at the end of an account, and deletes what the host keeps for it. The outbox is the
 * first that is added, because a module may have a last message to send.
 */
public final class EndingAccounts implements AccountEnds {
    private final List<Forgetting> modules = new CopyOnWriteArrayList<>();

    @Override
    public void add(Forgetting forgetting) {
        modules.add(forgetting);
    }

    @Override
    public void ended(Connection change, String account) throws SQLException {
        for (Forgetting module : modules) {
            module.forget(change, account);
        }
        Rows.update(change, "DELETE FROM platform_requests WHERE account = ?", account);
        Rows.update(change, "DELETE FROM platform_events WHERE account = ?", account);
    }
}
