package dev.culvert.appproxy.repositories;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.repositories.provider.ProviderCalls;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.http.client.HttpClient;
import reactor.test.StepVerifier;

class RegistrationTest {
    private static final Duration TIME = Duration.ofMinutes(1);

    @ParameterizedTest
    @ValueSource(strings = {"ada\nx", "ada:x", "ada x", "\u00e4da"})
    void aUserNameThatCanNotBeSentIsRefusedBeforeAnybodyIsAsked(String username) {
        var integration = new RestIntegration(
                IntegrationConfig.provider("hub", ProviderKind.GITHUB, URI.create("http://127.0.0.1:1"),
                        null),
                HttpClient.create(), new ProviderCalls.Patience(TIME, TIME));

        StepVerifier.create(Registration.checked(integration, "token", username, false))
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOfSatisfying(HandlerException.class,
                                told -> assertThat(told.reason()).isEqualTo(Reason.BAD_REQUEST))
                        .hasMessageContaining("username"));
    }
}
