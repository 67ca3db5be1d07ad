package dev.culvert.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.Cidr;
import dev.culvert.server.access.AccessPreview.Decision;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccessPreviewTest {
    private static final AccessRules RULES = new AccessRules(List.of(Cidr.parse("192.0.2.0/24")),
            List.of(new AccessRule("/", new Requirement.Deny(), List.of()),
                    new AccessRule("/open/", new Requirement.None(), List.of()),
                    new AccessRule("/open/near", new Requirement.None(), List.of(Cidr.parse("192.0.2.7")))));

    @ParameterizedTest
    @CsvSource({"/, 192.0.2.7, REFUSED, /", "/open, 192.0.2.9, ALLOWED, /open/",
            "/open/x?y, 192.0.2.9, ALLOWED, /open/",
            "/open/x, 198.51.100.1, REFUSED, ''", "/open/near/x, 192.0.2.7, ALLOWED, /open/near",
            "/open/near, 192.0.2.9, REFUSED, ''", "/open/%2e%2e/x, 192.0.2.7, REFUSED, ''"})
    void rulesDecideAsForARequest(String path, String address, Decision decision, String rule) {
        AccessPreview preview = AccessPreview.of(RULES, AccessDefault.OPEN, path,
                InetAddress.ofLiteral(address));

        assertThat(preview.decision()).isEqualTo(decision);
        assertThat(preview.rule()).isEqualTo(rule);
    }

    @ParameterizedTest
    @CsvSource({"OPEN, ALLOWED", "DENY, REFUSED"})
    void withoutRulesTheDefaultDecides(AccessDefault withoutRules, Decision decision) {
        assertThat(AccessPreview.of(AccessRules.NONE, withoutRules, "/", null).decision())
                .isEqualTo(decision);
    }
}
