package dev.culvert.server.admin;

import dev.culvert.admin.webhook.WebhookRuntimes;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import org.jspecify.annotations.Nullable;

/** The runtimes of a server, for the calls on its inbox. Throws InvalidNameException for invalid names. */
record NamedRuntimes(RuntimeStore store) implements WebhookRuntimes {
    @Override
    public @Nullable String only() {
        return null;
    }

    @Override
    public String id(String account, String name) {
        var wanted = new RuntimeName(account, name);
        RegisteredRuntime runtime = store.byName(wanted);
        if (runtime == null) {
            throw new StoreException.Absent("there is no runtime " + wanted);
        }
        return runtime.id();
    }

    @Override
    public WebhookRuntimes.@Nullable Name name(String id) {
        RegisteredRuntime runtime = store.byId(id);
        return runtime == null
                ? null
                : new WebhookRuntimes.Name(runtime.name().account(), runtime.name().name());
    }
}
