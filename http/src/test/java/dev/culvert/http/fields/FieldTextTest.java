package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Each character, as a text of both kinds: the fast way through an array gives the same answers. */
final class FieldTextTest {
    @Test
    void tokensHaveTheCharactersOfTheRfc() {
        for (char c = 0; c < 0x200; c++) {
            String text = "a" + c + "b";
            boolean tchar = c < 0x80 && (Character.isLetterOrDigit(c) || "!#$%&'*+-.^_`|~".indexOf(c) >= 0);

            assertThat(FieldText.isToken(text)).as("%d", (int) c).isEqualTo(tchar);
            if (c < 0x100) {
                assertThat(FieldText.isToken(ascii(text))).as("%d", (int) c).isEqualTo(tchar);
            }
        }
        assertThat(FieldText.isToken("")).isFalse();
        assertThat(FieldText.isToken(AsciiString.EMPTY_STRING)).isFalse();
    }

    @Test
    void textsHaveNoControlCharacters() {
        for (char c = 0; c < 0x200; c++) {
            String text = "a" + c;
            boolean visible = c > ' ' && c != 0x7f && c < 0x100;

            assertThat(FieldText.isText(text, '!')).as("%d", (int) c).isEqualTo(visible);
            assertThat(FieldText.isText(text, ' ')).as("%d", (int) c)
                    .isEqualTo(visible || c == ' ' || c == '\t');
            if (c < 0x100) {
                assertThat(FieldText.isText(ascii(text), '!')).as("%d", (int) c).isEqualTo(visible);
                assertThat(FieldText.isText(ascii(text), ' ')).as("%d", (int) c)
                        .isEqualTo(visible || c == ' ' || c == '\t');
            }
        }
    }

    /** A part of a larger array, as those of a decoded head are. */
    private static AsciiString ascii(String text) {
        byte[] larger = ("\n" + text + "\n").getBytes(StandardCharsets.ISO_8859_1);
        return new AsciiString(larger, 1, text.length(), false);
    }
}
