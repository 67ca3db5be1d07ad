package dev.culvert.client.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.session.SessionEvent;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class SessionIdentityTest {
    private static final CertificateAuthority CA = CertificateAuthority.create("tests", Clock.systemUTC());
    private static final Duration TWO_MINUTES = Duration.ofMinutes(2);

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Identity first = identity();
    private Identity newest = first;
    private final List<Identity> proven = new ArrayList<>();
    private boolean possible = true;
    private final SessionIdentity identity = new SessionIdentity(first, () -> newest,
            channel.eventLoop(),
            new RenewalTimes(Clock.systemUTC(), new SplittableRandom(1)), new SessionIdentity.Wire() {
                @Override
                public Mono<SessionProof> proofOf(Identity of) {
                    proven.add(of);
                    return Mono.just(new SessionProof(new byte[1], new byte[1]));
                }

                @Override
                public boolean auth(SessionProof proof) {
                    return possible;
                }
            });

    private static Identity identity() {
        return new Identity(CA.issueServer(List.of("acme"), List.of(), Duration.ofHours(1)),
                new ClientIdentity("acme", "prod", "id-1"), ServerTrust.inSystemRoots());
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void renewed() {
        newest = identity();
        identity.prove();
        channel.runPendingTasks();
    }

    private void answered(ErrorCode code) {
        identity.answered(new SessionEvent.AuthAnswer(code, "why"));
        channel.runPendingTasks();
    }

    private void pass(Duration time) {
        channel.advanceTimeBy(time.toMillis(), TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
    }

    @Test
    void acceptedCertificateIsProvenOnce() {
        renewed();
        assertThat(identity.accepted()).isEqualTo(first);

        answered(ErrorCode.NO_ERROR);
        identity.prove();
        pass(TWO_MINUTES);

        assertThat(proven).containsExactly(newest);
        assertThat(identity.accepted()).isEqualTo(newest);
    }

    @Test
    void refusedCertificateIsProvenAgainAfterAMinute() {
        renewed();
        answered(ErrorCode.UNAUTHORIZED);
        assertThat(identity.accepted()).isEqualTo(first);

        pass(Duration.ofSeconds(59));
        assertThat(proven).hasSize(1);
        pass(Duration.ofSeconds(8));
        answered(ErrorCode.NO_ERROR);

        assertThat(proven).containsExactly(newest, newest);
        assertThat(identity.accepted()).isEqualTo(newest);
    }

    /** Before the previous certificate ends, in an hour here: the tenth of that is longer than a minute. */
    @Test
    void unjudgedCertificateIsProvenAgainWithinAMinute() {
        renewed();

        answered(ErrorCode.OVERLOADED);
        pass(Duration.ofSeconds(67));

        assertThat(proven).containsExactly(newest, newest);
    }

    @Test
    void certificateThatCouldNotBeSentIsProvenAgain() {
        possible = false;
        renewed();
        possible = true;

        pass(TWO_MINUTES);
        answered(ErrorCode.NO_ERROR);

        assertThat(proven).containsExactly(newest, newest);
        assertThat(identity.accepted()).isEqualTo(newest);
    }

    @Test
    void oneRenewedWhileAnotherIsUnderWayIsProvenAfterThat() {
        renewed();
        Identity before = newest;
        renewed();
        assertThat(proven).containsExactly(before);

        answered(ErrorCode.NO_ERROR);

        assertThat(proven).containsExactly(before, newest);
    }

    @Test
    void nothingIsProvenOnASessionThatIsOver() {
        renewed();
        answered(ErrorCode.OVERLOADED);

        identity.end();
        pass(TWO_MINUTES);

        assertThat(proven).hasSize(1);
    }
}
