package dev.culvert.appproxy;

import dev.culvert.edge.Version;
import dev.culvert.edge.spi.HandlerContext;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the App-Proxy tells its handlers. */
record ProxyContext(AppProxyConfig config, List<String> handlers) implements HandlerContext {

    /** Whether the configuration has {@code handlers.<name>}. */
    static boolean configured(AppProxyConfig config, String name) {
        return switch (name) {
            case InfoProvider.NAME -> config.handlers().info() != null;
            case GitProvider.NAME -> config.handlers().git() != null;
            default -> false;
        };
    }

    @Override
    public <T extends Record> T settings(Class<T> type) {
        return Stream.of(config.handlers().info(), config.handlers().git())
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no settings of type " + type.getName()));
    }

    @Override
    public <S> S service(Class<S> type) {
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
