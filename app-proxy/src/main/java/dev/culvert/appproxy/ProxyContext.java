package dev.culvert.appproxy;

import dev.culvert.appproxy.access.Access;
import dev.culvert.edge.Version;
import dev.culvert.edge.spi.HandlerContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the App-Proxy tells its handlers. */
record ProxyContext(AppProxyConfig config, List<String> handlers, Access access) implements HandlerContext {

    @Override
    public <T extends Record> T settings(Class<T> type) {
        return config.handlers()
                .served()
                .values()
                .stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no settings of type " + type.getName()));
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
