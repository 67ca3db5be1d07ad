package dev.culvert.protocol.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SpellingsTest {
    private static HeadFields head() {
        var head = new HeadFields(8);
        head.method("GET").path("/").add("x-custom-id", "1").add("x-mixed", "2").add("x-custom-id", "3");
        return head;
    }

    /** The names as HTTP/1.1 writes them, {@code -} for the canonical spelling. */
    private static List<String> spelled(HeadFields head) {
        List<String> names = new ArrayList<>();
        Spellings spellings = head.spellings();
        for (int i = 0; i < head.size(); i++) {
            AsciiString name = spellings == null ? null : spellings.of(head.name(i));
            names.add(name == null ? "-" : name.toString());
        }
        return names;
    }

    private static AsciiString note(int... bytes) {
        byte[] note = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            note[i] = (byte) bytes[i];
        }
        return new AsciiString(note);
    }

    private static AsciiString both(AsciiString one, AsciiString other) {
        return AsciiString.of(one.concat(other));
    }

    @Test
    void aNoteCarriesTheSpellingOfEachName() {
        HeadFields sent = head();
        sent.spell(AsciiString.of("X-Custom-ID"));
        sent.spell(AsciiString.of("x-MiXeD"));
        AsciiString note = Objects.requireNonNull(Spellings.note(sent));
        assertThat((CharSequence) note).isEqualTo(note(2, 0xa0, 0x60, 3, 0x2a));
        HeadFields received = head();
        Spellings.read(note, received);
        assertThat(spelled(received)).containsExactly("-", "-", "X-Custom-ID", "x-MiXeD", "X-Custom-ID");
        assertThat(received.contains("X-Custom-ID")).isFalse();
        assertThat((CharSequence) received.name(2)).hasToString("x-custom-id");
    }

    @Test
    void aHeadInLowerCaseHasAnEmptyNote() {
        HeadFields sent = head();
        sent.spellLower();
        sent.spell(AsciiString.of("x-MiXeD"));
        AsciiString note = Objects.requireNonNull(Spellings.note(sent));
        HeadFields received = head();
        Spellings.read(note, received);
        assertThat(note.isEmpty()).isTrue();
        assertThat(spelled(received)).containsExactly(":method", ":path", "x-custom-id", "x-mixed",
                "x-custom-id");
        assertThat(head().spellings()).isNull();
    }

    @Test
    void theFirstSpellingOfANameCounts() {
        HeadFields head = head();
        head.spell(AsciiString.of("X-CUSTOM-ID"));
        head.spell(AsciiString.of("x-custom-ID"));
        assertThat(spelled(head)).contains("X-CUSTOM-ID").doesNotContain("x-custom-ID");
    }

    @Test
    void aCopiedHeadKeepsItsSpellings() {
        HeadFields head = head();
        head.spell(AsciiString.of("x-MiXeD"));
        var copy = new HeadFields(0);
        copy.add(head);
        assertThat(spelled(copy)).contains("x-MiXeD");
        head.clear();
        assertThat(head.spellings()).isNull();
    }

    @Test
    void aRemovedFieldIsNotInTheNote() {
        HeadFields head = head();
        head.spell(AsciiString.of("x-MiXeD"));
        head.remove("x-mixed");
        assertThat((CharSequence) Spellings.note(head)).isNull();
        assertThat((CharSequence) Spellings.note(head())).isNull();
    }

    @Test
    void aNoteIsNeverLongerThanAnOption() {
        var head = new HeadFields(100);
        for (int i = 0; i < 100; i++) {
            String name = "n" + i + "-" + "a".repeat(59);
            head.add(name, "1");
            head.spell(AsciiString.of(name.replace('a', 'A')));
        }
        AsciiString note = Objects.requireNonNull(Spellings.note(head));
        assertThat((CharSequence) note).hasSizeLessThanOrEqualTo(255);
        var received = new HeadFields(100);
        for (int i = 0; i < 100; i++) {
            received.add(head.name(i), "1");
        }
        Spellings.read(note, received);
        assertThat(spelled(received)).contains("n0-" + "A".repeat(59)).contains("-");
    }

    @Test
    void namesOver64OctetsStayCanonical() {
        var head = new HeadFields(4);
        head.add("x".repeat(65), "1");
        head.spell(AsciiString.of("X".repeat(65)));
        assertThat((CharSequence) Spellings.note(head)).isNull();
    }

    static List<AsciiString> faults() {
        AsciiString good = note(3, 0x2a);
        return List.of(both(good, note(5, 0x80)), // no such field
                both(good, note(0, 0)), // a pseudo-field
                both(good, note(2, 0x40, 0)), // the name's hyphen
                both(good, note(2, 0, 0x10)), // behind the name
                both(good, note(2, 0x80)), // half a map
                both(good, note(2)), both(good, good), // the field again
                both(good, note(2, 0x80, 0, 4, 0x80, 0))); // the name again
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aNoteWithAFaultIsIgnored(AsciiString fault) {
        HeadFields head = head();
        Spellings.read(fault, head);
        assertThat(head.spellings()).isNull();
    }

    @Test
    void mutatedNotesChangeNothingButCase() {
        for (int seed = 0; seed < 20_000; seed++) {
            var random = new Random(seed);
            byte[] note = new byte[random.nextInt(12)];
            random.nextBytes(note);
            for (int i = 0; i < note.length; i += 2) {
                note[i] = (byte) random.nextInt(6);
            }
            HeadFields head = head();
            Spellings.read(new AsciiString(note, false), head);
            for (int i = 0; i < head.size(); i++) {
                AsciiString name = head.spellings() == null ? null : head.spellings().of(head.name(i));
                assertThat(name == null || name.toLowerCase().equals(head.name(i))).isTrue();
            }
            assertThat(head).hasToString(head().toString());
        }
    }
}
