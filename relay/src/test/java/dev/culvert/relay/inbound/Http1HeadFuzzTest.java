package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.SeenRequest;
import dev.culvert.relay.testing.StrictReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever comes on a connection of HTTP/1.1, each request that is forwarded reads to the letter of RFC 9112 as what was
 * forwarded, and how the bytes were cut changes nothing. CONTRIBUTING.md tells how to look for more.
 */
class Http1HeadFuzzTest {
    /** What two heads at their limits take. */
    private static final int MAX = 256 << 10;

    @FuzzTest(maxDuration = "10m")
    void whatIsForwardedReadsAsItIs(byte[] bytes) throws IOException {
        check(bytes);
    }

    static List<CorpusCase> corpus() {
        return CorpusCase.all("h1-");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("corpus")
    void theCorpusIsForwardedAsItReads(CorpusCase given) throws IOException {
        check(latin(given.bytes(EmbeddedEdge.HOST)));
    }

    private static byte[] latin(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void check(byte[] bytes) throws IOException {
        if (bytes.length > MAX) {
            return;
        }
        FuzzedEdge whole = new FuzzedEdge();
        whole.send(bytes, bytes.length);
        FuzzedEdge cut = new FuzzedEdge();
        cut.send(bytes, bytes.length < 4096 ? 1 : 97);

        for (FuzzedEdge.Forwarded forwarded : whole.forwarded()) {
            var reader = new StrictReader(new ByteArrayInputStream(latin(forwarded.bytes())));
            SeenRequest read = reader.next();
            assertThat(read).hasToString(forwarded.seen().toString());
            assertThat(reader.next()).isNull();
        }
        assertThat(cut.requests()).isEqualTo(whole.requests());
        assertThat(cut.answers()).isEqualTo(whole.answers());
    }
}
