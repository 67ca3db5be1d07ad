package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.repositories.Integration;
import dev.culvert.appproxy.repositories.Integrations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One provider, whatever its name. */
record FakeIntegrations(Integration only) implements Integrations {
    @Override
    public Integration of(@Nullable String name) {
        return only;
    }

    @Override
    public List<Integration> all() {
        return List.of(only);
    }
}
