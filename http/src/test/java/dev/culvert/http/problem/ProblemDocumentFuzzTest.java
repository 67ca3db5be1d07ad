package dev.culvert.http.problem;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.core.JsonParser.Feature;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever words a problem has, it is one JSON object that says them, and its fields are one line each. */
class ProblemDocumentFuzzTest {
    private static final JsonMapper STRICT = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(Feature.ALLOW_COMMENTS)
            .build();

    @FuzzTest(maxDuration = "10m")
    void theDocumentIsJsonThatSaysTheSame(FuzzedDataProvider data) throws IOException {
        check(data.pickValue(Cause.values()), data.pickValue(Hop.values()), data.consumeInt(),
                data.consumeString(300), data.consumeRemainingAsString());
    }

    static List<String> words() {
        return List.of("", "plain", "\"}{\"status\":200", "\r\nset-cookie: a=b",
                "\0\u0001\u001f\u007f\u0080\u009f",
                "\u2028\u2029\ufeff", "\\u0000\\", "</script><!--", "é€😀", "\ud800", "\udc00\ud800",
                "a\udbffb",
                "x".repeat(5000));
    }

    @ParameterizedTest
    @MethodSource("words")
    void wordsOfEveryKind(String words) throws IOException {
        for (Cause cause : Cause.values()) {
            check(cause, Hop.EDGE, 1, words, "id");
            check(cause, Hop.UPSTREAM, 0, "detail", words);
        }
    }

    private static void check(Cause cause, Hop hop, int seconds, String detail, String id)
            throws IOException {
        Problem problem = Problem.of(cause, hop, detail).retryAfter(Duration.ofSeconds(seconds));

        ProblemDocument document = ProblemDocument.of(problem, id);

        String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(document.body())).toString();
        assertThat(text.chars()).allMatch(c -> c >= ' ');
        JsonNode json = STRICT.readTree(document.body());
        assertThat(json.isObject()).isTrue();
        assertThat(json.path("status").intValue()).isEqualTo(cause.status());
        assertThat(json.path("type").textValue()).isEqualTo(cause.type());
        assertThat(json.path("hop").textValue()).isEqualTo(hop.word());
        assertThat(json.path("detail").textValue()).isEqualTo(wellFormed(detail));
        assertThat(json.path("requestId").textValue()).isEqualTo(wellFormed(id));
        assertThat(document.fields()).allSatisfy(field -> {
            assertThat(field.name()).matches("[a-z-]+");
            assertThat(field.value()).matches("[ -~]+");
        });
        assertThat(document.fields())
                .contains(new ProblemDocument.Field("content-length", "" + document.body().length));
    }

    /** What has no form in UTF-8 is replaced. */
    private static String wellFormed(String text) {
        var formed = new StringBuilder();
        text.codePoints().forEach(c -> formed.appendCodePoint(c >= 0xd800 && c <= 0xdfff ? 0xfffd : c));
        return formed.toString();
    }
}
