package dev.culvert.platform.triggers.hermes;

import dev.culvert.platform.host.spi.Rewrapping;
import dev.culvert.platform.host.spi.Rewrapping.Secret;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.triggers.store.EventTable;
import dev.culvert.platform.triggers.store.StoredEvent;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The secrets of events, which the database holds wrapped. */
public final class EventSecrets {
    private static final int BYTES = 24;
    private static final String DECOY = "triggers no event";
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Store store;
    private final SecretWrapping wrapping;
    private final AtomicReference<@Nullable String> decoy = new AtomicReference<>();

    public EventSecrets(Store store, SecretWrapping wrapping) {
        this.store = store;
        this.wrapping = wrapping;
    }

    /** A new secret. */
    static String generate() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Wraps a secret by the key in force. */
    Mono<String> wrap(String uri, String secret) {
        return wrapping.key()
                .flatMap(key -> Mono.fromCallable(() -> wrapping.wrap(secret, name(uri), key))
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /** The secret of an event; without one a text that nobody knows, which takes the same time. */
    Mono<String> of(@Nullable StoredEvent event) {
        return event == null || event.secret().isEmpty()
                ? decoy().flatMap(wrapped -> unwrapped(wrapped, DECOY))
                : unwrapped(event.secret(), name(event.uri()));
    }

    private Mono<String> unwrapped(String wrapped, String name) {
        return Mono.fromCallable(() -> wrapping.unwrap(wrapped, name))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<String> decoy() {
        return Mono.defer(() -> {
            String made = decoy.get();
            return made != null
                    ? Mono.just(made)
                    : wrapping.key()
                            .flatMap(key -> Mono.fromCallable(() -> wrapping.wrap(generate(), DECOY, key))
                                    .subscribeOn(Schedulers.boundedElastic()))
                            .doOnNext(decoy::set);
        });
    }

    private static String name(String uri) {
        return "triggers secret " + uri;
    }

    /** Wraps the secrets of all events by the key in force. */
    public Rewrapping rewrapping() {
        return new Rewrapping("secrets of events", store, wrapping, new Rewrapping.Secrets() {
            @Override
            public List<Secret> page(Connection connection, String after, String prefix, int limit)
                    throws SQLException {
                return EventTable.wrappedByOthers(connection, after, prefix, limit)
                        .stream()
                        .map(event -> new Secret(event.account(), event.uri(), name(event.uri()),
                                event.secret()))
                        .toList();
            }

            @Override
            public void replace(Connection change, Secret before, String text) throws SQLException {
                EventTable.rewrap(change, before.key(), before.text(), text);
            }
        });
    }
}
