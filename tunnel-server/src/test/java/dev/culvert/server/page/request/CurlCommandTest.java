package dev.culvert.server.page.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CurlCommandTest {
    @Test
    void aRequestIsACommand() {
        assertThat(CurlCommand.of(RequestTexts.of("GET", "acme-prod.example:8443", "/a/b%20c")))
                .isEqualTo("curl --path-as-is --globoff 'https://acme-prod.example:8443/a/b%20c'");
        assertThat(CurlCommand.of(RequestTexts.of("POST", "[2001:db8::1]:8443", "/")))
                .isEqualTo("curl --request POST --path-as-is --globoff 'https://[2001:db8::1]:8443/'");
        assertThat(CurlCommand.of(RequestTexts.of("HEAD", "a.example", "/{a}[1-9]")))
                .isEqualTo("curl --head --path-as-is --globoff 'https://a.example/{a}[1-9]'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/'; touch evil; '", "/$(touch evil)`touch evil`", "/!!*?~&|;<>#\\x22\\x5c\\x0a",
            "/--output"})
    void aShellReadsHostileTextsAsOneWord(String path) throws Exception {
        String command = CurlCommand.of(RequestTexts.of("GET", "a.example", path));

        assertThat(command).isNotNull();
        var shell = new ProcessBuilder("sh", "-c",
                "curl() { for word in \"$@\"; do printf '%s\\n' \"$word\"; done; }\n" + command)
                .redirectErrorStream(true)
                .start();
        List<String> words = new String(shell.getInputStream().readAllBytes(),
                java.nio.charset.StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertThat(shell.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(words).containsExactly("--path-as-is", "--globoff",
                "https://a.example" + path.replaceAll("\\\\x(..)", "%$1").replace(" ", "%20"));
    }

    @ParameterizedTest
    @CsvSource({"GET, a.example/x, /", "GET, a b, /", "GET, -o, /", "GET, '', /", "--output, a.example, /",
            "'G T', a.example, /", "'', a.example, /", "GET, a.example, *", "GET, a.example, ''",
            "GET, a.example, http://b.example/", "GET, a.example, /\\u0100", "GET, user@a.example, /"})
    void whatIsNoPlainRequestMakesNoCommand(String method, String host, String path) {
        assertThat(CurlCommand.of(RequestTexts.of(method, host, path))).isNull();
    }

    @Test
    void aPathThatWasCutMakesNoCommand() {
        assertThat(CurlCommand.of(RequestTexts.of("GET", "a.example", "/" + "x".repeat(2047) + "...")))
                .isNull();
    }
}
