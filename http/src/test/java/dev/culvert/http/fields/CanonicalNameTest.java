package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"Content-Type", "Host", "Sec-WebSocket-Key", "ETag", "WWW-Authenticate", "TE",
            "DNT", "X-Request-Id", "X-XSS-Protection", "Content-MD5", "SourceMap", "X-Never-Heard-Of", "X-1a",
            "-A", "A--B", "X_y", "X.y-Z-", "Sec-CH-UA"})
    void aNameIsSpelledAsPeopleSpellIt(String name) {
        AsciiString lower = AsciiString.of(name).toLowerCase();
        ByteBuf out = Unpooled.buffer();
        CanonicalName.write(lower, out);
        assertThat(CanonicalName.of(lower).toString()).isEqualTo(name);
        assertThat(out.toString(StandardCharsets.US_ASCII)).isEqualTo(name);
        assertThat(CanonicalName.unless(AsciiString.of(name), lower) == null).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"content-type", "CONTENT-TYPE", "Etag", "x-a", "X-a", "X-NEVER"})
    void anotherSpellingIsNoticed(String name) {
        AsciiString written = AsciiString.of(name);
        assertThat(String.valueOf(CanonicalName.unless(written, written.toLowerCase()))).isEqualTo(name);
    }

    @Test
    void aKnownNameIsNotMadeAgain() {
        assertThat((CharSequence) CanonicalName.of(AsciiString.of("etag")))
                .isSameAs(CanonicalName.of(AsciiString.of("etag")));
    }
}
