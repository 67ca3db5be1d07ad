package dev.culvert.appproxy;

import dev.culvert.appproxy.access.Access;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.http.observe.Version;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context that the App-Proxy gives to one of its handlers.
 *
 * @param handlers the names of all handlers
 * @param name the name of this handler
 * @param access authenticates and authorises callers
 */
record ProxyContext(AppProxyConfig config, List<String> handlers, String name, Access access)
        implements
            HandlerContext {

    @Override
    public <T extends Record> T settings(Class<T> type) {
        Map<String, String> ofOthers = config.plugins().get(name);
        if (ofOthers != null) {
            return bound(type, ofOthers);
        }
        return config.handlers()
                .served()
                .values()
                .stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no settings of type " + type.getName()));
    }

    private <T extends Record> T bound(Class<T> type, Map<String, String> settings) {
        try {
            return ConfigBinder.bind(type, settings);
        } catch (ConfigErrors e) {
            throw new ConfigErrors(e.errors()
                    .stream()
                    .map(line -> "plugins." + name + "." + line.replaceFirst("^code: ", ""))
                    .toList());
        }
    }

    @Override
    public <S> S service(Class<S> type) {
        if (type == Access.class) {
            return type.cast(access);
        }
        throw new IllegalArgumentException("no service of type " + type.getName());
    }

    @Override
    public String version() {
        return Version.current();
    }

    @Override
    public @Nullable String runtime() {
        return config.runtime();
    }
}
