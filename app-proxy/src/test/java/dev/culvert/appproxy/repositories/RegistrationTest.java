package dev.culvert.appproxy.repositories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.repositories.provider.ProviderCalls;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

class RegistrationTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final EventLoops LOOPS = EventLoops.create(1);
    private static final OutboundCalls CALLS = new OutboundCalls("unused", 1, 1, LOOPS,
            TlsContexts.client(null));

    @AfterAll
    static void close() {
        CALLS.close().then(LOOPS.disposeLater()).block();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ada\nx", "ada:x", "ada x", "\u00e4da"})
    void aUserNameThatCanNotBeSentIsRefusedBeforeAnybodyIsAsked(String username) {
        var integration = new RestIntegration(
                IntegrationConfig.provider("hub", ProviderKind.GITHUB, URI.create("http://127.0.0.1:1"),
                        null),
                CALLS, new ProviderCalls.Patience(TIME, TIME));

        StepVerifier.create(Registration.checked(integration, "token", username, false))
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOfSatisfying(HandlerException.class,
                                told -> assertThat(told.reason()).isEqualTo(Reason.BAD_REQUEST))
                        .hasMessageContaining("username"));
    }
}
