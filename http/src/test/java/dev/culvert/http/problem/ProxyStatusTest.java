package dev.culvert.http.problem;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProxyStatusTest {
    /** RFC 9209 §2.3. */
    private static final Set<String> REGISTERED = Set.of("dns_timeout", "dns_error", "destination_not_found",
            "destination_unavailable", "destination_ip_prohibited", "destination_ip_unroutable",
            "connection_refused", "connection_terminated", "connection_timeout", "connection_read_timeout",
            "connection_write_timeout", "connection_limit_reached", "tls_protocol_error",
            "tls_certificate_error", "tls_alert_received", "http_request_error", "http_request_denied",
            "http_response_incomplete", "http_response_header_section_size", "http_response_header_size",
            "http_response_body_size", "http_response_trailer_section_size", "http_response_trailer_size",
            "http_response_transfer_coding", "http_response_content_coding", "http_response_timeout",
            "http_upgrade_failed", "http_protocol_error", "proxy_internal_response", "proxy_internal_error",
            "proxy_configuration_error", "proxy_loop_detected");

    @ParameterizedTest
    @EnumSource(Cause.class)
    void everyCauseHasARegisteredErrorThatThePageOfProblemsTells(Cause cause) throws IOException {
        assertThat(REGISTERED).contains(ProxyStatus.error(cause));
        assertThat(Files.readString(Path.of("..", "docs", "problems.md")))
                .contains("| `" + cause.word() + "` | `" + ProxyStatus.error(cause) + "` |");
    }

    @Test
    void detailsAreAStringOfStructuredFields() {
        Field field = ProxyStatus.of(ProxyStatus.EDGE,
                Problem.of(Cause.NO_TUNNEL, Hop.TUNNEL, "a \"b\" \\ ü\r\nx" + "y".repeat(500)));

        assertThat(field.name()).isEqualTo("proxy-status");
        assertThat(field.value()).startsWith(
                "culvert-edge; error=destination_unavailable; details=\"a \\\"b\\\" \\\\ ???xyyy")
                .endsWith("y\"");
        assertThat(field.value().length()).isLessThan(300);
    }
}
