package dev.culvert.relay.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom upstreams are trusted by, while configurations come and go. */
class UpstreamTrustTest {
    private static final UpstreamAddress PLAIN = new UpstreamAddress(false, false, "h", 80);

    @TempDir
    private Path folder;

    private UpstreamAddress pinned(String name) {
        Path file = folder.resolve(name + ".crt");
        CertificateAuthority.create(name, Clock.systemUTC()).writeTo(file, folder.resolve(name + ".key"));
        return upstream(file);
    }

    private static UpstreamAddress upstream(@Nullable Path ca) {
        return new UpstreamAddress(true, false, "h", 443).trusting(ca);
    }

    private static UpstreamTrust load(UpstreamAddress... upstreams) {
        return UpstreamTrust.load(null, List.of(upstreams),
                TlsLink.of("upstream", "upstreams.postQuantum", PostQuantum.PREFER));
    }

    @Test
    void anUpstreamWithAuthoritiesOfItsOwnNeverFallsBackToTheUsualOnes() {
        UpstreamAddress own = pinned("own");
        UpstreamTrust usual = load(upstream(null));

        assertThatThrownBy(() -> usual.towards(own)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void requestsOfThePreviousConfigurationFindItsAuthorities() {
        UpstreamAddress own = pinned("own");
        UpstreamAddress other = pinned("other");
        UpstreamTrust first = load(own);

        UpstreamTrust second = load(other, upstream(null)).after(first);

        assertThat(second.towards(own)).isSameAs(first.towards(own));
        assertThat(second.towards(other)).isNotSameAs(second.towards(upstream(null)));
    }

    @Test
    void whereNoUpstreamSpeaksTlsAnyMoreThoseBeforeStillDo() {
        UpstreamTrust first = load(upstream(null));

        UpstreamTrust second = load(PLAIN).after(first);

        assertThat(second.towards(upstream(null))).isSameAs(first.towards(upstream(null)));
    }

    @Test
    void authoritiesAreKeptForOneGeneration() {
        UpstreamAddress own = pinned("own");

        UpstreamTrust third = load(PLAIN).after(load(upstream(null)).after(load(own)));

        assertThatThrownBy(() -> third.towards(own)).isInstanceOf(NullPointerException.class);
    }
}
