package dev.culvert.handlers.rest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class PathTemplateTest {
    private final PathTemplate template = new PathTemplate("/api/teams/{id}/members/{user}");

    @Test
    void varyingSegmentsAreAsReceived() {
        assertThat(template.match("/api/teams/a%2fb/members/")).containsOnly(entry("id", "a%2fb"),
                entry("user", ""));
        assertThat(new PathTemplate("/metrics").match("/metrics")).isEmpty();
    }

    @Test
    void anotherPathDoesNotMatch() {
        assertThat(template.match("/api/teams/a/members")).isNull();
        assertThat(template.match("/api/teams/a/members/b/")).isNull();
        assertThat(template.match("/api/teams/a/Members/b")).isNull();
        assertThat(template.match("/api/teams/a/b/members/c")).isNull();
    }

    private static Map.Entry<String, String> entry(String name, String value) {
        return Map.entry(name, value);
    }
}
