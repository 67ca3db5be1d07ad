package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class KeySourceTest {
    private static final byte[] FIRST = Issuer.jwks(Issuer.ec("first"));
    private static final byte[] SECOND = Issuer.jwks(Issuer.ec("second"));

    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger fetches = new AtomicInteger();
    private Mono<byte[]> served = Mono.just(FIRST);
    private final KeySource source = new KeySource("test", () -> {
        fetches.incrementAndGet();
        return served;
    }, now::get);

    private String id(SignatureKeys keys) {
        return keys.keys().getFirst().getKeyID();
    }

    private SignatureKeys keys() {
        return java.util.Objects.requireNonNull(source.keys().block());
    }

    @Test
    void oneFetchServesAll() {
        Sinks.One<byte[]> late = Sinks.one();
        served = late.asMono();
        var one = source.keys().toFuture();
        var other = source.keys().toFuture();
        late.tryEmitValue(FIRST);

        assertThat(id(one.join())).isEqualTo("first");
        assertThat(other.join()).isSameAs(one.join());
        assertThat(keys()).isSameAs(one.join());
        assertThat(fetches).hasValue(1);
    }

    @Test
    void keysAreRefreshedInTheBackground() {
        keys();
        served = Mono.just(SECOND);
        now.addAndGet(KeySource.REFRESH.toNanos());

        SignatureKeys old = keys();

        assertThat(id(old)).isEqualTo("first");
        assertThat(id(keys())).isEqualTo("second");
        assertThat(fetches).hasValue(2);
    }

    @Test
    void anUnknownKeyMakesItFetchAnewButNotOftener() {
        SignatureKeys old = keys();
        served = Mono.just(SECOND);

        assertThat(source.after(old).block()).as("a moment after the last fetch").isSameAs(old);
        now.addAndGet(KeySource.PAUSE.toNanos());
        SignatureKeys rotated = java.util.Objects.requireNonNull(source.after(old).block());
        assertThat(id(rotated)).isEqualTo("second");
        for (int i = 0; i < 100; i++) {
            assertThat(source.after(rotated).block()).isSameAs(rotated);
        }
        assertThat(fetches).hasValue(2);
    }

    @Test
    void oldKeysServeWhileTheIssuerIsAwayButNotForEver() {
        SignatureKeys old = keys();
        served = Mono.error(new IOException("away"));
        now.addAndGet(KeySource.MAX_STALE.toNanos() - 1);

        assertThat(keys()).isSameAs(old);
        assertThat(source.after(old).block()).isSameAs(old);
        now.addAndGet(KeySource.PAUSE.toNanos());
        assertThatThrownBy(() -> source.keys().block()).hasMessageContaining("could not be fetched");
    }

    @Test
    void whoeverGivesUpTakesTheKeysFromNobody() {
        Sinks.One<byte[]> late = Sinks.one();
        served = late.asMono();

        source.keys().subscribe().dispose();
        late.tryEmitValue(FIRST);

        assertThat(id(keys())).isEqualTo("first");
        assertThat(fetches).hasValue(1);
    }
}
