package dev.culvert.client.identity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.tls.ServerTrust;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RenewalTimesTest {
    private static final Instant MADE = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration DAY = Duration.ofHours(24);

    private static Clock after(Duration time) {
        return Clock.fixed(MADE.plus(time), ZoneOffset.UTC);
    }

    /** Made at {@link #MADE}. */
    private static Identity identity(Duration life) {
        return new Identity(CertificateAuthority.create("tests", after(Duration.ZERO))
                .issueServer(List.of("acme"), List.of(), life), new ClientIdentity("acme", "prod", "id-1"),
                ServerTrust.inSystemRoots());
    }

    private static RenewalTimes at(Duration time) {
        return new RenewalTimes(after(time), new SplittableRandom(1));
    }

    @Test
    void clientStartedLateInACertificatesLifeRenewsAtTwoThirdsOfTheWholeLife() {
        Duration wait = at(Duration.ofHours(12)).ofStored(identity(DAY));

        assertThat(wait).isBetween(Duration.ofHours(2), Duration.ofHours(5)); // of 24 h, not of the 12 that are left
    }

    @Test
    void clientStartedPastTwoThirdsRenewsSoon() {
        assertThat(at(Duration.ofHours(20)).ofStored(identity(DAY))).isLessThanOrEqualTo(
                Duration.ofSeconds(10));
        assertThat(at(Duration.ofHours(30)).ofStored(identity(DAY))).isZero();
    }

    @Test
    void shortCertificateIsNotPastTwoThirdsBecauseItIsBackdated() {
        assertThat(at(Duration.ZERO).ofStored(identity(Duration.ofSeconds(30))))
                .isBetween(Duration.ofSeconds(18), Duration.ofSeconds(20));
    }

    @Test
    void fastClockDoesNotRenewAgainAndAgain() {
        assertThat(at(Duration.ofHours(20)).ofNew(identity(DAY))).isGreaterThan(Duration.ofHours(2));
        assertThat(at(Duration.ofHours(30)).ofNew(identity(DAY))).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void overloadedServersWishIsAFloorAndBelievedUpToAMinute() {
        Identity identity = identity(Duration.ofSeconds(30));

        assertThat(at(Duration.ofSeconds(20)).afterFailure(identity, overloaded(Duration.ofSeconds(7))))
                .isBetween(Duration.ofSeconds(7), Duration.ofSeconds(8));
        assertThat(at(Duration.ofSeconds(20)).afterFailure(identity, overloaded(Duration.ofHours(1))))
                .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(61));
        assertThat(at(Duration.ofHours(16)).afterFailure(identity(DAY), overloaded(Duration.ofSeconds(1))))
                .isGreaterThan(Duration.ofMinutes(2));
    }

    @Test
    void proofThatWasNotJudgedIsRepeatedBeforeTheCertificateEnds() {
        Identity identity = identity(Duration.ofSeconds(30));

        assertThat(at(Duration.ofSeconds(20)).afterProof(identity, false))
                .isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
        assertThat(at(Duration.ofSeconds(20)).afterProof(identity, true))
                .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(66));
        assertThat(at(Duration.ofHours(16)).afterProof(identity(DAY), false))
                .isBetween(Duration.ofSeconds(60), Duration.ofSeconds(66));
    }

    private static EnrolmentException overloaded(Duration retryAfter) {
        return new EnrolmentException.Failed("busy", null, retryAfter);
    }
}
