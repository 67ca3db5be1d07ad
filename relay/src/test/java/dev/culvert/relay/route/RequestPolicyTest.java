package dev.culvert.relay.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.PathReading;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestPolicyTest {
    private static final List<RequestRule> NONE = List.of();

    @Test
    void nothingListedAllowsEverything() {
        assertThat(RequestPolicy.OPEN.allows("DELETE", "/x")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/b", "/a/b/", "/a/b/c", "/a//b", "//a/b", "/a/%62", "/a/%2562", "/%61/b",
            "/a%2fb", "/a/b;x=y", "/a;v/b", "/a%2F%62", "/a/%5cb", "/a;p%2fq/b", "/a;p%252fq/b",
            "/a;p%255cq/b",
            "/a%3bp%252fq/b", "/a/b%3fx", "/a/b%23x", "/a/b%2500x", "/a/b%252523x", "/a;x%2fb",
            "/a/b;x%3f/c", "/a/b%20", "/a%09/b", "/a/%20b/c", "/a/%2520b", "/a/b%20;x", "/a%c0%afb",
            "/a/%c1%a2",
            "/a/%e0%81%a2", "/a/%25252562"})
    void whatIsDeniedIsSoHoweverItIsWritten(String path) {
        var policy = new RequestPolicy(NONE, List.of(RequestRule.of("/a/b/", List.of())));

        assertThat(policy.allows("GET", path)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/x/b", "/a/x%2fy/b", "/a/x%252fy/b", "/a/x%255cy/b", "/a/x;p%2fq/b", "/a//b",
            "/a/x%3fy/b"})
    void aVariableIsWhateverSomeServerTakesForASegment(String path) {
        var policy = new RequestPolicy(NONE, List.of(RequestRule.of("/a/{x}/b/", List.of())));

        assertThat(policy.allows("GET", path)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a", "/a/bc", "/b/a/b", "/A/b", "/a/c/b"})
    void otherPathsAreNot(String path) {
        var policy = new RequestPolicy(NONE, List.of(RequestRule.of("/a/b/", List.of())));

        assertThat(policy.allows("GET", path)).isTrue();
    }

    @Test
    void somethingListedAllowsThatAlone() {
        var policy = new RequestPolicy(List.of(RequestRule.of("/a/{x}/", List.of("GET"))), NONE);

        assertThat(policy.allows("GET", "/a/1/2")).isTrue();
        assertThat(policy.allows("POST", "/a/1/2")).isFalse();
        assertThat(policy.allows("GET", "/b")).isFalse();
        assertThat(policy.allows("GET", "/%61/1")).as("raw, it is no such path").isFalse();
        assertThat(policy.allows("GET", "/a//1")).as("merged, it is another").isTrue();
        assertThat(policy.allows("GET", "/a//")).as("merged, it is shorter").isFalse();
    }

    @Test
    void denyWins() {
        var policy = new RequestPolicy(List.of(RequestRule.of("/a/", List.of())),
                List.of(RequestRule.of("/a/b/", List.of("POST"))));

        assertThat(policy.allows("GET", "/a/b")).isTrue();
        assertThat(policy.allows("POST", "/a/b")).isFalse();
        assertThat(policy.allows("post", "/a/b")).isFalse();
        assertThat(policy.allows("Post", "/a/b")).isFalse();
    }

    @Test
    void aMethodIsAllowedAsItIsWritten() {
        var policy = new RequestPolicy(List.of(RequestRule.of("/a/", List.of("POST"))), NONE);

        assertThat(policy.allows("POST", "/a/b")).isTrue();
        assertThat(policy.allows("post", "/a/b")).isFalse();
    }

    @Test
    void dotSegmentsThatTwoDecodingsMakeAreRefused() {
        var policy = new RequestPolicy(NONE, List.of(RequestRule.of("/a/b/", List.of())));

        assertThat(policy.allows("GET", "/x/%252e%252e/a/b")).isFalse();
    }

    @Test
    void whatIsAllowedIsSoHoweverItIsRead() {
        var policy = new RequestPolicy(List.of(RequestRule.of("/a/{x}/b/", List.of())), NONE);

        assertThat(policy.allows("GET", "/a/x/b/c%2fd;e=f%3fg")).isTrue();
        assertThat(policy.allows("GET", "/a/x%2fy/b")).isFalse();
        assertThat(policy.allows("GET", "/a/x;p%2fq/b")).isFalse();
        assertThat(policy.allows("GET", "/a/x%3fy/b")).as("cut, it is shorter").isFalse();
    }

    @Test
    void whatCanBeReadInTooManyWaysIsRefused() {
        var policy = new RequestPolicy(NONE, List.of(RequestRule.of("/a/b/", List.of())));
        String nested = "/x;1%3f2%5c3/%3b4%253f5%255c6/%253b7%25253f8%25255c9";

        assertThat(policy.allows("GET", nested)).isFalse();
        assertThat(PathReading.all("/x;1%3F2%2F3")).hasSizeBetween(2, 10);
    }

    @Test
    void aRuleNamesNoParameters() {
        assertThatThrownBy(() -> RequestRule.of("/a;b/", List.of())).isInstanceOf(ConfigException.class)
                .hasMessageContaining("';'");
    }

    @Test
    void rulesAreFew() {
        List<RequestRule> many = Collections.nCopies(101, RequestRule.of("/a/", List.of()));

        assertThatThrownBy(() -> new RequestPolicy(many, NONE)).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> new RequestPolicy(NONE, many)).isInstanceOf(ConfigException.class);
    }
}
