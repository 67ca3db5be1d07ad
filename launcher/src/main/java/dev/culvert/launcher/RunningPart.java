package dev.culvert.launcher;

import dev.culvert.edge.config.HostPort;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A started part, as the launcher sees it.
 *
 * @param name as in the ready line: {@code tunnel-server}
 * @param addresses where it listens, by the names of the ready line, in order
 * @param ended errors when the part can't go on; a part that never gives up never ends
 * @param stop drains within the grace and frees everything
 */
record RunningPart(String name, Map<String, HostPort> addresses, Mono<Void> ended,
        Function<Duration, Mono<Void>> stop) {}
