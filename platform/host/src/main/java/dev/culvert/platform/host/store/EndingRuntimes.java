package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.RuntimeEnds;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Runs the modules' work at the end of a runtime. */
public final class EndingRuntimes implements RuntimeEnds {
    private final List<Forgetting> modules = new CopyOnWriteArrayList<>();

    @Override
    public void add(Forgetting forgetting) {
        modules.add(forgetting);
    }

    @Override
    public void ended(Connection change, String account, String runtime) throws SQLException {
        for (Forgetting module : modules) {
            module.forget(change, account, runtime);
        }
    }
}
