package dev.culvert.protocol.netty;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.SessionEvent;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §4: another certificate on a live session. */
class SessionAuthTest {
    private static final byte[] CERTIFICATE = {1, 2, 3};
    private static final byte[] PROOF = {4, 5};

    private final Wire wire = new Wire();

    @AfterEach
    void close() {
        wire.close();
    }

    @Test
    void aClaimAndItsAnswerCross() {
        assertThat(wire.client.handler.auth(CERTIFICATE, PROOF)).isTrue();
        wire.cross();
        assertThat(claims()).singleElement().satisfies(claim -> {
            assertThat(claim.certificate()).isEqualTo(CERTIFICATE);
            assertThat(claim.proof()).isEqualTo(PROOF);
        });

        wire.server.handler.answerAuth(ErrorCode.UNAUTHORIZED, "no");
        wire.cross();

        assertThat(wire.client.told).contains(new SessionEvent.AuthAnswer(ErrorCode.UNAUTHORIZED, "no"));
        assertThat(wire.client.channel.isActive()).isTrue();
    }

    @Test
    void theLongestClaimCrossesBesideStreams() {
        wire.server.get("/");
        wire.client.handler.auth(new byte[FrameCodec.MAX_CERTIFICATE], new byte[FrameCodec.MAX_PROOF]);
        wire.cross();

        assertThat(claims()).singleElement()
                .satisfies(claim -> assertThat(claim.certificate()).hasSize(FrameCodec.MAX_CERTIFICATE));
    }

    @Test
    void aSecondClaimWaitsForTheAnswerToTheFirst() {
        assertThat(wire.client.handler.auth(CERTIFICATE, PROOF)).isTrue();
        assertThat(wire.client.handler.auth(CERTIFICATE, PROOF)).isFalse();
        wire.cross();
        wire.server.handler.answerAuth(ErrorCode.NO_ERROR, "");
        wire.cross();

        assertThat(wire.client.handler.auth(CERTIFICATE, PROOF)).isTrue();
    }

    @Test
    void aServerClaimsNothingAndAnswersOnlyOnce() {
        assertThat(wire.server.handler.auth(CERTIFICATE, PROOF)).isFalse();
        wire.client.handler.auth(CERTIFICATE, PROOF);
        wire.cross();
        wire.server.handler.answerAuth(ErrorCode.NO_ERROR, "");
        wire.server.handler.answerAuth(ErrorCode.NO_ERROR, "");
        wire.cross();

        assertThat(wire.client.told).filteredOn(SessionEvent.AuthAnswer.class::isInstance).hasSize(1);
        assertThat(wire.client.channel.isActive()).isTrue();
    }

    @Test
    void aServerThatWantsAProofGetsItBeforeItIsReady() {
        try (Wire proving = new Wire(Hello.PROOF)) {
            proving.cross();
            assertThat(proving.client.told).singleElement().isInstanceOf(SessionEvent.ProofWanted.class);

            assertThat(proving.client.handler.auth(CERTIFICATE, PROOF)).isTrue();
            assertThat(proving.client.handler.auth(CERTIFICATE, PROOF)).isFalse();
            proving.cross();
            assertThat(claims(proving)).hasSize(1);
            proving.server.ready();
            proving.cross();

            assertThat(proving.client.handler.isLive()).isTrue();
            assertThat(proving.server.handler.isLive()).isTrue();
            assertThat(proving.client.handler.auth(CERTIFICATE, PROOF)).isTrue(); // another one, later
        }
    }

    @Test
    void noProofIsWantedOfAClientThatTlsHasProven() {
        wire.cross();

        assertThat(wire.client.told).noneMatch(SessionEvent.ProofWanted.class::isInstance);
    }

    private List<SessionEvent.Auth> claims() {
        return claims(wire);
    }

    private static List<SessionEvent.Auth> claims(Wire wire) {
        return wire.server.told.stream()
                .filter(SessionEvent.Auth.class::isInstance)
                .map(SessionEvent.Auth.class::cast)
                .toList();
    }
}
