package dev.culvert.launcher.run;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A started service, as the launcher handles it.
 *
 * @param name the name in the ready line: {@code tunnel-server}
 * @param addresses the addresses of the listeners, by the names of the ready line, in order
 * @param ended fails when the service can't continue; never ends for a service that retries for ever
 * @param stop drains within the grace and frees all resources
 * @param reload applies the settings of a configuration that can change at run time, with the origin of the
 *     change; null if none can. Called on a thread that may block; throws ConfigException or ConfigErrors and
 *     then has changed nothing
 */
public record RunningPart(String name, Map<String, HostPort> addresses, Mono<Void> ended,
        Function<Duration, Mono<Void>> stop, @Nullable BiConsumer<ConfigBinding, String> reload) {

    /** A service that reads its configuration only once. */
    public RunningPart(String name, Map<String, HostPort> addresses, Mono<Void> ended,
            Function<Duration, Mono<Void>> stop) {
        this(name, addresses, ended, stop, null);
    }
}
