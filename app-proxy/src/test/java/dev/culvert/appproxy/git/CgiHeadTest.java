package dev.culvert.appproxy.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CgiHeadTest {
    @Test
    void readsStatusAndFieldsAndLeavesTheBody() throws IOException {
        var in = stream("Status: 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc");

        CgiHead head = CgiHead.read(in);

        assertThat(head.status().code()).isEqualTo(404);
        assertThat(head.headers().get("content-type")).isEqualTo("text/plain");
        assertThat(head.headers().size()).isEqualTo(1);
        assertThat(in.readAllBytes()).asString().isEqualTo("abc");
    }

    @Test
    void isA200WithoutAStatus() throws IOException {
        assertThat(CgiHead.read(stream("X: y\n\n")).status().code()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "X: y\n", "no colon\n\n", ": y\n\n", "Status: x\n\n", "Status: 101 Up\n\n",
            "Status: 999\n\n", "X: a\rb\n\n", "X y: z\n\n"})
    void refusesWhatIsNoHead(String text) {
        assertThatThrownBy(() -> CgiHead.read(stream(text))).isInstanceOf(IOException.class);
    }

    @Test
    void readsNoMoreThanItsLimit() {
        var in = stream("X: y\n".repeat(CgiHead.MAX_BYTES));

        assertThatThrownBy(() -> CgiHead.read(in)).hasMessageContaining("larger than");
        assertThat(in.available()).isGreaterThan(CgiHead.MAX_BYTES);
    }

    private static ByteArrayInputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
