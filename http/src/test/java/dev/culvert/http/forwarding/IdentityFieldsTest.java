package dev.culvert.http.forwarding;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityFieldsTest {
    @ParameterizedTest
    @ValueSource(strings = {"x-authenticated-entity-json", "X-Authenticated-Entity-Json",
            "x_authenticated_entity_json", "X_AUTHENTICATED-ENTITY_JSON", "x.authenticated.entity.json",
            "x-authenticated_user", "x-authenticated-", "x'authenticated~account"})
    void noSpellingOfAnIdentityPasses(String name) {
        Http2Headers fields = new DefaultHttp2Headers(false).add(name, "{\"id\":\"root\"}")
                .add("x-request-id", "1")
                .add(name, "again");

        IdentityFields.remove(fields);

        assertThat(fields.names()).singleElement().hasToString("x-request-id");
    }

    @Test
    void othersFieldsStay() {
        Http2Headers fields = new DefaultHttp2Headers(false).add("x-authenticated", "1")
                .add("x-authenticate-entity-json", "1")
                .add("ax-authenticated-entity-json", "1")
                .add("xauthenticatedentityjson", "1")
                .add("authorization", "1")
                .add("x-access-token", "1")
                .add("é-authenticated-entity-json", "1");

        IdentityFields.remove(fields);

        assertThat(fields.size()).isEqualTo(7);
    }
}
