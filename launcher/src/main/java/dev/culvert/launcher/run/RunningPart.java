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
 * A started part, as the launcher sees it.
 *
 * @param name as in the ready line: {@code tunnel-server}
 * @param addresses where it listens, by the names of the ready line, in order
 * @param ended errors when the part can't go on; a part that never gives up never ends
 * @param stop drains within the grace and frees everything
 * @param reload takes what can change while it runs from a configuration, and who changed it; null: nothing can. Called on a
 *     thread that may block; throws ConfigException or ConfigErrors and then has changed nothing
 */
public record RunningPart(String name, Map<String, HostPort> addresses, Mono<Void> ended,
        Function<Duration, Mono<Void>> stop, @Nullable BiConsumer<ConfigBinding, String> reload) {

    /** A part that reads its configuration once. */
    public RunningPart(String name, Map<String, HostPort> addresses, Mono<Void> ended,
            Function<Duration, Mono<Void>> stop) {
        this(name, addresses, ended, stop, null);
    }
}
