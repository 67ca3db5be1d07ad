package dev.culvert.protocol.fields;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeadFieldsTest {
    private static final List<String> NAMES = List.of(":method", ":path", ":status", "accept", "cookie",
            "x-a", "x-b");

    /** Of the same name, fields have the same order; of other names, Netty's has its own after a set. */
    @Test
    void fieldsAreThoseOfNettysHeaders() {
        Random random = new Random(1);
        for (int run = 0; run < 2_000; run++) {
            Http2Headers ours = new HeadFields(random.nextInt(4));
            Http2Headers nettys = new DefaultHttp2Headers(false);
            for (int i = random.nextInt(20); i > 0; i--) {
                CharSequence name = pick(random);
                CharSequence value = Integer.toString(random.nextInt(3));
                switch (random.nextInt(5)) {
                    case 0 -> {
                        ours.set(name, value);
                        nettys.set(name, value);
                    }
                    case 1 -> assertThat(ours.remove(name)).isEqualTo(nettys.remove(name));
                    case 2 -> assertThat(ours.getAllAndRemove(name).toString())
                            .isEqualTo(nettys.getAllAndRemove(name).toString());
                    default -> {
                        ours.add(name, value);
                        nettys.add(name, value);
                    }
                }
            }
            requireSame(ours, nettys, random);
        }
    }

    private static CharSequence pick(Random random) {
        String name = NAMES.get(random.nextInt(NAMES.size()));
        return random.nextBoolean() ? name : new AsciiString(name);
    }

    private static void requireSame(Http2Headers ours, Http2Headers nettys, Random random) {
        assertThat(ours.size()).isEqualTo(nettys.size());
        assertThat(ours.isEmpty()).isEqualTo(nettys.isEmpty());
        assertThat(ours.names().stream().map(CharSequence::toString)).containsExactlyInAnyOrderElementsOf(
                nettys.names().stream().map(CharSequence::toString).distinct().toList());
        for (String name : NAMES) {
            CharSequence asked = random.nextBoolean() ? name : new AsciiString(name);
            assertThat(ours.getAll(asked).toString()).isEqualTo(nettys.getAll(asked).toString());
            assertThat(String.valueOf(ours.get(asked))).isEqualTo(String.valueOf(nettys.get(asked)));
            assertThat(ours.contains(asked)).isEqualTo(nettys.contains(asked));
            assertThat(ours.contains(asked, "1")).isEqualTo(nettys.contains(asked, "1"));
            assertThat(ours.getInt(asked, 7)).isEqualTo(nettys.getInt(asked, 7));
        }
        boolean regular = false;
        for (Map.Entry<CharSequence, CharSequence> field : ours) {
            boolean isPseudo = field.getKey().charAt(0) == ':';
            assertThat(isPseudo && regular).as("a pseudo-field behind others: %s", ours).isFalse();
            regular |= !isPseudo;
        }
    }

    @Test
    void fieldsKeepTheirOrder() {
        Http2Headers fields = new HeadFields(1).add("b", "1")
                .add("a", "2")
                .path("/")
                .add("b", "3")
                .method("GET");

        assertThat(texts(fields)).containsExactly(":path=/", ":method=GET", "b=1", "a=2", "b=3");
        assertThat(texts(fields.set("b", "4"))).containsExactly(":path=/", ":method=GET", "b=4", "a=2");
        assertThat(fields).hasToString("HeadFields[:path: /, :method: GET, b: 4, a: 2]");
    }

    @Test
    void headsAreCopied() {
        Http2Headers other = new DefaultHttp2Headers(false).method("GET").add("a", "1").add("a", "2");
        Http2Headers fields = new HeadFields(0).add("a", "0").add("b", "0");

        assertThat(texts(fields.setAll(other))).containsExactly(":method=GET", "b=0", "a=1", "a=2");
        assertThat(texts(fields.set(other))).containsExactly(":method=GET", "a=1", "a=2");
        assertThat(texts(new DefaultHttp2Headers(false).setAll(fields))).containsExactly(":method=GET", "a=1",
                "a=2");
        assertThatThrownBy(() -> fields.add(fields)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void entriesChangeTheirValueAndEnd() {
        Http2Headers fields = new HeadFields(2).add("a", "1");
        Iterator<Map.Entry<CharSequence, CharSequence>> all = fields.iterator();

        assertThat(all.next().setValue("2")).isEqualTo("1");
        assertThat(fields.get("a")).isEqualTo("2");
        assertThat(all.hasNext()).isFalse();
        assertThatThrownBy(all::next).isInstanceOf(NoSuchElementException.class);
    }

    private static List<String> texts(Http2Headers fields) {
        List<String> texts = new ArrayList<>();
        fields.forEach(field -> texts.add(field.getKey() + "=" + field.getValue()));
        return texts;
    }
}
