package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptFieldTest {
    @ParameterizedTest
    @ValueSource(strings = {"text/html", "TEXT/HTML;charset=utf-8", "text/*", "text/html;q=0.1, */*;q=0.05",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
            "application/json;q=0.5, text/html;q=0.501", "*/*;q=0.9, application/json;q=0, "
                    + "application/problem+json;q=0, text/html ; q=1.000",
            "text/html, application/*;q=0.2"})
    void browsersGetPages(String accept) {
        assertThat(AcceptField.prefersHtml(accept)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "*/*", "application/json, text/plain, */*",
            "application/problem+json, text/html",
            "text/html;q=0.5, application/json", "text/html;q=0", "text/html;q=0.0005",
            "text/html;q=2", "text/html;q=-1", "text/html;q=x", "text", "text/html, application/*",
            "text/html, */*", "image/*",
            "application/json, text/html", ",;,/,;q=", "text/html;q=0.9999"})
    void allOthersGetJson(String accept) {
        assertThat(AcceptField.prefersHtml(accept)).isFalse();
    }
}
