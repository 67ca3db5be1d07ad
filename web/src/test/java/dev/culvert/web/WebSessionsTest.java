package dev.culvert.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class WebSessionsTest {
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final WebSessions sessions = new WebSessions(new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    });

    private static WebUser user(String name) {
        return new WebUser(() -> name, "read", Mono.just(true));
    }

    private String begin(String name) {
        return Objects.requireNonNull(sessions.begin(user(name)));
    }

    @Test
    void unusedSessionEnds() {
        String id = begin("ada");

        now = now.plus(WebSessions.IDLE).minusMillis(1);
        assertThat(sessions.use(id)).isNotNull();
        now = now.plus(WebSessions.IDLE);
        assertThat(sessions.use(id)).isNull();
        assertThat(sessions.size()).isZero();
    }

    @Test
    void usedSessionEndsAfterItsLongestTime() {
        String id = begin("ada");
        Instant end = now.plus(WebSessions.LONGEST);

        while (now.plus(Duration.ofMinutes(20)).isBefore(end)) {
            now = now.plus(Duration.ofMinutes(20));
            assertThat(sessions.use(id)).isNotNull();
        }
        now = end;

        assertThat(sessions.use(id)).isNull();
    }

    @Test
    void openPageAloneKeepsNoSessionAlive() {
        WebSession session = Objects.requireNonNull(sessions.use(begin("ada")));

        now = now.plus(WebSessions.IDLE);

        assertThat(sessions.goesOn(session)).isFalse();
    }

    @Test
    void furtherLoginOfATokenEndsItsOldestSessionOnly() {
        String other = begin("bob");
        String oldest = begin("ada");
        now = now.plusSeconds(1);
        for (int i = 0; i < WebSessions.MAX_OF_ACCOUNT; i++) {
            begin("ada");
        }

        assertThat(sessions.use(oldest)).isNull();
        assertThat(sessions.use(other)).isNotNull();
        assertThat(sessions.size()).isEqualTo(WebSessions.MAX_OF_ACCOUNT + 1);
    }

    @Test
    void sessionsOfAllAreBounded() {
        for (int i = 0; i < WebSessions.MAX; i++) {
            begin("user" + i / WebSessions.MAX_OF_ACCOUNT);
        }

        assertThat(sessions.begin(user("another"))).isNull();
        now = now.plus(WebSessions.IDLE);
        assertThat(sessions.begin(user("another"))).isNotNull();
    }

    @Test
    void unknownIdIsNoSession() {
        begin("ada");

        assertThat(sessions.use("x".repeat(43))).isNull();
    }
}
